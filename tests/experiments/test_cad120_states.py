"""The loader of CAD-120's states and the whole experiment, on a small made-up copy of the data."""

import json

import numpy as np
import pytest

from experiments import cad120_states
from experiments.cad120_state_folds import Job, measure_fold
from experiments.cad120_states import ROWS, _summed, main
from experiments.data.cad120_states import VOCABULARY, load_videos
from wordsight.errors import FormatError, WordsightError


def write_folder(folder, subjects=("A", "B"), videos=5):
    """People who each move a cup once beside a box that rests, labelled like the real data."""
    random = np.random.default_rng(0)
    arrays, lines = {}, []
    for subject in subjects:
        for number in range(videos):
            video, frames = f"{subject}{number}", 120
            place = np.tile([[200.0, 300], [400, 300]], (frames, 1, 1))
            lift = np.sin(np.clip((np.arange(frames) - 40) / 40, 0, 1) * np.pi)
            place[:, 0] += lift[:, None] * [60, -90] + random.normal(0, 0.2, (frames, 2))
            boxes = np.concatenate([place - 20, place + 20], axis=-1)
            boxes[100:105, 0] = 0  # not annotated for a while
            skeleton = np.zeros((frames, 15, 4))
            away = np.clip(np.abs(np.arange(frames) - 60) / 20 - 1, 0, 1)[:, None] * [80, 60]
            hand = place[:, 0] - away
            skeleton[:, :, 2] = 1000
            skeleton[:, 11:13, 0] = ((hand[:, 0] - 320) / 0.56)[:, None]
            skeleton[:, 11:13, 1] = ((240 - hand[:, 1]) / 0.56)[:, None]
            arrays |= {f"{video}_obj": boxes, f"{video}_skel": skeleton}
            free = ["grounded(box)", "grounded(cup)"]
            held = ["attached(person,cup)", "grounded(box)"]
            states = [[1, 40, free], [41, 81, held], [81, 118, free]]
            row = {"video": video, "subject": subject, "activity": "moving"}
            lines.append(json.dumps(row | {"objects": ["cup", "box"], "states": states}))
    folder.mkdir(exist_ok=True)
    np.savez(folder / "tracks.npz", **arrays)
    (folder / "states.jsonl").write_text("\n".join(lines) + "\n")
    return folder


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return write_folder(tmp_path_factory.mktemp("data") / "cad")


def test_videos_are_read_to_the_last_label(made):
    videos = load_videos(made)
    assert len(videos) == 10
    first = videos[0]
    assert len(first.observations) == len(first.states) == 118
    assert first.observations.present.all()  # what is not annotated stays where it was
    assert [len(state) for state in first.states.states()] == [2, 2, 2]
    assert first.observations.features["distance"][60, 0, 1] == 0


@pytest.mark.slow
@pytest.mark.parametrize("method", ["rules", "causal", "gradient", "fern", "speed"])
def test_every_method_learns_on_one_subject_and_judges_the_other(made, method):
    if method == "gradient":
        pytest.importorskip("sklearn")
    tally = measure_fold(Job(made, None, "B", method))
    assert set(tally.videos) <= set(ROWS)
    for judged in tally.videos.values():
        assert [row.subject for row in judged] == ["B"] * 5
        assert all(row.facts == 118 * 4 for row in judged)
    if method == "rules":
        assert sum(row.right for row in tally.videos["rules"]) >= 4
        assert tally.fps > 100


def test_summing_over_subjects(made):
    judged = measure_fold(Job(made, None, "A", "speed")).videos["speed"]
    summed = _summed(judged)
    assert summed["per_subject"] == {"A": summed["sequence_accuracy"]}


def test_a_test_folder_is_judged_by_what_the_other_taught(made, tmp_path):
    other = write_folder(tmp_path / "other", subjects=("C",), videos=2)
    tally = measure_fold(Job(made, other, None, "speed"))
    assert [row.subject for row in tally.videos["speed"]] == ["C", "C"]


@pytest.mark.slow
def test_a_test_folder_gets_every_figure(made, tmp_path, monkeypatch):
    monkeypatch.setattr(cad120_states, "METHODS", ("rules", "fern", "chained", "speed"))
    other = write_folder(tmp_path / "other", subjects=("C",), videos=2)
    found = cad120_states.measure(made, other, 1)
    ways = {"walkmaxsat_fair", "rc2", "bp", "gibbs"}
    assert {"published", "chained", "by_length", "calibration", *ways} <= found.keys()
    assert found["calibration"]["error"] <= 0.05
    assert all(ways < row.keys() for row in found["by_length"])
    assert found["videos"] == 2


def test_folders_that_lack_something(tmp_path, made):
    with pytest.raises(FormatError, match="is missing"):
        load_videos(tmp_path)
    with pytest.raises(WordsightError, match="2 subjects"):
        measure_fold(Job(write_folder(tmp_path / "one", ("A",), 1), None, "A", "speed"))
    with pytest.raises(SystemExit):
        main([])


def test_videos_without_tracks_or_skeleton_are_left_out_and_objects_without_boxes_too(tmp_path):
    folder = write_folder(tmp_path / "part", ("A",), 3)
    whole = load_videos(folder)
    first, second, third = (video.observations.video_id for video in whole)
    with np.load(folder / "tracks.npz") as arrays:
        kept = {name: arrays[name] for name in arrays if name != f"{first}_skel"}
    kept[f"{second}_obj"] = kept[f"{second}_obj"][:, :1]
    np.savez(folder / "tracks.npz", **kept)
    some = load_videos(folder)
    assert [video.observations.video_id for video in some] == [second, third]
    names = [[thing.name for thing in video.observations.objects] for video in some]
    assert names == [["person", "cup"], ["person", "cup", "box"]]
    np.savez(folder / "tracks.npz", nothing=np.zeros(1))
    with pytest.raises(FormatError, match="no tracks"):
        load_videos(folder)


def test_a_name_that_comes_twice_means_its_first_object(tmp_path):
    folder = write_folder(tmp_path / "twice", ("A",), 1)
    text = (folder / "states.jsonl").read_text()
    (folder / "states.jsonl").write_text(text.replace('["cup", "box"]', '["cup", "cup"]'))
    (video,) = load_videos(folder)
    assert [thing.name for thing in video.observations.objects] == ["person", "cup"]


@pytest.mark.slow
def test_the_real_data(shared_data):
    videos = load_videos(shared_data("cad120"))
    assert len(videos) == 93
    names = {p.name for p in VOCABULARY.predicates}
    assert {fact.predicate for video in videos for fact in video.states.facts} == names
    assert max(v.observations.features["distance"].shape[1] for v in videos) == 6
