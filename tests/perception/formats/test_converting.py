"""From any format to any other: the same boxes under the same frame numbers."""

from itertools import permutations

import numpy as np
import pytest

from wordsight.perception.formats import FORMATS, convert_boxes, read_table, write_boxes
from wordsight.records import Detections, FrameDetections

BOXES = {0: [[1.25, 2, 30.5, 40]], 1: [], 2: [[3, 2, 33, 41], [50, 50, 60.125, 70]]}


@pytest.fixture
def seen():
    frames = [
        FrameDetections(
            frame / 25,
            np.array(boxes, dtype=float).reshape(-1, 4),
            np.full(len(boxes), 0.5),
            np.zeros(len(boxes), np.int32),
            ids=np.arange(1, len(boxes) + 1),
        )
        for frame, boxes in BOXES.items()
    ]
    return Detections.from_frames(frames, label_names=["person"], frame_size=(64, 72))


@pytest.mark.parametrize(("one", "other"), list(permutations(FORMATS, 2)))
def test_boxes_and_frame_numbers_are_kept(tmp_path, seen, one, other):
    source, target = tmp_path / f"a{FORMATS[one]}", tmp_path / f"b{FORMATS[other]}"
    write_boxes(source, seen, format=one, frame_rate=25)
    convert_boxes(source, target, frame_rate=25)
    before, after = read_table(source), read_table(target)
    assert after.frames.tolist() == before.frames.tolist() == [0, 2, 2]
    assert np.array_equal(after.boxes, before.boxes)


def test_numbers_of_a_table_with_its_own_times_are_kept(tmp_path):
    (tmp_path / "a.csv").write_text("frame,time,x1,y1,x2,y2\n10,0.5,1,2,3,4\n13,0.9,1,2,3,4\n")
    convert_boxes(tmp_path / "a.csv", tmp_path / "b.txt")
    rows = (tmp_path / "b.txt").read_text().splitlines()
    assert [row.split(",")[0] for row in rows] == ["11", "14"]  # MOT counts from 1
