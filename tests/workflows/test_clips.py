"""Clips with sentences: what was seen in each, followed through the whole video."""

import json

import numpy as np
import pytest

from tests.library.conftest import make_video
from wordsight.errors import WordsightError
from wordsight.library import Library
from wordsight.perception.formats import write_boxes
from wordsight.records import Detections, FrameDetections
from wordsight.workflows.clips import clips_with_sentences, read_aligned

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


@pytest.fixture
def walk(tmp_path):
    """A library of one video of which nothing is said."""
    make_video(tmp_path / "walk.mp4", seconds=3.0, rate=RATE)
    write_boxes(tmp_path / "walk.boxes.csv", every_third_frame(), frame_rate=RATE)
    with Library.create(tmp_path / "library") as library:
        assert library.add(tmp_path / "walk.mp4", workers=1).ok
        yield library


def aligned(path, video, *spans):
    lines = [
        {
            "text": text,
            "happened": True,
            "spans": [{"start": start, "end": end, "confidence": sure}],
        }
        for text, start, end, sure in spans
    ]
    path.write_text(json.dumps({"video": video, "text": "t", "lines": lines, "boundaries": []}))
    return path


def test_lines_of_an_alignment_are_sentences(walk, tmp_path):
    file = aligned(
        tmp_path / "a.json",
        "walk",
        ("The person walked.", 0.5, 1.5, 0.9),
        ("The person passed the chair.", 1.5, 99.0, 0.8),
        ("The person slept.", 2.0, 2.5, 0.3),
    )
    clips, said = clips_with_sentences(walk, read_aligned(walk, [file]))
    assert said == [["The person walked."], ["The person passed the chair."]]
    assert (clips[0].start, clips[0].end) == (0.5, 1.5)
    assert clips[1].end <= walk.videos()[0].duration + 0.1
    assert [clip.mask.any() for clip in clips] == [True, True]


def test_alignments_that_are_of_no_use(walk, tmp_path):
    wrong = tmp_path / "wrong.json"
    with pytest.raises(WordsightError, match=r"wrong\.json is not an alignment"):
        read_aligned(walk, [wrong])
    wrong.write_text('{"video": "walk"}')
    with pytest.raises(WordsightError, match="is not an alignment"):
        read_aligned(walk, [wrong])
    with pytest.raises(WordsightError, match="is about run, which means 0 videos"):
        read_aligned(walk, [aligned(wrong, "run", ("It ran.", 0, 1, 0.9))])
    with pytest.raises(WordsightError, match="there is nothing to learn from"):
        read_aligned(walk, [aligned(wrong, "walk", ("It ran.", 0, 1, 0.1))])
