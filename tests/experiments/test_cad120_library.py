"""The files of CAD-120 for `wordsight add` give commands the clips that the experiment has."""

import numpy as np
import pytest

import wordsight
from experiments.cad120_library import write_library
from experiments.data import cad120
from wordsight.library import Library
from wordsight.workflows.reporter import RecordingReporter
from wordsight.workflows.word_quality import read_described


@pytest.mark.slow
def test_commands_see_what_the_experiment_sees(shared_data, tmp_path, monkeypatch):
    data = shared_data("cad120")
    every = cad120.load_segments(data, "tracks")
    videos = list(dict.fromkeys(one.clip.video_id for one in every))[:2]
    few = [one for one in every if one.clip.video_id in videos]
    monkeypatch.setattr("experiments.cad120_library.load_segments", lambda *_: few)
    assert write_library(data, tmp_path / "files") == 2
    wordsight.add(tmp_path / "library", tmp_path / "files", workers=1)
    with Library.open(tmp_path / "library") as library:
        asked = tmp_path / "files" / "candidates.jsonl"
        said = read_described(library, None, None, asked, RecordingReporter())
        names = {video.id: video.name.removesuffix(".mp4") for video in library.videos()}
    assert said.cut and said.given and len(said.clips) == len(few)
    known = {(one.clip.video_id, round(one.clip.start, 2)): one for one in few}
    for clip, sentences, rivals in zip(said.clips, said.sentences, said.rivals, strict=True):
        segment = known[names[clip.video_id], round(clip.start, 2)]
        assert [one.text for one in sentences] == [segment.sentence]
        assert {one.text for one in rivals} == set(segment.candidates)
        theirs, ours = segment.clip.detections, clip.detections
        assert abs(len(theirs) - len(ours)) <= 1  # a frame on the edge
        count = min(len(theirs), len(ours))
        places = np.sort(theirs.boxes[:count].reshape(count, -1) / 4, axis=1)
        found = np.sort(ours.boxes[:count].reshape(count, -1), axis=1)
        assert np.abs(found[:, -8:] - places[:, -8:]).max() < 2.0
