"""Shadows: darker of the same colour; taken off the box, never out of the thing."""

import numpy as np
import pytest

from wordsight.perception.figure_ground.blob import blobs_of, boxes_of
from wordsight.perception.figure_ground.colour import to_lab
from wordsight.perception.figure_ground.shadow import without_shadow

GROUND = (150, 120, 90)


def scene_and(*parts):
    """Return the scene, the picture with coloured parts, and the patch where they differ."""
    scene = np.full((80, 120, 3), GROUND, np.uint8)
    picture, mask = scene.copy(), np.zeros((80, 120), np.uint8)
    for (x1, y1, x2, y2), colour in parts:
        picture[y1:y2, x1:x2] = colour
        mask[y1:y2, x1:x2] = 255
    (blob,) = blobs_of(mask, 1)
    return blob, to_lab(picture), to_lab(scene)


def shade(factor):
    return tuple(round(part * factor) for part in GROUND)


@pytest.mark.parametrize("factor", [0.6, 0.75, 0.9])
def test_a_shadow_beside_a_thing_is_taken_off(factor):
    blob, picture, scene = scene_and(
        ((40, 10, 60, 70), (200, 30, 30)), ((60, 62, 100, 70), shade(factor))
    )
    (thing,) = without_shadow(blob, picture, scene)
    np.testing.assert_allclose(boxes_of([thing]), [[40, 10, 60, 70]], atol=2)


def test_two_things_that_only_shadows_connect_are_parted():
    blob, picture, scene = scene_and(
        ((10, 10, 30, 70), (200, 30, 30)),
        ((30, 62, 80, 70), shade(0.7)),
        ((80, 10, 100, 70), (30, 40, 180)),
    )
    found = without_shadow(blob, picture, scene)
    np.testing.assert_allclose(boxes_of(found), [[10, 10, 30, 70], [80, 10, 100, 70]], atol=2)


def test_a_thing_that_looks_like_a_shadow_is_kept_whole():
    blob, picture, scene = scene_and(((40, 10, 60, 70), shade(0.7)))
    assert without_shadow(blob, picture, scene) == [blob]


def test_clothes_that_look_like_a_shadow_stay_between_the_parts_that_do_not():
    blob, picture, scene = scene_and(
        ((40, 10, 60, 25), (220, 180, 150)),
        ((40, 25, 60, 45), shade(0.7)),
        ((40, 45, 60, 70), (20, 20, 60)),
    )
    (thing,) = without_shadow(blob, picture, scene)
    np.testing.assert_allclose(boxes_of([thing]), [[40, 10, 60, 70]], atol=2)


def test_black_is_no_shadow():
    blob, picture, scene = scene_and(((40, 10, 60, 70), (15, 12, 9)))
    assert boxes_of(without_shadow(blob, picture, scene)).tolist() == [[40, 10, 60, 70]]
