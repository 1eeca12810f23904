"""Long films: the moment is found first, then asked about."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from tests.meaning.plays import LEXICON, film, play, said, troupe
from wordsight.language import LanguageError
from wordsight.meaning import (
    MeaningError,
    Windows,
    WordLearner,
    best_moment,
    describe_moments,
    is_long_video,
)
from wordsight.meaning.features import AnnotatedClip
from wordsight.meaning.tasks.event import CUT_CLIPS, TYPICAL_CLIP, _chain_weights, _medians
from wordsight.records import Clip

WINDOWS = Windows(lengths=(2.0,))
PARTS = [("waited", "ball")] * 5 + [("lifted", "crate")] + [("waited", "ball")] * 4


@pytest.fixture(scope="module")
def words():
    clips, sentences = troupe(24)
    learner = WordLearner(
        restarts=2, tempered_iterations=4, iterations=3, discriminative=None, random_state=1
    )
    return learner.fit(clips, sentences, lexicon=LEXICON).lexicon_


@pytest.fixture(scope="module")
def whole():
    return film(PARTS, True, new_faces=True)


@pytest.mark.slow
def test_what_is_in_sight_for_a_moment_is_asked_about(words, whole):
    sentence = said("lifted", "crate")
    lost = words.track(whole, sentence)  # everybody is in sight for a tenth of it
    assert not any(len(track) for track in lost.tracks) and not words.score(whole, sentence).holds
    moment = best_moment(words, whole, sentence, windows=WINDOWS)
    assert moment.start == pytest.approx(10.0, abs=0.51) and moment.end - moment.start == 2.0
    found = words.track(moment, sentence)
    assert [len(track) > 15 for track in found.tracks] == [True, True]
    assert found.tracks[0].start >= moment.start and words.score(moment, sentence).holds
    assert (found.start, found.end) == (moment.start, moment.end)


@pytest.mark.slow
def test_moments_are_described_the_likeliest_true_first(words, whole):
    steps = []
    told = describe_moments(
        words, whole, top=3, windows=WINDOWS, progress=lambda *step: steps.append(step)
    )
    assert 0 < len(told) <= 3 and len(steps) >= 10
    truth = [words.score(whole.part(d.start, d.end), d.text).score for d in told]
    assert truth == sorted(truth, reverse=True)
    for one in told:
        assert 0 <= one.start < one.end <= 20
        assert all(
            min(one.end, other.end) - max(one.start, other.start) <= 0.61
            for other in told
            if other is not one
        )
    assert said("lifted", "crate") in {d.text for d in describe_moments(words, whole, top=9)}


def test_a_clip_is_taken_whole(words):
    clip, sentence = play("lifted", "crate", seed=70), said("lifted", "crate")
    assert not is_long_video(words, clip) and best_moment(words, clip, sentence) is clip
    usual = [(d.text, d.score) for d in words.describe(clip, top=4)]
    assert [(d.text, d.score) for d in describe_moments(words, clip, top=4)] == usual


def test_long_is_beside_what_words_were_learned_from(words, whole):
    assert words.notes[TYPICAL_CLIP] == pytest.approx(2.0, abs=0.01)
    cases = [  # seconds of the film, of the clips learned from, whether a moment is to be found
        (15.9, 2.0, False),
        (16.1, 2.0, True),  # a quarter of it is more than the longest window
        (16.1, 10.0, False),
        (41.0, 10.0, True),
        (16.1, None, True),  # a lexicon that does not say
        (16.1, "long", True),  # nor does one with a strange note
    ]
    for seconds, usual, long in cases:
        lexicon = replace(words, notes={TYPICAL_CLIP: usual})
        clip = Clip("film", 0.0, seconds, play("waited").detections)
        assert is_long_video(lexicon, clip) is long, (seconds, usual)
    everybody = replace(words, view_settings=replace(words.view_settings, min_visible=0.0))
    assert not is_long_video(everybody, whole)  # nobody would be left out


def test_names_of_things_go_along(words, whole):
    named = np.zeros((1, *whole.mask.shape), dtype=np.int64)
    told = AnnotatedClip(
        "film", whole.start, whole.end, whole.detections, (("red", "blue"),), named
    )
    moment = best_moment(words, told, said("lifted", "crate"), windows=WINDOWS)
    assert isinstance(moment, AnnotatedClip) and moment.named.shape == (1, *moment.mask.shape)


def test_a_film_in_which_nothing_is_seen(words):
    seen = film([("waited", "ball")] * 30, True).detections
    unseen = replace(seen, mask=np.zeros_like(seen.mask))
    empty = Clip("film", 0.0, 60.0, unseen)
    assert best_moment(words, empty, said("lifted", "crate")) is empty
    assert describe_moments(words, empty) == []
    assert not words.score(empty, said("lifted", "crate")).holds


def test_what_is_no_clip_or_no_sentence_is_refused(words, whole):
    with pytest.raises(LanguageError, match="elephant"):
        best_moment(words, whole, "The elephant waited.")
    with pytest.raises(MeaningError, match="expected a Clip"):
        best_moment(words, "film.mp4", said("lifted"))
    with pytest.raises(MeaningError, match="expected a Clip"):
        describe_moments(words, None)


@pytest.mark.slow
def test_a_hit_is_the_event_without_the_time_around_it(words, whole):
    sentence = said("lifted", "crate")
    wide = Windows(lengths=(4.0,))
    (cut,) = words.search([whole], sentence, top=1, windows=wide)
    assert (cut.start, cut.end) == cut.judged  # three states are all of the event
    few = {"restarts": 2, "tempered_iterations": 4, "iterations": 3, "discriminative": None}
    with_time_around = WordLearner(phases=4, random_state=1, **few)
    lexicon = with_time_around.fit(*troupe(24), lexicon=LEXICON).lexicon_
    (hit,) = lexicon.search([whole], sentence, top=1, windows=wide)
    start, end = hit.judged
    assert end - start == pytest.approx(4.0)
    assert hit.end - hit.start < 3.0
    common = min(hit.end, 12.0) - max(hit.start, 10.0)
    assert common >= 0.5 * (max(hit.end, 12.0) - min(hit.start, 10.0))


def stretches(gain):
    sums = np.concatenate([[0.0], np.cumsum(gain)])
    return np.where(np.tri(len(gain), k=-1) > 0, -np.inf, sums[1:] - sums[:-1, None])


def test_the_stretch_of_an_event_is_where_it_explains_most():
    gain = np.full(20, -2.0)
    gain[5:9] = 3.0
    begins, ends, evidence = _medians(stretches(gain))
    assert (begins, ends) == (5, 8) and evidence > 0
    *_, none = _medians(stretches(np.full(20, -2.0)))
    assert none < 0  # nothing of it anywhere


def test_an_event_begins_with_its_first_state_and_ends_with_its_last(words):
    verb = words.words["lifted"]
    logs = np.full((20, verb.num_states), -2.0)
    for state in range(verb.num_states):
        logs[6 + 2 * state : 8 + 2 * state, state] = 3.0
    weights = _chain_weights(verb, logs)
    begins, ends, _ = _medians(weights)
    assert (begins, ends) == (6, 5 + 2 * verb.num_states)
    assert np.isneginf(weights[np.tri(20, k=-1) > 0]).all()  # none ends before it begins


@pytest.mark.slow
def test_hits_of_words_from_cut_clips_are_as_long_as_those_clips(words, whole):
    sentence = said("lifted", "crate")
    few = {"restarts": 2, "tempered_iterations": 4, "iterations": 3, "discriminative": None}
    lexicon = (
        WordLearner(cut=True, random_state=1, **few).fit(*troupe(24), lexicon=LEXICON).lexicon_
    )
    assert lexicon.notes[CUT_CLIPS] and Windows.of(lexicon).lengths == (2.0,)
    assert Windows.of(words) == Windows()
    (hit,) = lexicon.search([whole], sentence, top=1)
    common = min(hit.end, 12.0) - max(hit.start, 10.0)
    assert common >= 0.5 * (max(hit.end, 12.0) - min(hit.start, 10.0))
    assert (hit.start, hit.end) != hit.judged


def test_how_things_are_is_one_stretch_as_long_as_it_holds(words, whole):
    found = words.search([whole], "a crate", only_true=True, top=None, windows=WINDOWS)
    assert found and all(hit.holds and hit.judged == (hit.start, hit.end) for hit in found)
    ordered = sorted(found, key=lambda hit: hit.start)
    assert all(one.end < other.start for one, other in pairwise(ordered))
    assert max(hit.end - hit.start for hit in found) > max(WINDOWS.lengths)
    seen = words.search([whole], "a crate", top=None, windows=WINDOWS)
    true = [hit for hit in seen if hit.score >= words.threshold]
    assert all(any(one.start <= hit.start and hit.end <= one.end for one in found) for hit in true)
    assert max(hit.score for hit in found) == pytest.approx(max(hit.score for hit in true))
