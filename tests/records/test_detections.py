import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.records.builders import detections
from wordsight.errors import RecordError
from wordsight.records import Detections, FrameDetections

ONE = {
    "times": [0.0, 0.1],
    "boxes": [[[0, 0, 4, 8]], [[1, 0, 5, 8]]],
    "scores": [[0.5], [0.6]],
    "labels": [[0], [0]],
    "mask": [[True], [True]],
    "label_names": ["person"],
    "frame_size": (64, 48),
}


def with_changes(**changes):
    return Detections(**{**ONE, **changes})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"times": [0.0, 0.0]}, "times must rise"),  # a frame twice
        ({"times": [0.1, 0.0]}, "sort the frames"),  # out of order
        ({"times": [0.0, np.nan]}, "finite"),  # no time stamp
        ({"times": [[0.0, 0.1]]}, "shape"),  # a table of times
        ({"mask": [[True]]}, "T = 2"),  # a mask for one frame
        ({"boxes": [[[0, 0, 4, 8]], [[1, 0, 4, 0]]]}, "width, height"),  # height zero
        ({"boxes": [[[5, 5, 2, 2]], [[1, 0, 4, 3]]]}, "x1 < x2"),  # x y w h instead of corners
        ({"boxes": [[[0, 0, 4, np.nan]], [[1, 0, 4, 3]]]}, "NaN"),  # a hole in a box
        ({"boxes": [[[0, 0, 4]], [[1, 0, 4]]]}, "last axis 4"),  # three numbers a box
        ({"labels": [[0], [1]]}, "index the 1 label names"),  # a class without a name
        ({"labels": [[0], [-1]]}, "got -1"),  # a negative class
        ({"frame_size": (0, 48)}, "positive"),  # no width
        ({"flow": [[[0, 0, 0]], [[0, 0, 0]]]}, "flow"),  # flow with three numbers
        ({"scores": [[0.5]]}, "scores"),  # scores for one frame
    ],
)
def test_bad_values_are_refused_with_the_reason(changes, message):
    with pytest.raises(RecordError, match=message):
        with_changes(**changes)


def test_what_the_mask_leaves_out_may_be_anything_and_becomes_zero():
    seen = with_changes(mask=[[True], [False]], boxes=[[[0, 0, 4, 8]], [[np.nan] * 4]])
    assert not seen.boxes[1].any()
    assert seen == with_changes(mask=[[True], [False]], boxes=[[[0, 0, 4, 8]], [[7, 7, 7, 7]]])


def test_arrays_are_copied_and_read_only():
    scores = np.array([[0.5], [0.6]])
    seen = with_changes(scores=scores)
    scores[:] = 9
    assert seen.scores.max() < 1
    with pytest.raises(ValueError, match="read-only"):
        seen.boxes[0, 0, 0] = 1


@pytest.mark.slow
@given(detections())
def test_save_then_load_gives_the_same(tmp_path_factory, seen):
    path = tmp_path_factory.mktemp("npz") / "seen.npz"
    seen.save(path)
    assert Detections.load(path) == seen
    first = path.read_bytes()
    seen.save(path)
    assert path.read_bytes() == first  # the same content has the same hash


@pytest.mark.slow
@given(detections())
def test_taking_frames_apart_and_gathering_them_changes_only_the_places(seen):
    frames = [seen.frame(t) for t in range(len(seen))]
    flow = None
    if seen.flow is not None:
        flow = [seen.flow[t, seen.mask[t]] for t in range(len(seen))]
    again = Detections.from_frames(
        frames, label_names=seen.label_names, frame_size=seen.frame_size, flow=flow
    )
    assert again.mask.sum() == seen.mask.sum()
    for t, frame in enumerate(frames):
        for name in ("boxes", "scores", "labels", "appearance", "ids"):
            one, other = getattr(frame, name), getattr(again.frame(t), name)
            assert (one is None) or np.array_equal(one, other), name


@pytest.mark.slow
@given(detections(), st.floats(0, 1), st.floats(0, 1))
def test_cutting_in_two_keeps_every_frame_once(seen, start, middle):
    parts = [seen.between(-1, start), seen.between(start, start + middle)]
    parts.append(seen.between(start + middle, 99))
    assert np.array_equal(np.concatenate([part.times for part in parts]), seen.times)


def test_every_second_frame():
    assert with_changes().every(2).times.tolist() == [0.0]
    with pytest.raises(RecordError, match="1 or more"):
        with_changes().every(0)


def test_relabelling_keeps_the_boxes():
    seen = with_changes().relabelled([[1], [0]], ["look-0", "look-1"])
    assert seen.label_names == ("look-0", "look-1")
    assert np.array_equal(seen.boxes, with_changes().boxes)


def test_no_frames_at_all():
    seen = Detections.from_frames([], label_names=[], frame_size=(8, 8))
    assert len(seen) == 0
    assert repr(seen) == "Detections(0 frames, 0 boxes, no time, labels: none)"


def test_frames_with_different_optional_parts_are_gathered():
    boxes = np.array([[0.0, 0, 1, 1]])
    frames = [
        FrameDetections(0.0, boxes, np.ones(1), np.zeros(1, np.int32)),
        FrameDetections(
            0.1,
            boxes,
            np.ones(1),
            np.zeros(1, np.int32),
            np.ones((1, 2), np.float32),
            np.array([7]),
        ),
    ]
    seen = Detections.from_frames(frames, label_names=["a"], frame_size=(8, 8))
    assert seen.ids.tolist() == [[-1], [7]]
    assert seen.appearance.tolist() == [[[0, 0]], [[1, 1]]]
