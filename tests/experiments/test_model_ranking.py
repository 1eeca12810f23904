"""Ranking by models: what the formulas say."""

import numpy as np
import pytest

from experiments.baselines.model_ranking import ala_scores, document_generation
from tests.retrieval.visual.test_scoring import some_mixtures, some_samples
from wordsight.inference.mixtures.gaussian import Mixtures
from wordsight.retrieval.visual import PackedMixtures


def plain_ala(query, document):
    """The formula, word by word."""
    total = 0.0
    for c in range(query.num_components):
        mean, variance = query.means[0, c], query.variances[0, c]
        away = ((mean - document.means[0]) ** 2 / document.variances[0]).sum(axis=1)
        b = int(np.argmin(away))
        wide = document.variances[0, b]
        density = -0.5 * (np.log(2 * np.pi * wide).sum() + away[b])
        trace = 0.5 * (variance / wide).sum()
        weight = np.log(document.weights[0, b])
        total += query.weights[0, c] * (weight + density - trace)
    return total


def test_ala_is_what_its_formula_says():
    query = some_mixtures(1, seed=7)
    documents = PackedMixtures.pack(some_mixtures(20))
    expected = [plain_ala(query, documents.mixtures()[d]) for d in range(20)]
    np.testing.assert_allclose(ala_scores(query, documents), expected, atol=1e-9)


def test_ala_tends_to_the_likelihood_where_components_are_apart():
    means = np.arange(3)[:, None] * 50.0 + np.zeros((1, 2))
    mixture = Mixtures([[0.2, 0.3, 0.5]], means[None], np.full((1, 3, 2), 0.5))
    samples, _ = mixture.draw(0, 200_000, np.random.default_rng(0))
    sampled = mixture.log_densities(samples).mean()
    assert ala_scores(mixture, PackedMixtures.pack(mixture))[0] == pytest.approx(sampled, abs=0.01)


def test_document_generation_divides_by_the_background():
    query = PackedMixtures.pack(some_mixtures(1))
    documents = [some_samples(30, seed=s) for s in range(3)]
    backgrounds = [np.full(30, -6.0)] * 3
    for scores, expected in (
        (
            document_generation(query, documents, backgrounds, 0.7),
            [
                np.log(0.7 * np.exp(query.mixtures().log_densities(d)[0] + 6.0) + 0.3).mean()
                for d in documents
            ],
        ),
        (
            document_generation(query, documents, None, 0.7),
            [query.mixtures().log_densities(d)[0].mean() for d in documents],
        ),
    ):
        np.testing.assert_allclose(scores, expected, atol=1e-9)
