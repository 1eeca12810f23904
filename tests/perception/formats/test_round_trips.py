"""Reading what was written gives the same numbers, and writing what was read the same text."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.records.builders import detections as any_detections
from wordsight.errors import FormatError
from wordsight.perception.formats import FORMATS, read_boxes, write_boxes
from wordsight.records import Detections, FrameDetections

KINDS = list(FORMATS)
patient = settings(
    max_examples=40,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


def packed(detections):
    """The same boxes without empty places between them, and nothing a file cannot hold."""
    frames = [detections.frame(t) for t in range(len(detections))]
    plain = Detections.from_frames(
        [replace(frame, appearance=None) for frame in frames],
        label_names=detections.label_names,
        frame_size=detections.frame_size,
    )
    unknown = plain.ids is None or (plain.ids == -1).all()
    return replace(plain, ids=None) if unknown else plain


def in_order_of_tracks(detections):
    """The boxes of every frame sorted, since CVAT keeps tracks together."""
    frames = []
    for t in range(len(detections)):
        frame = detections.frame(t)
        order = np.lexsort((*frame.boxes.T, frame.scores))
        ids = None if frame.ids is None else frame.ids[order]
        frames.append(
            replace(
                frame,
                boxes=frame.boxes[order],
                scores=frame.scores[order],
                labels=frame.labels[order],
                ids=ids,
            )
        )
    return Detections.from_frames(
        frames, label_names=detections.label_names, frame_size=detections.frame_size
    )


def read_again(path, detections, **options):
    return read_boxes(
        path,
        times=detections.times,
        frame_size=detections.frame_size,
        label_names=detections.label_names,
        **options,
    )


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@given(any_detections())
@patient
def test_reading_what_was_written(kind, tmp_path, original):
    path = tmp_path / f"boxes{FORMATS[kind]}"
    expected = packed(original)
    write_boxes(path, original, overwrite=True)
    again = read_again(path, original)
    if kind == "cvat":
        again, expected = in_order_of_tracks(again), in_order_of_tracks(expected)
    assert again == expected


awkward = st.floats(-1e6, 1e6, allow_nan=False).map(lambda x: x or 0.1)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@given(awkward, awkward, st.floats(1e-3, 1e5), st.floats(1e-3, 1e5), st.floats(-1e3, 1e3))
@patient
def test_no_float_is_changed(kind, tmp_path, x, y, width, height, score):
    """Corner and size are stored where corners were given: nothing may be lost by rounding."""
    frame = FrameDetections(
        0.0, np.array([[x, y, x + width, y + height]]), np.array([score]), np.zeros(1, int)
    )
    original = Detections.from_frames([frame], label_names=["object"], frame_size=(9, 9))
    path = tmp_path / f"boxes{FORMATS[kind]}"
    write_boxes(path, original, overwrite=True)
    assert read_again(path, original) == original


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@given(any_detections())
@patient
def test_writing_what_was_read(kind, tmp_path, original):
    """A file that Wordsight wrote is written again byte for byte."""
    first, second = tmp_path / f"a{FORMATS[kind]}", tmp_path / f"b{FORMATS[kind]}"
    write_boxes(first, original, overwrite=True)
    write_boxes(second, read_again(first, original), overwrite=True)
    assert first.read_bytes() == second.read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["coco", "csv"])
@given(any_detections())
@patient
def test_some_formats_keep_the_times_and_empty_frames_themselves(kind, tmp_path, original):
    path = tmp_path / f"boxes{FORMATS[kind]}"
    write_boxes(path, original, overwrite=True)
    again = read_boxes(path, label_names=original.label_names, frame_size=original.frame_size)
    assert again == packed(original)


@pytest.mark.parametrize("kind", KINDS)
def test_frames_get_the_numbers_of_the_video_they_come_from(kind, tmp_path):
    """Every third frame of a video with a variable frame rate."""
    times = np.cumsum(np.random.default_rng(0).uniform(0.01, 0.1, 30))
    frames = [
        FrameDetections(float(time), np.array([[t, 0, t + 5.0, 5]]), np.ones(1), np.zeros(1, int))
        for t, time in enumerate(times)
        if t % 3 == 0
    ]
    original = Detections.from_frames(frames, label_names=["object"], frame_size=(64, 48))
    path = tmp_path / f"boxes{FORMATS[kind]}"
    write_boxes(path, original, times=times)
    again = read_boxes(path, times=times, frame_size=(64, 48))
    seen = again.mask.any(axis=1)
    np.testing.assert_array_equal(again.times[seen], original.times)
    np.testing.assert_array_equal(again.boxes[seen, 0], original.boxes[:, 0])
    # MOT cannot say which frames it speaks of, so that it speaks of all of the video.
    assert len(again) == (30 if kind == "mot" else 10)


def test_a_frame_rate_numbers_frames_too(tmp_path):
    frames = [
        FrameDetections(t / 5, np.array([[0, 0, 5.0, 5]]), np.ones(1), np.zeros(1, int))
        for t in range(4)
    ]
    original = Detections.from_frames(frames, label_names=["object"], frame_size=(64, 48))
    write_boxes(tmp_path / "boxes.txt", original, frame_rate=25)
    lines = (tmp_path / "boxes.txt").read_text().splitlines()
    assert [line.split(",")[0] for line in lines] == ["1", "6", "11", "16"]
    with pytest.raises(FormatError, match="same number"):
        write_boxes(tmp_path / "other.txt", original, frame_rate=1)


def test_nothing_is_overwritten_unless_asked(tmp_path):
    empty = Detections.from_frames([], label_names=[], frame_size=(64, 48))
    path = tmp_path / "boxes.csv"
    write_boxes(path, empty)
    with pytest.raises(FileExistsError, match="exists already"):
        write_boxes(path, empty)
    write_boxes(path, empty, overwrite=True)


def test_a_failed_write_leaves_the_old_file(tmp_path):
    path = tmp_path / "boxes.xml"
    path.write_text("precious")
    frame = FrameDetections(0.0, np.array([[0, 0, 5.0, 5]]), np.ones(1), np.zeros(1, int))
    bad = Detections.from_frames([frame], label_names=["bell\x07"], frame_size=(64, 48))
    with pytest.raises(FormatError, match="not allowed in XML"):
        write_boxes(path, bad, overwrite=True)
    assert path.read_text() == "precious"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("kind", KINDS)
def test_labels_of_every_script_survive(kind, tmp_path):
    names = ('a "quoted", <tagged> & spaced', "人", "🦊", "line\nbreak" if kind != "cvat" else "x")
    frame = FrameDetections(
        0.0, np.tile([0, 0, 5.0, 5], (4, 1)), np.ones(4), np.arange(4), ids=np.arange(4)
    )
    original = Detections.from_frames([frame], label_names=names, frame_size=(64, 48))
    path = tmp_path / f"🦊 boxes{FORMATS[kind]}"
    write_boxes(path, original)
    again = read_boxes(
        path,
        times=[0.0],
        frame_size=(64, 48),
        label_names=names if kind == "mot" else None,
    )
    assert again == original


@pytest.mark.slow
def test_real_detections_are_written_back_byte_for_byte(shared_data, tmp_path):
    files = sorted(shared_data("mot15").rglob("det.txt"))
    assert files
    for file in files:
        copy = tmp_path / f"{file.parent.parent.name}.txt"
        write_boxes(copy, read_boxes(file, frame_rate=25))
        assert copy.read_text().splitlines() == file.read_text().splitlines(), file
