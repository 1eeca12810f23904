"""Telling formats apart, and files that are none of them."""

import os

import numpy as np
import pytest

from wordsight.errors import FormatError
from wordsight.perception.formats import FORMATS, read_boxes, write_boxes
from wordsight.records import Detections, FrameDetections

ONE = Detections.from_frames(
    [FrameDetections(0.0, np.array([[1, 2, 30.0, 40]]), np.ones(1), np.zeros(1, int))],
    label_names=["object"],
    frame_size=(64, 48),
)


@pytest.mark.parametrize("kind", FORMATS)
def test_the_content_tells_the_format_whatever_the_suffix(kind, tmp_path):
    path = tmp_path / "boxes.dat"
    write_boxes(path, ONE, format=kind.upper())
    assert read_boxes(path, times=[0.0], frame_size=(64, 48)) == ONE


def test_a_mot_file_named_csv(tmp_path):
    path = tmp_path / "boxes.csv"
    write_boxes(path, ONE, format="mot")
    assert read_boxes(path, times=[0.0], frame_size=(64, 48)) == ONE


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "none of the suffixes"),
        (b"Dear diary,\n", "starts with 'Dear diary,'"),
        (b"\x00\x00\x00\x20ftypisom\xff\xfe", "not text"),
        (b"PK\x03\x04\xff\xff", "not text"),
    ],
)
def test_files_that_hold_no_boxes(tmp_path, content, message):
    path = tmp_path / "boxes.dat"
    path.write_bytes(content)
    with pytest.raises(FormatError, match=message):
        read_boxes(path)


def test_a_missing_file_a_folder_and_one_that_may_not_be_read(tmp_path):
    for path in (tmp_path / "nothing.txt", tmp_path):
        with pytest.raises(FormatError, match="cannot be read"):
            read_boxes(path)
    secret = tmp_path / "secret.txt"
    secret.write_text("1,1,1,1,1,1,1\n")
    secret.chmod(0)
    if os.access(secret, os.R_OK):
        pytest.skip("everything may be read by this user")
    with pytest.raises(FormatError, match="cannot be read"):
        read_boxes(secret)


def test_unknown_formats_and_suffixes(tmp_path):
    with pytest.raises(FormatError, match="no format 'yolo'; expected one of mot, coco, cvat, csv"):
        write_boxes(tmp_path / "boxes.txt", ONE, format="yolo")
    with pytest.raises(FormatError, match="name the format"):
        write_boxes(tmp_path / "boxes.parquet", ONE)
    assert list(tmp_path.iterdir()) == []


def test_a_video_with_fewer_frames(tmp_path):
    path = tmp_path / "boxes.txt"
    path.write_text("9,1,1,1,5,5,1,-1,-1,-1\n")
    with pytest.raises(FormatError, match=r"frame 8 .* the video has 4 frames"):
        read_boxes(path, times=np.arange(4.0))


def test_frames_beyond_memory_are_refused(tmp_path):
    path = tmp_path / "boxes.txt"
    crowd = "1,-1,1,1,5,5,1,-1,-1,-1\n" * 60
    path.write_text(crowd + "1999999,-1,1,1,5,5,1,-1,-1,-1\n")
    with pytest.raises(FormatError, match="too many for the memory"):
        read_boxes(path, frame_rate=25)


@pytest.mark.parametrize("rate", [0, -1, float("nan"), float("inf")])
def test_senseless_frame_rates(tmp_path, rate):
    path = tmp_path / "boxes.txt"
    path.write_text("1,1,1,1,5,5,1,-1,-1,-1\n")
    with pytest.raises(FormatError, match="frame_rate must be above 0"):
        read_boxes(path, frame_rate=rate)
