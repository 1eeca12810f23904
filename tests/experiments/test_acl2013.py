"""The street experiment: its protocol on true boxes, and a run from videos on."""

import json
import math

import numpy as np
import pytest

from experiments.acl2013 import main, measure
from experiments.street_corpus import labelled, named_by_hand, see_street, true_clip
from experiments.street_folds import swaps_of
from experiments.street_objects import OTHER, ObjectDetector
from experiments.street_sentences import choose_test_sentences, truth_table
from experiments.street_tracks import follow
from wordsight.errors import WordsightError
from wordsight.language import default_lexicon
from wordsight.meaning import TrainingSettings
from wordsight.meaning.model.hand import hand_lexicon
from wordsight.records import Clip, Detections, FrameDetections
from wordsight.worlds import street

QUICK = TrainingSettings(
    restarts=1, tempered_iterations=8, iterations=2, discriminative=None, max_candidates=8
)


@pytest.fixture(scope="module")
def films():
    return list(street(24))


@pytest.fixture(scope="module")
def items(films, tmp_path_factory):
    return see_street(films, "truth", tmp_path_factory.mktemp("unused"))


@pytest.mark.slow
def test_chooses_twelve_sentences_of_each_set_the_same_every_time(films, items):
    places = [item.place for item in items]
    chosen = choose_test_sentences(films, places)
    assert chosen == choose_test_sentences(films, places)
    assert {name: len({s.text for s in row}) for name, row in chosen.items()} == {
        "NV": 12,
        "ALL": 12,
    }
    parts = {entry.name: entry.part for entry in default_lexicon()}
    for name, row in chosen.items():
        for sentence in row:
            kinds = {str(parts[word.entry]) for word in sentence.words}
            assert (kinds == {"noun", "verb"}) == (name == "NV"), sentence.text
    rates = {name: truth_table(films, row).mean() for name, row in chosen.items()}
    assert 0.02 < rates["ALL"] < rates["NV"] < 0.25


def test_true_clips_hold_every_thing_in_sight(films):
    film = films[0]
    clip = true_clip(film)
    assert sorted(clip.detections.label_names) == sorted(set(film.truth.kinds.values()))
    rows = np.round(clip.times * film.frame_rate).astype(int)
    shown = [np.isfinite(boxes[rows]).all(axis=1).sum() for boxes in film.truth.boxes.values()]
    assert clip.mask.sum() == sum(shown)


def test_names_of_true_boxes_stay_what_they_are(items):
    renamed = named_by_hand(items[:6], items[:3])
    for before, after in zip(items[:3], renamed, strict=True):
        old, new = before.clip.detections, after.clip.detections
        for row, column in np.argwhere(old.mask)[::17]:
            noun = old.label_names[old.labels[row, column]]
            # Namesakes that cover each other are the only reason for another name.
            assert new.label_names[new.labels[row, column]] == noun


def test_what_has_no_look_keeps_its_labels(items):
    assert labelled(items[:2], items[2:3], 8, 0) == (items[:2], items[2:3])


def looks_of(colours, frames=8):
    """Return a clip of still boxes side by side, each with an appearance of its own."""
    made = [
        FrameDetections(
            t / 10,
            np.array([[40.0 * k, 10, 40 * k + 20, 40] for k in range(len(colours))]),
            np.ones(len(colours)),
            np.arange(len(colours)) % 2,  # labels must not matter
            appearance=np.array(colours, dtype=np.float32) + 0.01 * t,
        )
        for t in range(frames)
    ]
    seen = Detections.from_frames(made, label_names=["a", "b"], frame_size=(320, 200))
    return Clip("boxes", 0.0, frames / 10, seen)


def test_linked_regions_have_one_identity_and_the_mean_look():
    clip = looks_of([[0.0, 0], [1, 0], [0, 1]])
    followed = follow(clip).detections
    assert followed.ids is not None and followed.appearance is not None
    assert len(np.unique(followed.ids[followed.mask])) == 3
    for number in range(3):
        mine = followed.mask & (followed.ids == number)
        assert len(np.unique(followed.boxes[mine], axis=0)) == 1
        assert np.ptp(followed.appearance[mine], axis=0).max() == 0
    means = sorted(followed.appearance[0][followed.mask[0]].round(3).tolist())
    assert np.allclose(means, [[0.035, 0.035], [0.035, 1.035], [1.035, 0.035]])


