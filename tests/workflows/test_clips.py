"""Clips with sentences: what was seen in each, followed through the whole video."""

import numpy as np
import pytest

from tests.library.conftest import make_video
from wordsight.library import Library
from wordsight.perception.formats import write_boxes
from wordsight.records import Detections, FrameDetections
from wordsight.workflows.clips import clips_with_sentences

RATE = 30.0


def every_third_frame():
    """A person walks past a chair; boxes on every third of 90 frames, without ids."""
    frames = []
    for n in range(0, 90, 3):
        boxes = np.array([[2.0 + n / 4, 8, 12 + n / 4, 40], [40, 24, 56, 40]])
        frames.append(FrameDetections(n / RATE, boxes, np.full(2, 0.9), np.array([0, 1])))
    return Detections.from_frames(frames, label_names=["person", "chair"], frame_size=(64, 48))


@pytest.mark.parametrize("suffix", [".csv", ".txt", ".json", ".xml"])
def test_sparse_boxes_of_any_format_are_followed(tmp_path, suffix):
    make_video(tmp_path / "walk.mp4", seconds=3.0, rate=RATE)
    file = tmp_path / f"walk.boxes{suffix}"
    write_boxes(file, every_third_frame(), frame_rate=RATE)
    metadata = tmp_path / "metadata.jsonl"
    metadata.write_text(
        '{"file_name": "walk.mp4", "text": "The person passed the chair."}\n'
        '{"file_name": "walk.mp4", "text": "The person walked.", "start": 1.0, "end": 1.2}\n'
    )
    with Library.create(tmp_path / "library") as library:
        assert library.add(metadata, workers=1).ok
        whole, brief = clips_with_sentences(library)[0]
    assert np.unique(whole.detections.ids[whole.mask]).tolist() == [1, 2]
    # Two boxes of each thing lie in the short clip, too few to be followed within it alone.
    assert np.unique(brief.detections.ids[brief.mask]).tolist() == [1, 2]
    assert brief.mask.sum() == 2 * len(brief)
