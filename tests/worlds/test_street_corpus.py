"""The corpus as a whole: counts, balance, determinism, and what is refused."""

import itertools
import json
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wordsight.language import parse
from wordsight.video.read.reader import VideoReader
from wordsight.worlds import Effects, WorldError, street, write_world
from wordsight.worlds.street import DEFAULT_PLACES, GENERALISATION_PLACE

VERBS = {"picked-up", "put-down", "carried", "approached"}


def place_of(film):
    return film.record()["place"]


@pytest.mark.slow
def test_the_default_corpus_has_the_published_counts(corpus):
    assert len(corpus) == 61
    counts = [len(film.sentences) for film in corpus]
    assert sum(counts) == 159
    assert set(counts) == {2, 3}


def test_every_given_sentence_is_of_the_grammar_true_and_told_once(corpus):
    for film in corpus:
        assert len(set(film.sentences)) == len(film.sentences)
        for text in film.sentences:
            assert parse(text).words
            assert film.truth.holds(text), (film.name, text)


@pytest.mark.slow
def test_the_corpus_is_balanced_and_uses_every_word(corpus):
    places = Counter(place_of(film) for film in corpus)
    assert set(places) == set(DEFAULT_PLACES)
    assert max(places.values()) - min(places.values()) <= 1
    words = Counter(
        word.entry for f in corpus for text in f.sentences for word in parse(text).words
    )
    assert set(words) == VERBS | {
        *("person", "backpack", "chair", "trash-can", "traffic-cone", "stool"),
        *("to-the-left-of", "to-the-right-of", "quickly", "slowly", "towards", "away-from"),
    }
    assert min(words[verb] for verb in VERBS) > 20
    nouns_and_verb_only = sum(len(parse(t).words) == 3 for f in corpus for t in f.sentences)
    assert 30 < nouns_and_verb_only < 110


def test_films_last_three_to_five_seconds_and_some_have_two_people(corpus):
    assert all(3.0 <= film.duration <= 5.05 for film in corpus)
    people = Counter(sum(k == "person" for k in film.truth.kinds.values()) for film in corpus)
    assert set(people) == {1, 2}
    together = [f for f in corpus if len({event.agent for event in f.truth.events}) > 1]
    assert len(together) >= 5


@pytest.mark.slow
def test_a_film_does_not_depend_on_how_many_are_made():
    few, many = list(street(clips=3, random_state=4)), list(street(clips=5, random_state=4))
    for one, other in zip(few, many, strict=False):
        assert json.dumps(one.record()) == json.dumps(other.record())


def test_the_picture_does_not_change_what_happens():
    clean, noisy = (next(street(clips=1, noise=noise)) for noise in (0.0, 1.0))
    assert clean.sentences == noisy.sentences
    assert clean.record()["events"] == noisy.record()["events"]
    assert clean.record()["boxes"] != noisy.record()["boxes"]  # the camera shakes


@pytest.mark.slow
@settings(max_examples=6, deadline=None)
@given(st.integers(0, 10**9))
def test_any_seed_gives_films_with_true_sentences(seed):
    for film in street(clips=2, random_state=seed):
        assert len(film.sentences) == 2 + film.index
        assert all(film.truth.holds(text) for text in film.sentences)
        assert film.truth.is_clear()


def test_seeds_differ():
    one, other = (next(street(clips=1, random_state=seed)).record() for seed in (0, 1))
    assert one["boxes"] != other["boxes"]


def test_the_frame_rate_can_be_chosen():
    slow, fast = (next(street(clips=1, frame_rate=rate)) for rate in (20.0, 40.0))
    assert fast.num_frames == pytest.approx(2 * slow.num_frames, abs=2)
    assert [(e.verb, e.agent, e.patient) for e in slow.truth.events] == [
        (e.verb, e.agent, e.patient) for e in fast.truth.events
    ]


@pytest.mark.slow
def test_objects_actions_and_places_can_be_chosen():
    films = list(
        street(
            clips=4,
            places=[GENERALISATION_PLACE],
            actions=["picked-up"],
            objects=["stool", "traffic-cone"],
            distractors=[],
        )
    )
    kinds = {kind for film in films for kind in film.truth.kinds.values()}
    assert kinds == {"person", "stool", "traffic-cone"}
    assert {place_of(film) for film in films} == {GENERALISATION_PLACE}
    assert films[0].truth.holds("The person picked up the stool.")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"clips": 0}, "one clip or more"),
        ({"clips": -3}, "one clip or more"),
        ({"clips": 2.5}, "one clip or more"),
        ({"random_state": -1}, "random_state"),
        ({"places": ["prak"]}, "did you mean park"),
        ({"places": []}, "at least one place"),
        ({"places": "park"}, "list of names"),
        ({"objects": ["bagpack"]}, "did you mean backpack"),
        ({"distractors": ["piano"]}, "there is no object 'piano'"),
        ({"actions": ["carry"]}, "did you mean carried"),
        ({"noise": 1.5}, "noise must lie between"),
        ({"frame_rate": 0}, "frame_rate"),
        ({"frame_rate": float("nan")}, "frame_rate"),
    ],
)
def test_what_makes_no_sense_is_refused_before_any_work(options, message):
    with pytest.raises(WorldError, match=message):
        street(**options)


@pytest.mark.slow
def test_a_world_on_disk_can_be_read_back(tmp_path):
    films = list(itertools.islice(street(clips=2, effects=Effects(grain=0.2)), 2))
    folder = write_world(films, tmp_path / "world", total=2)
    rows = [json.loads(line) for line in (folder / "metadata.jsonl").read_text().splitlines()]
    assert [row["text"] for row in rows] == [text for film in films for text in film.sentences]
    lines = (folder / "truth.jsonl").read_text().splitlines()
    assert lines == [json.dumps(f.record(), separators=(",", ":")) for f in films]
    with VideoReader(folder / "street-001.mp4") as video:
        assert video.info.num_frames == films[1].num_frames
        assert (video.info.width, video.info.height) == (640, 480)
        assert video.info.frame_rate == pytest.approx(30.0)