def test_object_detector_names_what_it_was_shown_and_leaves_out_the_rest(films):
    colours = {"person": [1.0, 0.0, 0.0], "backpack": [0.0, 1.0, 0.0]}

    def seen(film):
        """Return the true boxes of two kinds with a look for each, and one box of nothing."""
        clip = true_clip(film)
        frames = []
        for row, time in enumerate(clip.times):
            kinds = [clip.detections.label_names[label] for label in clip.labels[row]]
            known = [j for j in np.flatnonzero(clip.mask[row]) if kinds[j] in colours]
            looks = [colours[kinds[j]] for j in known] + [[0.0, 0.0, 1.0]]
            frames.append(
                FrameDetections(
                    float(time),
                    np.vstack([clip.boxes[row, known], [[0.0, 0, 9, 9]]]),
                    np.ones(len(looks)),
                    np.zeros(len(looks), int),
                    np.array(looks, dtype=np.float32),
                    np.append(clip.detections.ids[row, known], 99),
                )
            )
        boxes = Detections.from_frames(frames, label_names=["thing"], frame_size=film.size)
        return Clip(film.name, 0.0, film.duration, boxes)

    detector = ObjectDetector().fit([seen(film) for film in films[:6]], films[:6])
    assert detector.names_ == ("backpack", "person", OTHER)
    before = seen(films[7])
    after = detector.label(before).detections
    assert not after.mask[before.detections.ids == 99].any()
    names = np.array(after.label_names)[after.labels]
    truth = np.array(["person", "backpack"])[before.detections.appearance.argmax(axis=2) % 2]
    assert after.mask.any() and (names == truth)[after.mask].all()


def test_following_nothing_gives_nothing():
    empty = Detections.from_frames(
        [
            FrameDetections(t / 10, np.zeros((0, 4)), np.zeros(0), np.zeros(0, int))
            for t in range(3)
        ],
        label_names=["a"],
        frame_size=(320, 200),
    )
    assert not follow(Clip("empty", 0.0, 0.3, empty)).mask.any()


def test_twins_that_are_true_do_not_count(items):
    named = named_by_hand(items, items[:4])
    found = swaps_of(hand_lexicon(named[0].clip.detections.label_names), named)
    said = sum(len(item.film.sentences) for item in named)
    assert 0 < len(found.role) <= said
    assert 0 < len(found.verb) <= 3 * said


@pytest.mark.slow
def test_learning_from_true_boxes_beats_blind_guessing(tmp_path):
    results = measure(24, 0, tmp_path, sight="truth", settings=QUICK)
    assert not list(tmp_path.iterdir())
    for name in ("NV", "ALL"):
        row = results[name]
        assert row["chance"] < row["blind"] < 0.5
        assert all(0 <= row[key] <= 1 for key in ("learned", "discriminative", "hand"))
        assert math.isclose(row["learned"], row["discriminative"])  # nothing was sharpened
        assert row["roc_area"]["learned"] > 0.6
    assert results["NV"]["learned"] > results["NV"]["blind"]
    assert results["role_swap"] > 0.6 and results["verb_swap"] > 0.5


def test_one_place_is_not_enough(tmp_path):
    with pytest.raises(WordsightError, match="places"):
        measure(1, 0, tmp_path, sight="truth", settings=QUICK)


@pytest.mark.slow
def test_runs_from_videos_and_finds_them_again(tmp_path, capsys):
    words = ["--clips", "3", "--folder", str(tmp_path), "--json", "--looks", "6"]
    main(words)
    first = json.loads(capsys.readouterr().out)
    assert set(first) >= {"NV", "ALL", "role_swap", "verb_swap"}
    made = {path: path.stat().st_mtime_ns for path in (tmp_path / "films").iterdir()}
    main(words)
    assert json.loads(capsys.readouterr().out) == first
    assert made == {path: path.stat().st_mtime_ns for path in (tmp_path / "films").iterdir()}
