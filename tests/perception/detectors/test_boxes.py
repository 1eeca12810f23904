"""The detector that reads a file."""

import json

import numpy as np
import pytest

from wordsight.errors import FormatError
from wordsight.perception import Detector, DetectorError, load_detector
from wordsight.perception.detectors.boxes import BoxFile
from wordsight.perception.formats import write_boxes
from wordsight.records import Detections, FrameDetections
from wordsight.video import Frame

TIMES = [0.0, 0.1, 0.25, 0.3]


@pytest.fixture
def file(tmp_path):
    """Frame t has t boxes."""
    frames = [
        FrameDetections(
            time,
            np.array([[10.0 * k, 0, 10 * k + 8, 20] for k in range(t)]).reshape(-1, 4),
            np.full(t, 0.5),
            np.zeros(t, int),
            ids=np.arange(t),
        )
        for t, time in enumerate(TIMES)
    ]
    seen = Detections.from_frames(frames, label_names=["cup"], frame_size=(64, 48))
    write_boxes(tmp_path / "boxes.json", seen)
    return tmp_path / "boxes.json", seen


def pictures(size=(64, 48), indices=range(4)):
    image = np.zeros((size[1], size[0], 3), np.uint8)
    return [Frame.from_array(image, TIMES[index], index) for index in indices]


def test_frames_get_the_boxes_of_their_number(file):
    path, seen = file
    detector = load_detector("boxes", path=path)
    assert isinstance(detector, Detector)
    found = Detections.from_frames(
        detector.detect(pictures()), label_names=detector.label_names, frame_size=(64, 48)
    )
    assert found == seen


def test_frames_may_be_skipped_and_there_may_be_more_than_in_the_file(file):
    frames = pictures(indices=[1, 3])
    frames.append(Frame.from_array(np.zeros((48, 64, 3), np.uint8), 9.0, 77))
    assert [len(found.boxes) for found in BoxFile(file[0]).detect(frames)] == [1, 3, 0]


def test_boxes_are_scaled_to_the_video(file):
    *_, last = BoxFile(file[0]).detect(pictures((128, 96)))
    np.testing.assert_array_equal(last.boxes[1], [20, 0, 36, 40])


def test_a_video_of_another_shape_is_refused(file):
    with pytest.raises(DetectorError, match="64 x 48 pixels, but the video has 64 x 64"):
        list(BoxFile(file[0]).detect(pictures((64, 64))))


def test_without_identities_there_are_none(tmp_path):
    (tmp_path / "det.txt").write_text("1,-1,5,5,10,20,0.5,-1,-1,-1\n")
    (found,) = BoxFile(tmp_path / "det.txt").detect(pictures(indices=[0]))
    assert found.ids is None
    np.testing.assert_array_equal(found.boxes, [[4, 4, 14, 24]])


def test_settings_name_the_content(file):
    settings = BoxFile(file[0], label_names=["cup"]).settings()
    assert json.loads(json.dumps(settings)) == settings
    assert settings["file"] == "boxes.json"
    before = settings["sha256"]
    file[0].write_text(file[0].read_text().replace("0.5", "0.75"))
    assert BoxFile(file[0]).settings()["sha256"] != before


def test_a_missing_file(tmp_path):
    with pytest.raises(FormatError, match="cannot be read"):
        BoxFile(tmp_path / "none.json")


def test_a_path_is_needed():
    with pytest.raises(DetectorError, match="path"):
        load_detector("boxes")
