"""Clips that do not fit the memory: scored, followed and searched all the same, with the bound."""

import warnings

import numpy as np
import pytest

from tests.meaning.plays import LEXICON, play, troupe
from wordsight.inference import Limits, PrunedWarning, collect_losses, lattice_bytes, using_limits
from wordsight.meaning import WordLearner

SENTENCE = "The person lifted the crate."


@pytest.fixture(scope="module")
def lexicon():
    quick = {"restarts": 1, "tempered_iterations": 4, "iterations": 2, "discriminative": None}
    clips, sentences = troupe(18, tracked=False)
    return WordLearner(**quick).fit(clips, sentences, lexicon=LEXICON).lexicon_


def test_few_detections_give_nearly_the_same_and_say_what_they_lose(lexicon):
    clip = play("lifted", "crate", seed=50, tracked=False)
    whole, tracked = lexicon.score(clip, SENTENCE), lexicon.track(clip, SENTENCE)
    assert whole.lost_mass == tracked.lost_mass == 0.0
    with using_limits(Limits(most_detections=3)), warnings.catch_warnings():
        warnings.simplefilter("error", PrunedWarning)
        some, followed = lexicon.score(clip, SENTENCE), lexicon.track(clip, SENTENCE)
        (hit,) = lexicon.search([clip], SENTENCE, top=1)
    assert 0 < some.lost_mass < 1
    # What is left out is bounded, so the log ratio is off by that much at most.
    assert some.log_ratio <= whole.log_ratio <= some.log_ratio - np.log1p(-some.lost_mass) + 1e-9
    # A hit is scored on the best choice of detections, and that is proven to be the best of all.
    assert followed.lost_mass >= some.lost_mass and hit.lost_mass == 0.0
    assert hit.score == some.score
    for one, other in zip(followed.tracks, tracked.tracks, strict=True):
        assert np.mean(np.isin(one.times, other.times)) > 0.9


def test_a_clip_that_does_not_fit_is_scored_and_the_bound_is_told(lexicon):
    clip = play("lifted", "crate", seed=51, tracked=False, frames=60)
    seen = lexicon.observe(clip)
    lattice = lexicon.scorer(seen).lattice(lexicon.sentence(SENTENCE))
    whole = lexicon.score(clip, SENTENCE)
    with using_limits(Limits(max_bytes=lattice_bytes(lattice, frames_kept=False) - 1)):
        some = lexicon.score(clip, SENTENCE)
        with pytest.warns(PrunedWarning, match="at most"):
            lexicon.scorer(seen).log_ratios([lexicon.sentence(SENTENCE)])
    assert some.lost_mass > 0 and some.log_ratio <= whole.log_ratio + 1e-9


@pytest.mark.slow
def test_learning_goes_on_with_clips_that_do_not_fit():
    quick = {"restarts": 1, "tempered_iterations": 1, "iterations": 1, "discriminative": None}
    clips, sentences = troupe(6, tracked=False)
    with using_limits(Limits(most_detections=4)), warnings.catch_warnings():
        warnings.simplefilter("ignore", PrunedWarning)
        few = WordLearner(**quick).fit(clips, sentences, lexicon=LEXICON)
    whole = WordLearner(**quick).fit(clips, sentences, lexicon=LEXICON)
    # Objectives of fewer explanations are lower, if only by the little that was left out.
    assert few.histories_[0][0] <= whole.histories_[0][0] + 1e-9
    np.testing.assert_allclose(few.histories_[0], whole.histories_[0], rtol=0.2)


def test_given_tracks_are_limited_too(lexicon):
    clip = play("lifted", "crate", seed=50, tracked=True)
    whole, tracked = lexicon.score(clip, SENTENCE), lexicon.track(clip, SENTENCE)
    with using_limits(Limits(most_detections=2)):
        some, followed = lexicon.score(clip, SENTENCE), lexicon.track(clip, SENTENCE)
        with collect_losses() as losses:
            things, _ = lexicon.scorer(clip).posteriors(lexicon.sentence(SENTENCE))
    # Words that know their things leave less to others than a number can tell from 0.
    assert losses == [some.lost_mass] and 0 <= some.lost_mass < 1e-6
    assert some.log_ratio <= whole.log_ratio <= some.log_ratio - np.log1p(-some.lost_mass) + 1e-9
    assert things.shape[2] == lexicon.observe(clip).num_objects
    np.testing.assert_allclose(things.sum(axis=2), 1.0)
    assert ((things > 0).sum(axis=2) <= 2).all()
    for one, other in zip(followed.tracks, tracked.tracks, strict=True):
        np.testing.assert_array_equal(one.boxes, other.boxes)
