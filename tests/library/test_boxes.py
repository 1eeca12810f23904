"""Boxes in a file take the place of a detector."""

import numpy as np
import pytest

from wordsight.library import Library
from wordsight.perception.formats import write_boxes
from wordsight.records import Detections, FrameDetections


@pytest.fixture
def library(place):
    with Library.create(**place) as library:
        yield library


def boxes_of_cup(shift=0.0):
    """A cup in every other of ten frames."""
    frames = []
    for n in range(10):
        box = np.array([[4.0 + n + shift, 8.0, 20.0 + n + shift, 30.0]])[: n % 2]
        some = np.zeros(len(box))
        frames.append(FrameDetections(n / 10, box, some + 0.5, some.astype(np.int32)))
    return Detections.from_frames(frames, label_names=["cup"], frame_size=(64, 48))


@pytest.mark.slow
@pytest.mark.parametrize("suffix", [".csv", ".json", ".xml"])
def test_boxes_beside_a_video_are_its_detections(library, videos, suffix):
    write_boxes(videos[0].with_suffix(f".boxes{suffix}"), boxes_of_cup())
    report = library.add(videos[0], workers=1)
    assert report.ok
    seen = library.detections(report.added[0])
    assert seen.label_names == ("cup",)
    assert seen.times.tolist() == pytest.approx([n / 10 for n in range(10)])
    assert np.allclose(seen.boxes, boxes_of_cup().boxes)
    assert seen.flow is not None
    (entry,) = library.artefacts("detections")
    assert entry.settings["detector"] == "boxes"


def test_the_same_boxes_are_taken_once_and_new_ones_again(library, videos):
    file = videos[0].with_name("given.csv")
    write_boxes(file, boxes_of_cup())
    (video_id,) = library.add(videos[0], boxes=file, workers=1).added
    assert library.add(videos[0], boxes=file, workers=1).added == ()
    write_boxes(file, boxes_of_cup(shift=3.0), overwrite=True)
    assert library.add(videos[0], boxes=file, workers=1).added == (video_id,)
    assert len(library.artefacts("detections")) == 2
    assert np.allclose(library.detections(video_id).boxes, boxes_of_cup(shift=3.0).boxes)
    assert library.verify().clean


def test_a_detector_and_boxes_may_both_have_looked(library, videos):
    file = videos[0].with_name("given.csv")
    write_boxes(file, boxes_of_cup())
    (video_id,) = library.add(videos[0], workers=1).added
    library.add(videos[0], boxes=file, workers=1)
    assert library.detections(video_id).label_names == ("cup",)  # they came last
    assert library.detections(video_id, detector="regions").label_names[0] == "look-0"
    assert library.detections(video_id, detector="boxes").label_names == ("cup",)


@pytest.mark.slow
@pytest.mark.parametrize("content", ["", "frame,x1\nnonsense,7\n", "\x00\x01\x02", "{}"])
def test_bad_boxes_fail_their_video_only(library, videos, content):
    file = videos[0].with_suffix(".boxes.csv")
    file.write_text(content)
    report = library.add(videos[:2], workers=1)
    assert [failure.path for failure in report.failed] == [str(videos[0])]
    assert file.name in report.failed[0].message
    assert len(report.added) == 1
    assert library.verify().clean
