"""The street experiment: its protocol on true boxes, and a run from videos on."""

import json
import math

import numpy as np
import pytest

from experiments.acl2013 import main, measure, pool
from experiments.street_corpus import (
    detector_recall,
    labelled,
    named_by_hand,
    see_street,
    surest,
    true_clip,
)
from experiments.street_folds import MODELS
from experiments.street_objects import OTHER, ObjectDetector
from experiments.street_sentences import (
    FURTHER_SENTENCES,
    HOMONYM_LEXICON,
    FurtherFilm,
    HomonymFilm,
    choose_test_sentences,
    homonym_sentences,
    truth_table,
)
from experiments.street_twins import KINDS, judge_twins, sum_up_twins, twins_of
from wordsight.errors import WordsightError
from wordsight.language import default_lexicon, parse
from wordsight.meaning import TrainingSettings
from wordsight.meaning.model.hand import hand_lexicon
from wordsight.perception.tracking.tracks import track_regions
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
    chosen = choose_test_sentences(films, places, places[0])
    assert chosen == choose_test_sentences(films, places, places[0])
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


@pytest.mark.slow
def test_every_test_sentence_is_true_of_a_film_of_the_place():
    films = list(street(61, 3))
    places = [str(film.truth.record()["place"]) for film in films]
    for place in set(places):
        here = [film for film, own in zip(films, places, strict=True) if own == place]
        for row in choose_test_sentences(films, places, place).values():
            assert truth_table(here, row).any(axis=0).all()


def test_true_clips_hold_every_thing_in_sight(films):
    film = films[0]
    clip = true_clip(film)
    assert sorted(clip.detections.label_names) == sorted(set(film.truth.kinds.values()))
    rows = np.round(clip.times * film.frame_rate).astype(int)
    shown = [np.isfinite(boxes[rows]).all(axis=1).sum() for boxes in film.truth.boxes.values()]
    assert clip.mask.sum() == sum(shown)


def test_numbers_of_true_boxes_get_their_names_back(items):
    renamed = named_by_hand(items[:6], items[:3])
    for before, after in zip(items[:3], renamed, strict=True):
        old, new = true_clip(before.film).detections, after.clip.detections
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
    followed = track_regions(clip.detections)
    assert followed.ids is not None and followed.appearance is not None
    assert len(np.unique(followed.ids[followed.mask])) == 3
    for number in (1, 2, 3):
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
    assert not track_regions(empty).mask.any()


def test_classes_come_as_numbers_and_are_found_as_they_are(items):
    assert {name.split()[0] for name in items[0].clip.detections.label_names} == {"class"}
    assert detector_recall(items[:4]) == (1.0, 1.0)


def test_the_surest_boxes_of_a_class_are_kept():
    boxes = np.array([[20.0 * k, 10, 20 * k + 15, 40] for k in range(5)])
    frame = FrameDetections(
        0.0, boxes, np.array([0.2, 0.9, 0.2, 0.5, 0.1]), np.array([0, 0, 0, 1, 1])
    )
    seen = Detections.from_frames([frame], label_names=["a", "b"], frame_size=(320, 200))
    kept = surest(Clip("boxes", 0.0, 0.1, seen), 2).mask
    assert kept.tolist() == [[True, True, False, True, True]]
    assert surest(Clip("boxes", 0.0, 0.1, seen), 1).mask.tolist() == [
        [False, True, False, True, False]
    ]


def test_twins_are_false_and_of_the_same_words_where_roles_are_exchanged(films):
    found = [(film, twin) for film in films for twin in twins_of(film)]
    kinds = {kind: [pair for pair in found if pair[1].kind == kind] for kind in KINDS}
    assert all(kinds.values())
    for film, twin in found:
        if twin.kind != "order":
            assert film.truth.holds(twin.true[0]) and not film.truth.holds(twin.false[0])
    for kind in ("role_people", "role_things", "order"):
        for _, twin in kinds[kind]:
            spoken = [
                sorted(w.entry for s in said for w in s.words) for said in (twin.true, twin.false)
            ]
            assert spoken[0] == spoken[1]
    for film, twin in kinds["noun"]:
        nouns = {w.entry for w in twin.false[0].words if len(w.participants) == 1}
        assert nouns <= {*film.truth.kinds.values(), "quickly", "slowly"}


def test_twins_are_judged_and_summed_up(items):
    named = named_by_hand(items, items)
    hand = hand_lexicon(named[0].clip.detections.label_names)
    films = [item.film for item in items[:3]]
    judged = [
        one for item in named for one in judge_twins(hand, item.clip, twins_of(item.film), films)
    ]
    table = sum_up_twins(judged)
    assert sum(row["pairs"] for row in table.values()) == len(judged)
    assert table["noun"]["preferred"] > 0.9 > table["noun"]["blind"]
    assert table["role_people"]["preferred"] > 0.5
    assert all(0 <= row["strict"] <= 1 for row in table.values())


