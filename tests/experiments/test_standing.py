"""Two likelihoods beside what others ask: what the formula says, and that it ranks well."""

import numpy as np
import pytest

from experiments.baselines.standing import SAMPLES, Standing
from experiments.skies import measure
from tests.retrieval.visual.test_scoring import some_mixtures
from wordsight.retrieval.visual import PackedMixtures, VisualSmoothing, log_densities
from wordsight.retrieval.visual.scoring import evenly_spread

FLOOR = 0.2


def member(packed, values, query, kappa, focus):
    """The likelihood of a picture under every document, one sample after another."""
    logs = log_densities(packed, values)
    others = [d for d in range(len(packed)) if d != query]
    total = np.zeros(len(packed))
    told, gains = [], []
    for column in logs.T:
        densities = np.exp(column[others])
        posterior = densities / densities.sum()
        told.append(np.log(len(others)) + (posterior * np.log(posterior)).sum())
        ratios = np.exp(column) / densities.mean()
        gains.append(np.log(kappa * ratios + 1 - kappa) if kappa else np.log(ratios))
    weights = VisualSmoothing(0.5, focus).weights(np.array(told)) if focus else np.ones(len(told))
    for weight, gain in zip(weights, gains, strict=True):
        total += weight * gain / len(told)
    return total


def plain_standing(packed, bags, query, focus):
    """The formula, word by word."""
    count = len(packed)
    total = np.zeros(count)
    for share, kappa, exponent in ((1.0, None, 0.0), (2.0, 0.1, focus)):

        def given(picture, values, kappa=kappa, exponent=exponent):
            scores = member(packed, values, picture, kappa, exponent)
            some = np.delete(scores, picture)
            return (scores - some.mean()) / some.std()

        own = given(query, bags[query])
        few = [bag[evenly_spread(len(bag), SAMPLES)] for bag in bags]
        asked = np.array([given(picture, few[picture]) for picture in range(count)])
        for document in range(count):
            others = [p for p in range(count) if p not in (document, query)]
            heard = asked[others, document]
            total[document] += share * (own[document] - heard.mean()) / np.sqrt(heard.std())
    return total


def test_standing_is_what_its_formula_says():
    mixtures = some_mixtures(12, seed=3)
    random = np.random.default_rng(0)
    bags = [mixtures[d].draw(0, 40, random)[0] for d in range(12)]
    packed = PackedMixtures.pack(mixtures)
    standing = Standing(packed, bags, FLOOR)
    for query in (0, 5):
        expected = plain_standing(packed, bags, query, standing.focus)
        found = standing.scores(query)
        others = np.arange(12) != query
        np.testing.assert_allclose(found[others], expected[others], rtol=1e-6)


@pytest.mark.slow
def test_standing_is_near_the_best_where_a_quarter_has_a_sky():
    (row,) = measure(seeds=(7,), common=(0.25,), floors=(0.2,))
    assert row["standing"] > row["best_kappa"] - 0.02
    assert row["standing"] > row["plain"] + 0.05
