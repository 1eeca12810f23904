"""Smoothing is learned from a collection: common content is discounted where it tells nothing."""

import numpy as np
import pytest

from wordsight.inference.mixtures.gaussian import Mixtures
from wordsight.retrieval import RetrievalError
from wordsight.retrieval.visual import (
    CollectionBackground,
    PackedMixtures,
    VisualSmoothing,
    learn_smoothing,
)
from wordsight.retrieval.visual.smoothing import CANDIDATES, neighbour_agreement

FLOOR = 0.2
KINDS, EACH = 8, 10


def landscapes(seed, *, kinds=KINDS, each=EACH):
    """Documents with a ground of their kind, and a larger sky whose shade is anything."""
    random = np.random.default_rng(seed)
    grounds = np.repeat(random.normal(0, 1.5, (kinds, 4)), each, axis=0)
    skies = np.array([4.0, 0.0, 0.0, 0.0]) + random.normal(0, 0.7, (kinds * each, 4))
    means = np.stack([skies, grounds + random.normal(0, 0.1, grounds.shape)], axis=1)
    weights = np.tile([0.6, 0.4], (len(means), 1))
    return Mixtures(weights, means, np.full(means.shape, FLOOR)), np.repeat(np.arange(kinds), each)


def precision(mixtures, kinds, smoothing):
    """Return how many of the nearest are of the same kind."""
    packed = PackedMixtures.pack(mixtures)
    background = CollectionBackground(packed, FLOOR)
    right = []
    for query, means in enumerate(mixtures.means):
        logs = mixtures.log_densities(means)
        ratios = logs - background.log_density(means)
        kappa, weights = smoothing.kappa, smoothing.weights(background.information(means))
        shares = mixtures.weights[query] * (1.0 if weights is None else weights)
        scores = np.log(1 - kappa + kappa * np.exp(ratios)) @ shares
        near = np.argsort(-scores)
        near = near[near != query][: EACH - 1]
        right.append((kinds[near] == kinds[query]).mean())
    return np.mean(right)


def test_a_sky_that_all_have_is_discounted():
    found, first, best = [], [], []
    for seed in range(6):
        mixtures, kinds = landscapes(seed)
        learned = learn_smoothing(PackedMixtures.pack(mixtures), FLOOR)
        found.append(precision(mixtures, kinds, learned))
        first.append(precision(mixtures, kinds, CANDIDATES[0]))
        best.append(max(precision(mixtures, kinds, VisualSmoothing(k)) for k in (0.1, 0.5, 0.9)))
    assert np.mean(found) > np.mean(best) - 0.02
    assert np.mean(found) > np.mean(first) + 0.05


def test_everything_counts_where_all_of_a_picture_is_of_its_kind():
    mixtures, _ = landscapes(0)
    means = np.repeat(mixtures.means[::EACH], EACH, axis=0)
    means = means + np.random.default_rng(1).normal(0, 0.05, means.shape)
    frames = Mixtures(mixtures.weights, means, mixtures.variances)
    assert learn_smoothing(PackedMixtures.pack(frames), FLOOR) == CANDIDATES[0]


def test_few_documents_teach_nothing():
    mixtures, _ = landscapes(0, kinds=2)
    assert learn_smoothing(PackedMixtures.pack(mixtures), FLOOR) == CANDIDATES[0]


def test_agreement_is_full_among_kinds_and_none_by_chance():
    kinds = np.repeat(np.arange(10), 10)
    same = (kinds[:, None] == kinds).astype(float)
    assert neighbour_agreement(same, (9,)) == pytest.approx(2.0)
    chance = [
        neighbour_agreement(np.random.default_rng(n).random((100, 100)), (9,)) for n in (0, 1)
    ]
    assert np.abs(chance).max() < 0.1


def test_information_is_none_for_what_all_have_and_full_for_what_one_has():
    means = np.array([[[0.0], [10.0 * n]] for n in range(1, 9)])
    packed = PackedMixtures.pack(Mixtures(np.full((8, 2), 0.5), means, np.full((8, 2, 1), FLOOR)))
    told = CollectionBackground(packed, FLOOR).information(np.array([[0.0], [30.0]]))
    np.testing.assert_allclose(told, [0.0, np.log(8)], atol=1e-6)


@pytest.mark.parametrize(("kappa", "focus"), [(0.0, 0.0), (1.0, 0.0), (0.5, -1.0)])
def test_impossible_smoothing_is_refused(kappa, focus):
    with pytest.raises(RetrievalError, match="kappa must be"):
        VisualSmoothing(kappa, focus)