@pytest.mark.slow
def test_learning_from_true_boxes_beats_blind_guessing(tmp_path):
    rows = ("learned", "discriminative", "joint", "hand", "hand_fitted")
    results = measure(24, (0, 1), tmp_path, sight="truth", models=rows, settings=QUICK)
    assert not list(tmp_path.iterdir())
    assert results["detector"] == {"recall": 1.0, "precision": 1.0}
    assert set(results["draws"]) == {"0", "1"}
    for name in ("NV", "ALL"):
        row = results[name]
        assert row["chance"] < row["blind"] < 0.5
        assert all(0 <= row[key] <= 1 for key in rows)
        low, high = row["interval"]["joint"]
        assert low <= row["joint"] <= high
        assert math.isclose(row["learned"], row["discriminative"])  # nothing was sharpened
        assert row["roc_area"]["learned"] > 0.6
    assert results["NV"]["learned"] > results["NV"]["blind"]
    twins = results["twins"]["discriminative"]
    assert twins["noun"]["preferred"] > 0.8 and twins["verb"]["preferred"] > 0.5


def test_one_place_is_not_enough(tmp_path):
    with pytest.raises(WordsightError, match="places"):
        measure(1, (0,), tmp_path, sight="truth", settings=QUICK)


@pytest.mark.slow
def test_runs_from_videos_and_finds_them_again(tmp_path, capsys):
    words = ["--clips", "3", "--draws", "1", "--seed", "0", "--folder", str(tmp_path), "--json"]
    main(words)
    first = json.loads(capsys.readouterr().out)
    assert set(first) >= {"NV", "ALL", "twins", "detector", "draws"}
    assert set(MODELS) - {"senses"} < set(first["NV"])
    films = tmp_path / "draw-0" / "films"
    made = {path: path.stat().st_mtime_ns for path in films.iterdir()}
    main(words)
    assert json.loads(capsys.readouterr().out) == first
    assert made == {path: path.stat().st_mtime_ns for path in films.iterdir()}


def test_parts_of_a_run_are_put_together():
    def part(seed, rows, pairs):
        sets = dict.fromkeys(("NV", "ALL"), rows)
        own = {name: {"base_rate": 0.1, "roc_area": dict.fromkeys(rows, 0.5)} for name in sets}
        kind = {"preferred": 1.0 if pairs == 1 else 0.0, "pairs": pairs}
        return own | {"draws": {seed: sets}, "twins": {"joint": {"verb": kind}}}

    first = part("1", {"blind": 0.2, "joint": 0.6}, 1)
    second = part("2", {"blind": 0.4, "joint": 0.8}, 3)
    more = part("2", {"blind": 0.4, "hand": 0.5}, 0) | {"twins": {}}
    found = pool([first, second, more])
    assert found["NV"]["joint"] == pytest.approx(0.7) and found["NV"]["blind"] == pytest.approx(0.3)
    assert "hand" not in found["ALL"]  # measured in one draw of two
    low, high = found["NV"]["interval"]["joint"]
    assert low < 0.6 < 0.8 < high
    assert found["twins"]["joint"]["verb"] == {"preferred": 0.25, "pairs": 4}
    assert set(found["draws"]["2"]["NV"]) == {"blind", "joint", "hand"}


def test_other_words_are_true_of_what_happens(films):
    further = [FurtherFilm(film, 0) for film in films]
    for film, other in zip(films, further, strict=True):
        holds = other.truth.holds
        assert all(map(holds, other.sentences)) and len(set(other.sentences)) in (2, 3)
        verbs = {event.verb for event in film.truth.events}
        assert holds("The thing rose.") == ("picked-up" in verbs)
        assert holds("The thing sank.") == ("put-down" in verbs)
        moved = [holds(f"The thing moved {side}.") for side in ("leftward", "rightward")]
        assert any(moved) == holds("The thing moved.")
        assert not holds("The thing walked.") and not holds("The person moved.")
    for row in FURTHER_SENTENCES.values():
        assert any(film.truth.holds(text) for film in further for text in row)
    again = [FurtherFilm(film, 0).sentences for film in films]
    assert again == [film.sentences for film in further]


@pytest.mark.slow
def test_words_that_the_corpus_does_not_have(tmp_path):
    found = measure(
        24, [0], tmp_path, sight="truth", models=("learned",), settings=QUICK, other="further"
    )
    assert set(FURTHER_SENTENCES) < set(found) and found["twins"] == {}
    for name in FURTHER_SENTENCES:
        assert set(found[name]) >= {"chance", "blind", "learned", "interval", "base_rate"}
        assert "published" not in found[name]


def test_a_homonym_is_true_of_both_kinds_of_events(films):
    for film, other in zip(films, map(HomonymFilm, films), strict=True):
        assert len(other.sentences) == len(film.sentences)
        read = [parse(text, HOMONYM_LEXICON) for text in other.sentences]
        assert all(map(other.truth.holds, read))
        for thing in ("backpack", "chair"):
            either = [f"The person {verb} the {thing}." for verb in ("picked up", "put down")]
            handled = parse(f"The person handled the {thing}.", HOMONYM_LEXICON)
            assert other.truth.holds(handled) == any(map(film.truth.holds, either))
    places = [str(film.truth.record()["place"]) for film in films]
    asked = homonym_sentences(choose_test_sentences(films, places, places[0]))
    assert len(asked["NV"]) == 9  # "handled" once for each thing
    assert all("picked up" not in one.text for row in asked.values() for one in row)


@pytest.mark.slow
def test_two_senses_are_measured_on_a_homonym(tmp_path):
    rows = ("discriminative", "senses")
    found = measure(24, [0], tmp_path, sight="truth", models=rows, settings=QUICK, other="homonym")
    assert set(rows) < set(found["NV"]) and found["twins"] == {}
    assert all(0 < share <= 1 for share in found["senses"].values())
