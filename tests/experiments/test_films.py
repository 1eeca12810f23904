"""Described moments of films and marked boxes; the experiment itself is run by hand."""

import json

import numpy as np
import pytest

from experiments.data.films import Moment, load_marks, load_moments
from experiments.films import DETECTORS, _Tally, measure
from wordsight.errors import WordsightError


def test_moments_that_share_half_of_the_shorter_overlap():
    one = Moment("a.mp4", 0.0, 4.0, "The car drove away.")
    assert one.overlaps(Moment("a.mp4", 3.0, 5.0, "")) and not one.overlaps(
        Moment("a.mp4", 3.2, 5.0, "")
    )
    assert not one.overlaps(Moment("b.mp4", 0.0, 4.0, ""))


def test_marks_lie_in_the_pictures_and_belong_to_sentences():
    marks = load_marks()
    sizes = {"bottle-detection.mp4": (640, 360)}
    for mark in marks:
        width, height = sizes.get(mark.file_name, (768, 432))
        assert (mark.boxes >= 0).all() and (mark.boxes <= [width, height] * 2).all()
        assert (mark.boxes[:, :2] < mark.boxes[:, 2:]).all()
    both = [m for m in marks if m.file_name == "car-detection.mp4" and m.time == 16.0]
    away = Moment("car-detection.mp4", 15.0, 18.9, "The red car drove away.")
    assert [mark.of for mark in both if mark.is_for(away)] == ["away"]


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("[1]", "expected a JSON object with file_name, start, end and text"),
        ('{"file_name": "a.mp4", "start": 1, "text": "x"}', "expected a JSON object"),
        ('{"file_name": "a.mp4", "start": 2, "end": 1, "text": "x"}', "ends before it begins"),
        ("", "has no moments"),
    ],
)
def test_what_is_wrong_with_a_file_of_moments(tmp_path, line, problem):
    path = tmp_path / "test.jsonl"
    path.write_text(line + "\n", encoding="utf-8")
    with pytest.raises(WordsightError, match=problem):
        load_moments(path)


def test_missing_films_are_named(tmp_path):
    row = {"file_name": "gone.mp4", "start": 0, "end": 1, "text": "The car drove away."}
    (tmp_path / "metadata.jsonl").write_text(json.dumps(row), encoding="utf-8")
    with pytest.raises(WordsightError, match=r"gone\.mp4"):
        measure(tmp_path, detectors=DETECTORS[:1])


def test_shares_count_ties_in_part_and_boxes_that_were_drawn():
    tally = _Tally([[1.0, 0.0], [2.0, 2.0]], [[0.0, 1.0], [1.0, 0.0]], [0, 0], [True, False])
    tally.marked, tally.drawn, tally.right = 4, 2, 1
    found = tally.results(untaught=3)
    assert (found["accuracy"], found["blind"], found["chance"]) == (0.75, 0.5, 0.5)
    assert (found["right_thing"], found["found"], found["untaught"]) == (0.5, 0.25, 3)
    assert np.isclose(found["describe_first"], 0.5)


def test_a_film_that_cannot_be_read_is_named(tmp_path):
    row = {"file_name": "text.mp4", "start": 0, "end": 1, "text": "The car drove away."}
    (tmp_path / "metadata.jsonl").write_text(json.dumps(row), encoding="utf-8")
    (tmp_path / "text.mp4").write_text("no film")
    with pytest.raises(WordsightError, match=r"text\.mp4: .*"):
        measure(tmp_path, detectors=DETECTORS[:1])
