"""Pictures of models: what a model learned from one half of a picture shows there."""

import numpy as np
import pytest

from wordsight.retrieval.errors import RetrievalError
from wordsight.retrieval.visual import (
    BlockDct,
    FeatureScale,
    ShotMixtures,
    draw_components,
    draw_evidence,
    draw_random_picture,
)

FEATURES = BlockDct()


@pytest.fixture(scope="module")
def modelled():
    """A picture, red on the left and blue on the right, with its model and scale."""
    image = np.zeros((120, 160, 3), dtype=np.uint8)
    image[:, :80] = (200, 30, 30)
    image[:, 80:] = (30, 30, 200)
    bag = FEATURES.samples(image).values
    scale = FeatureScale.measure([bag], FEATURES.resolution)
    return image, ShotMixtures(2, floor=0.01, restarts=3).fit([bag], scale=scale).mixtures_, scale


def test_a_random_picture_looks_like_the_one_learned(modelled):
    image, mixture, scale = modelled
    drawn = draw_random_picture(mixture, scale, FEATURES, size=(160, 120))
    assert drawn.shape == image.shape and drawn.dtype == np.uint8
    left, right = drawn[:, 10:60].reshape(-1, 3), drawn[:, 100:150].reshape(-1, 3)
    assert np.median(left[:, 0]) > 130 > np.median(left[:, 2])
    assert np.median(right[:, 2]) > 130 > np.median(right[:, 0])
    again = draw_random_picture(mixture, scale, FEATURES, size=(160, 120))
    np.testing.assert_array_equal(drawn, again)


def test_components_are_painted_where_they_are(modelled):
    _, mixture, scale = modelled
    drawn = draw_components(mixture, scale, FEATURES, size=(160, 120))
    assert drawn.shape[0] == 120 and drawn.shape[1] > 160
    assert drawn[60, 40, 0] > 150 > drawn[60, 40, 2]
    assert drawn[60, 120, 2] > 150 > drawn[60, 120, 0]


def test_evidence_lights_the_blocks_that_speak():
    image = np.full((16, 16, 3), 200, dtype=np.uint8)
    boxes = np.array([[0, 0, 8, 16], [8, 0, 16, 16]], dtype=float)
    lit = draw_evidence(image, boxes, np.array([2.0, 0.0]))
    assert lit[8, 4].min() == 200 and lit[8, 12].max() < 100
    with pytest.raises(RetrievalError):
        draw_evidence(image, boxes, np.zeros(3))
