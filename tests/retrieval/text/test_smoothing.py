"""Shares of shot, scene and collection, learned by EM."""

import numpy as np
import pytest

from wordsight.inference import ConvergenceMonitor
from wordsight.retrieval.errors import RetrievalError
from wordsight.retrieval.text import (
    LanguageModel,
    Levels,
    Postings,
    Shard,
    fit_interpolation,
    fit_mixing_weights,
)


def topical(rng, *, scenes=30, shots=4, length=6, own=0.5):
    """Shots whose words come half from a topic of their scene, half from anywhere."""
    texts = []
    for scene in range(scenes):
        for _ in range(shots):
            topic = rng.random(length) < own
            pick = np.where(topic, 100 + 5 * scene + rng.integers(0, 5, length), 0)
            texts.append([f"w{p or rng.integers(0, 50)}" for p in pick])
    postings, count = Postings.build(texts), scenes * shots
    owners = [np.arange(count), np.arange(count) // shots]
    return Levels.build(postings, owners, owners)


def test_finds_the_shares_words_were_drawn_with():
    rng = np.random.default_rng(0)
    models = rng.dirichlet(np.full(50, 0.1), 3)
    truth = np.array([0.2, 0.5, 0.3])
    counts = rng.multinomial(200_000, truth @ models)
    assert fit_mixing_weights(models.T, counts) == pytest.approx(truth, abs=0.01)


def test_likelihood_never_falls():
    monitor = ConvergenceMonitor(tolerance=1e-9, falling="raise")
    fit_interpolation(topical(np.random.default_rng(1)), monitor=monitor)
    assert monitor.num_iterations > 3
    assert np.all(np.diff(monitor.history) >= -1e-12)


def test_the_scene_counts_where_scenes_share_words():
    shared = fit_interpolation(topical(np.random.default_rng(2)))
    unrelated = fit_interpolation(topical(np.random.default_rng(2), own=0.0))
    assert shared.weights[1] > 0.3
    assert unrelated.weights[1] < 0.1
    assert LanguageModel([Shard(topical(np.random.default_rng(2)))], shared).num_documents == 120


def test_nothing_to_learn_from():
    empty = Levels.flat(Postings.build([[]]))
    with pytest.raises(RetrievalError, match="without a single word"):
        fit_interpolation(empty)
