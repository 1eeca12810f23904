"""Words for things in a film: named, as labels for adjectives, as terms of shots."""

import numpy as np
import pytest

from tests.attributes.toys import lessons, thing
from wordsight.attributes import AttributeLearner, TeachingError
from wordsight.attributes.recall.videos import (
    adjective_entries,
    crop_box,
    label_by_attribute,
    name_detections,
    shot_words,
)
from wordsight.attributes.report import draw_attributes
from wordsight.language import PartOfSpeech
from wordsight.records import Detections, FrameDetections, Shot
from wordsight.video import VideoWriter, read_image


@pytest.fixture(scope="module")
def learner():
    return AttributeLearner().fit(*lessons(160, np.random.default_rng(0)))


@pytest.fixture(scope="module")
def film(tmp_path_factory):
    """Two seconds: a red tall thing on the left, a blue wide one on the right, then none."""
    path = tmp_path_factory.mktemp("film") / "two.mp4"
    random = np.random.default_rng(0)
    frames = []
    with VideoWriter(path, (96, 64), frame_rate=10) as writer:
        for number in range(20):
            image = np.full((64, 96, 3), 90, dtype=np.uint8)
            image[16:48, 8:40] = thing("red", "tall", random)
            image[16:48, 56:88] = thing("blue", "wide", random)
            writer.write(image)
            boxes = np.array([[8, 16, 40, 48], [56, 16, 88, 48], [94, 62, 99, 70]], dtype=float)
            frames.append(
                FrameDetections(
                    number / 10, boxes, np.ones(3), np.zeros(3, int), ids=np.array([4, 7, 9])
                )
            )
    return path, Detections.from_frames(frames, label_names=["thing"], frame_size=(96, 64))


def test_things_of_a_film_are_named(learner, film):
    named = name_detections(learner, *film, rate=2)
    # Four looks at each of two things; the third box shows too little.
    assert len(named) == 8
    words = {one.identity: set(one.naming.words) for one in named}
    assert words == {4: {"red", "tall"}, 7: {"blue", "wide"}}
    colours = next(w.attribute for w in learner.words_ if w.name == "red")
    labelled = label_by_attribute(film[1], named, colours)
    assert labelled.label_names == ("blue", "red", "unknown")
    assert (labelled.labels[:, 0] == 1).all() and (labelled.labels[:, 1] == 0).all()
    assert (labelled.labels[:, 2] == 2).all()
    with pytest.raises(TeachingError, match="no attribute 5"):
        label_by_attribute(film[1], named, 5)


def test_words_become_terms_and_adjectives(learner, film):
    named = name_detections(learner, *film, rate=2)
    shots = [Shot("v", 0, 1, 1, 0, 10), Shot("v", 5, 6, 1, 50, 60)]
    terms = [[term.word for term in found] for found in shot_words(named, shots)]
    assert sorted(terms[0]) == ["blue", "red", "tall", "wide"] and terms[1] == []
    entries = adjective_entries(learner)
    assert {entry.name for entry in entries} >= {"red", "tall"}
    assert all(entry.part is PartOfSpeech.ADJECTIVE for entry in entries)


def test_boxes_are_cut_at_the_edge():
    image = np.zeros((20, 30, 3), dtype=np.uint8)
    assert crop_box(image, (-5, 2, 10, 40)).shape == (18, 10, 3)
    with pytest.raises(TeachingError, match="too little"):
        crop_box(image, (28, 0, 60, 20))


def test_the_figure_shows_every_word(learner, tmp_path):
    draw_attributes(tmp_path / "bars.png", learner)
    image = read_image(tmp_path / "bars.png")
    assert image.shape[0] > 300
    with pytest.raises(FileExistsError):
        draw_attributes(tmp_path / "bars.png", learner)
