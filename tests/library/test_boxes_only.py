"""Boxes without a video: entries of a library made from a file of boxes alone."""

import json

import numpy as np
import pytest

from wordsight.errors import VideoError
from wordsight.library import Library
from wordsight.perception.formats import write_boxes
from wordsight.records import Detections, FrameDetections
from wordsight.video import VideoReader


def walk(frames=40, step=1):
    """A person walks to a chair and stops there; 10 frames a second."""
    rows = []
    for n in range(0, frames, step):
        x = 10.0 + 4 * min(n, 25)
        boxes = np.array([[x, 20, x + 20, 80], [120, 50, 150, 80]])
        rows.append(FrameDetections(n / 10, boxes, np.full(2, 0.9), np.array([0, 1])))
    return Detections.from_frames(rows, label_names=["person", "chair"], frame_size=(160, 120))


@pytest.fixture
def library(tmp_path):
    with Library.create(tmp_path / "library") as library:
        yield library


@pytest.mark.parametrize("suffix", [".csv", ".txt", ".json", ".xml"])
def test_boxes_of_any_format_are_an_entry(library, tmp_path, suffix):
    file = tmp_path / f"walk{suffix}"
    write_boxes(file, walk())
    report = library.add(
        file, sentences=["The person approached the chair."], fps=10, size=(160, 120), workers=1
    )
    assert report.ok, report.failed
    entry = library.video(report.added[0])
    assert (entry.codec, entry.width, entry.height, entry.num_frames) == ("boxes", 160, 120, 40)
    assert entry.duration == pytest.approx(4.0)
    seen = library.detections(entry.id)
    np.testing.assert_allclose(seen.times, np.arange(40) / 10)
    np.testing.assert_allclose(seen.boxes, walk().boxes)
    assert library.thumbnail(entry.id).stat().st_size > 0
    assert len(library.show(entry.id).shots) == 1
    assert library.add(file, fps=10, size=(160, 120), workers=1).added == ()  # known by its content
    assert library.verify().clean


def test_a_description_may_name_boxes_alone(library, tmp_path):
    write_boxes(tmp_path / "walk.csv", walk())
    rows = [
        {"boxes": "walk.csv", "text": "The person approached the chair.", "start": 0, "end": 2.5},
        {"boxes": "walk.csv", "text": "The person stood.", "start": 2.5, "end": 4},
    ]
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    (tmp_path / "metadata.jsonl").write_text(lines)
    report = library.add(tmp_path / "metadata.jsonl", workers=1)
    assert report.ok and len(report.added) == 1 and report.num_sentences == 2
    assert library.video(report.added[0]).frame_rate == pytest.approx(10)  # from the file's times


def test_frame_numbers_need_a_rate(library, tmp_path):
    write_boxes(tmp_path / "walk.txt", walk())
    (failure,) = library.add(tmp_path / "walk.txt", workers=1).failed
    assert "--fps" in failure.message


@pytest.mark.parametrize(
    "content", ["", "frame,x1\nnonsense,7\n", "\x00\x01", "frame,x1,y1,x2,y2\n"]
)
def test_what_holds_no_boxes_is_refused(library, tmp_path, content):
    (tmp_path / "bad.csv").write_text(content)
    (failure,) = library.add(tmp_path / "bad.csv", fps=10, workers=1).failed
    assert "bad.csv" in failure.message
    assert library.count() == 0


def test_what_needs_pictures_says_so(tmp_path):
    write_boxes(tmp_path / "walk.csv", walk())
    with pytest.raises(VideoError, match="boxes without pictures"):
        VideoReader(tmp_path / "walk.csv")
