"""Mass and shares of two-stage smoothing, learned by EM from left-out words."""

import numpy as np
import pytest

from wordsight.errors import RetrievalError
from wordsight.inference import ConvergenceMonitor
from wordsight.retrieval.text import (
    LanguageModel,
    Levels,
    Postings,
    Shard,
    TwoStage,
    fit_mixing_weights,
    fit_two_stage,
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


def learned(levels, **settings):
    shares = LanguageModel([Shard(levels)], background="documents").shares()
    return fit_two_stage(levels, shares, **settings)


@pytest.mark.parametrize("words", [0.0, 200.0])
def test_likelihood_never_falls(words):
    monitor = ConvergenceMonitor(tolerance=1e-9, falling="raise")
    learned(topical(np.random.default_rng(1)), words=words, monitor=monitor)
    assert monitor.num_iterations > 3
    assert np.all(np.diff(monitor.history) >= -1e-12)


def test_the_scene_counts_where_scenes_share_words():
    shared = learned(topical(np.random.default_rng(2)))
    unrelated = learned(topical(np.random.default_rng(2), own=0.0))
    assert shared.weights[0] > 0.3
    assert unrelated.weights[0] < 0.1
    assert LanguageModel([Shard(topical(np.random.default_rng(2)))], shared).num_documents == 120


def test_the_mass_is_the_best_of_all_masses():
    levels = topical(np.random.default_rng(3), length=30)
    flat = Levels(levels.postings[:1], levels.owners[:1])
    shares = flat.postings[0].probabilities
    found = fit_two_stage(flat, shares)
    numbers, documents, counts = flat.postings[0].triples()

    def left_out(mass):
        lengths = flat.postings[0].lengths[documents]
        chance = (counts - 1 + mass * shares[numbers]) / (lengths - 1 + mass)
        return counts @ np.log(chance)

    grid = np.geomspace(0.1, 1e4, 400)
    best = grid[np.argmax([left_out(mass) for mass in grid])]
    assert found.mass == pytest.approx(best, rel=0.05)


def test_the_share_is_what_halves_of_texts_have_not_in_common():
    rng = np.random.default_rng(4)
    alike = [[f"t{n}w{w}" for w in rng.integers(0, 3, 40)] for n in range(30)]
    common = [[f"w{w}" for w in rng.integers(0, 400, 40)] for _ in range(30)]
    assert learned(Levels.flat(Postings.build(alike))).share < 0.1
    assert learned(Levels.flat(Postings.build(common))).share > 0.9


def test_a_prior_holds_where_there_are_few_words():
    few = Levels.flat(Postings.build([["red", "cup"], ["blue", "cup"]]))
    found = learned(few, prior=TwoStage(80.0, 0.6), words=200.0)
    assert found.mass == pytest.approx(2.0)  # no more than the texts have words
    assert found.share == pytest.approx(0.6, abs=0.02)


def test_nothing_to_learn_from():
    empty = Levels.flat(Postings.build([[]]))
    with pytest.raises(RetrievalError, match="without a single word"):
        fit_two_stage(empty, np.zeros(0))


def test_titles_count_as_much_as_what_is_expected_of_them():
    """Their words never come twice: left out one at a time, they would say nothing."""
    rng = np.random.default_rng(0)
    names = [f"w{n}" for n in range(200)]
    titles = [[names[n] for n in rng.permutation(200)[:size]] for size in (4, 12) * 60]
    found = learned(Levels.flat(Postings.build(titles)), prior=TwoStage(100.0, 0.7), words=200.0)
    assert found.mass == pytest.approx(2 / (1 / 4 + 1 / 12))
    assert found.share == pytest.approx(0.7, abs=0.01)  # none is long enough to be halved
