"""The E-step wherever it runs gives the same digits, and words share what is common to them."""

from dataclasses import replace

import numpy as np
import pytest

from tests.meaning.plays import LEXICON, play, troupe
from wordsight.engine import Processes, Serial
from wordsight.meaning import ON_CUT_CLIPS, WordLearner
from wordsight.meaning.training.em import expected_counts, m_step, shared_distributions
from wordsight.meaning.training.learner import prepare_training
from wordsight.meaning.training.settings import WordSmoothing

QUICK = {"restarts": 1, "tempered_iterations": 2, "iterations": 2, "discriminative": None}


def learned(clips, sentences, discriminative=None, **where):
    quick = QUICK | {"discriminative": discriminative}
    learner = WordLearner(**quick, **where).fit(clips, sentences, lexicon=LEXICON)
    return learner.histories_, learner.lexicon_


def largest_gap(one, other):
    return max(
        float(np.abs(a - b).max())
        for word in one.words
        for a, b in zip(one[word].emissions, other[word].emissions, strict=True)
    )


@pytest.mark.slow
@pytest.mark.parametrize("tracked", [True, False], ids=["tracks", "loose"])
def test_engines_learn_the_same(tracked):
    clips, sentences = troupe(36, tracked=tracked)
    history, lexicon = learned(clips, sentences)
    for engine in (Serial(), Processes(2)):
        found, other = learned(clips, sentences, engine=engine)
        assert found == history
        assert largest_gap(lexicon, other) == 0.0


@pytest.mark.slow
@pytest.mark.parametrize("by", ["gradient", "growth"])
def test_engines_train_against_false_sentences_with_the_same_digits(by):
    clips, sentences = troupe(36)
    _, start = learned(clips, sentences)
    _, lexicon = learned(clips, sentences, by)
    assert largest_gap(start, lexicon) > 1e-3  # it was trained
    _, other = learned(clips, sentences, by, engine=Processes(2))
    assert largest_gap(lexicon, other) == 0.0
    assert lexicon.calibration.scales == other.calibration.scales


@pytest.mark.slow
def test_a_cluster_learns_the_same():
    pytest.importorskip("distributed", reason="the extra 'dask' is not installed")
    from wordsight.engine.cluster import Cluster

    clips, sentences = troupe(36)
    history, lexicon = learned(clips, sentences)
    _, sharper = learned(clips, sentences, "gradient")
    with Cluster(workers=2) as cluster:
        found, other = learned(clips, sentences, engine=cluster)
        _, sharp = learned(clips, sentences, "gradient", engine=cluster)
    assert found == history and largest_gap(lexicon, other) == 0.0
    assert largest_gap(sharper, sharp) == 0.0


def test_a_device_learns_nearly_the_same():
    pytest.importorskip("torch", reason="the extra 'gpu' (torch) is not installed")
    clips, sentences = troupe(12, tracked=False)
    history, lexicon = learned(clips, sentences)
    found, other = learned(clips, sentences, device="torch-cpu")
    np.testing.assert_allclose(found[0], history[0], rtol=1e-3)
    assert largest_gap(lexicon, other) < 1e-2


def test_words_share_what_they_have_in_common_as_far_as_each_was_observed():
    clips, sentences = troupe(8, frames=12)
    settings = replace(ON_CUT_CLIPS, **QUICK)
    learner = WordLearner(settings).fit(clips, sentences, lexicon=LEXICON)
    said = [[sentence] for sentence in sentences]
    corpus, _ = prepare_training(clips, said, LEXICON, settings)
    lexicon, smoothing = learner.lexicon_, settings.smoothing
    fixed = lexicon.background, smoothing
    _, counts = expected_counts(corpus.examples, lexicon.tables, lexicon.track_prior)
    shared = shared_distributions(lexicon.tables, counts, *fixed)
    for mean in shared.values():
        np.testing.assert_allclose(mean.sum(axis=1), 1.0)
    assert shared_distributions(lexicon.tables, counts, fixed[0], WordSmoothing()) == {}
    # A word that was never observed means what all have in common, and a share of background.
    silent = {**counts, "lowered": lexicon.tables["lowered"].zero_counts()}
    shared = shared_distributions(lexicon.tables, silent, *fixed)
    word = m_step(lexicon.tables, silent, *fixed, shared=shared)["lowered"]
    for slot, emission in zip(word.slots, word.emissions, strict=True):
        background = lexicon.background[slot.feature]
        common = shared[word.part, word.num_states, slot]
        expected = background + smoothing.shared * (common - background)
        np.testing.assert_allclose(emission, expected)


@pytest.mark.slow
def test_a_verb_said_once_is_chosen_beside_one_said_often():
    verbs = ["lifted", *["lowered"] * 5, *["approached"] * 3]
    clips = [play(verb, seed=n) for n, verb in enumerate(verbs)]
    learner = WordLearner(ON_CUT_CLIPS, restarts=1)
    learner.fit(clips, [f"the person {verb} the ball" for verb in verbs], lexicon=LEXICON)
    asked = [f"the person {verb} the ball" for verb in ("lifted", "lowered", "approached")]
    for n, verb in enumerate(("lifted", "lowered") * 3, start=20):
        chosen = learner.lexicon_.choose(play(verb, seed=n), asked)
        assert asked[chosen] == f"the person {verb} the ball"
