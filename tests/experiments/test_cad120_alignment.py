"""The CAD-120 alignment experiment on a folder made for the purpose."""

import json

import numpy as np
import pytest

from experiments.cad120_alignment import (
    _by_subject,
    measure,
    observe_procedure,
    step_accuracy,
)
from experiments.data.cad120_procedures import load_procedures
from wordsight.errors import FormatError

FOCAL = 560.0


def joint(x, y):
    """Return a joint two metres away that is seen at pixels x, y."""
    depth = 2000.0
    return np.stack(
        np.broadcast_arrays((x - 320) * depth / FOCAL, (240 - y) * depth / FOCAL, depth, 1.0), -1
    )


def make_folder(folder, videos=3):
    """Write videos in which a hand reaches for the cup, moves it, then reaches for the box."""
    arrays, meta, rows = {}, {}, []
    rng = np.random.default_rng(0)
    for number in range(videos):
        name, lengths = f"video{number}", rng.integers(40, 70, 3)
        ends = np.cumsum(lengths)
        t = np.arange(ends[-1])
        reach = np.clip(t / lengths[0], 0, 1)
        carry = np.clip((t - ends[0]) / lengths[1], 0, 1)
        leave = np.clip((t - ends[1]) / lengths[2], 0, 1)
        hand = np.stack([500 - 380 * reach + 200 * carry + 200 * leave, 200 + 100 * leave], -1)
        cup = np.stack([120 + 200 * carry, np.full(len(t), 200.0)], -1)
        box = np.tile([520.0, 300.0], (len(t), 1))
        boxes = np.stack([np.hstack([c - 20, c + 20]) for c in (cup, box)], axis=1)
        skeleton = np.zeros((len(t), 15, 4))
        skeleton[:, 0] = joint(300, 60)
        skeleton[:, 11] = joint(600, 460)
        skeleton[:, 12] = joint(hand[:, 0], hand[:, 1])
        arrays |= {f"{name}_obj": boxes, f"{name}_skel": skeleton}
        meta[name] = {"objects": ["cup", "box"]}
        said = ["reached for the cup", "moved the cup", "reached for the box"]
        for start, end, words in zip([0, *ends[:-1]], ends, said, strict=True):
            rows.append(
                {
                    "video": name,
                    "subject": "S",
                    "start_frame": int(start) + 1,
                    "end_frame": int(end),
                    "sentences": [f"The person {words}"],
                    "candidates": [],
                }
            )
    folder.mkdir(exist_ok=True)
    (folder / "meta.json").write_text(json.dumps(meta))
    (folder / "clips.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    np.savez(folder / "tracks.npz", **arrays)
    return folder


def test_procedures_are_read(tmp_path):
    first, *_ = load_procedures(make_folder(tmp_path / "data"))
    assert [line.verbs for line in first.instructions.lines] == [("reach",), ("move",), ("reach",)]
    assert [line.nouns for line in first.instructions.lines] == [("cup",), ("cup",), ("box",)]
    hand = first.seen.boxes[0, first.seen.label_names.index("hand") == first.seen.labels[0]][1]
    assert (hand[:2] + hand[2:]) / 2 == pytest.approx([500, 200])
    assert first.spans[0, 0] == 0.0


def test_what_is_held_or_moving_is_observed(tmp_path):
    first, *_ = load_procedures(make_folder(tmp_path / "data"))
    seen = observe_procedure(first)
    at = {t: c for c in seen.chunks for t in (c.start,)}
    moved = [c for c in at.values() if first.spans[1, 0] + 0.3 < c.start < first.spans[1, 1] - 0.5]
    assert moved
    assert all("cup" in chunk.things and "sliding" in chunk.verbs for chunk in moved)


def test_accuracy_counts_moments(tmp_path):
    first, *_ = load_procedures(make_folder(tmp_path / "data"))
    seen = observe_procedure(first)
    middles = seen.times.mean(axis=1)
    best = np.searchsorted(first.spans[1:, 0], middles, side="right")
    assert step_accuracy(first, seen, best) > 0.9
    assert step_accuracy(first, seen, np.zeros_like(best)) < 0.5


@pytest.mark.slow
def test_the_experiment_from_end_to_end(tmp_path):
    train, test = make_folder(tmp_path / "a"), make_folder(tmp_path / "b", videos=2)
    results = measure(train, test)
    assert results["videos"] == 2
    assert {"accuracy", "uniform", "uniform_clock", "together", "labelled"} <= set(results)
    assert results["accuracy"] == results["ensemble"]
    shares = set(results) - {"videos", "left_out", "belonging"}
    assert all(0 <= results[name] <= 1 for name in shares)


def test_videos_of_one_subject_are_left_out_in_groups(tmp_path):
    learned = load_procedures(make_folder(tmp_path / "a", videos=3))
    videos = [(one, (one.instructions, observe_procedure(one))) for one in learned]
    folds = _by_subject(videos)
    assert [len(aligned) for _, aligned in folds] == [1, 1, 1]
    assert all(not {id(p) for p, _ in train} & {id(p) for p, _ in test} for train, test in folds)
    assert _by_subject(videos[:1]) == []


def test_missing_files_are_named(tmp_path):
    with pytest.raises(FormatError, match=r"meta\.json is missing"):
        load_procedures(tmp_path)


def test_a_video_without_tracks_is_named(tmp_path):
    folder = make_folder(tmp_path / "data")
    (folder / "meta.json").write_text("{}")
    with pytest.raises(FormatError, match="speaks of the video video0"):
        load_procedures(folder)


def test_real_videos(shared_data):
    procedures = load_procedures(shared_data("cad120"))
    assert len(procedures) > 50
    seen = [observe_procedure(procedure) for procedure in procedures[:10]]
    assert all(
        len(s.chunks) >= len(p.instructions.lines)
        for s, p in zip(seen, procedures[:10], strict=True)
    )
