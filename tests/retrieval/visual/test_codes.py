"""Codes of mixtures: sums of what is looked up, and a first look that finds what counts."""

import numpy as np
import pytest

from tests.retrieval.pictures import SETTINGS, make_index
from wordsight.inference.mixtures.gaussian import Mixtures
from wordsight.retrieval.index.segments import LiveSegment
from wordsight.retrieval.visual import PackedMixtures, VisualPart, smoothed_gains
from wordsight.retrieval.visual.codes import code_gains, code_mixtures


def some_mixtures(count, dimensions=14, seed=0):
    rng = np.random.default_rng(seed)
    looks = rng.normal(size=(40, dimensions))
    means = looks[rng.integers(40, size=(count, 4))] + 0.05 * rng.normal(
        size=(count, 4, dimensions)
    )
    variances = rng.uniform(0.2, 0.6, means.shape)
    return Mixtures(rng.dirichlet(np.ones(4), count), means, variances)


@pytest.mark.parametrize("unknown", [(), (12, 13), tuple(range(3))], ids=str)
def test_gains_are_those_of_the_coded_mixtures(unknown):
    coded = code_mixtures(PackedMixtures.pack(some_mixtures(60)))
    values = np.random.default_rng(1).normal(size=(7, 14))
    values[:, list(unknown)] = np.nan
    known = [n for n in range(14) if n not in unknown]
    offset, shares = np.linspace(0, 20, 7), np.linspace(1, 2, 7)
    groups = np.repeat(np.arange(5), [3, 3, 3, 3, 2])
    wanted = []
    for document in range(60):
        best = np.zeros(7)
        for c in range(4):
            log = np.full(7, coded["code_weights"][document, c], np.float64) + offset
            for n in known:
                mean, spread = coded["codebook"][n, coded["codes"][document, c, groups[n]]]
                away = (values[:, n] - mean) ** 2 / np.exp(spread)
                log -= 0.5 * (np.log(2 * np.pi) + spread + away)
            best = np.maximum(best, log)
        wanted.append(best @ shares)
    arrays = (coded["codes"], coded["code_weights"], coded["codebook"])
    found = code_gains(*arrays, values, offset, shares)
    # Five numbers and a weight are rounded to a 64th of a nat, for samples that count 10.5.
    np.testing.assert_allclose(found, wanted, atol=10.5 * 6 / 128)


def test_codes_find_what_the_models_find():
    mixtures = some_mixtures(2000)
    packed = PackedMixtures.pack(mixtures)
    coded = code_mixtures(packed)
    arrays = (coded["codes"], coded["code_weights"], coded["codebook"])
    rng = np.random.default_rng(2)
    for query in range(5):
        values = mixtures.draw(query, 32, rng)[0]
        background = np.full(32, -15.0)
        exact = smoothed_gains(packed, values, background, 0.9)
        found = code_gains(*arrays, values, np.log(9) - background, np.full(32, 1 / 32))
        best = set(np.argsort(-exact)[:10].tolist())
        assert len(best & set(np.argsort(-found)[:60].tolist())) >= 9


def test_large_segments_are_coded_when_they_are_merged(tmp_path, monkeypatch):
    index = make_index(tmp_path, {"a": 30, "b": 30})
    part = VisualPart(SETTINGS)
    monkeypatch.setattr("wordsight.retrieval.visual.part.FEWEST_CODED", 50)
    merged = part.merge(index.segments)
    assert merged.arrays["codes"].shape == (60, 3, 5)
    few = part.merge([LiveSegment(index.segments[0].segment, np.arange(5))])
    assert "codes" not in few.arrays


def test_more_samples_than_one_look_has_count_as_in_two():
    coded = code_mixtures(PackedMixtures.pack(some_mixtures(100)))
    arrays = (coded["codes"], coded["code_weights"], coded["codebook"])
    values = np.random.default_rng(1).normal(size=(100, 14))
    offset, shares = np.full(100, 15.0), np.full(100, 0.01)
    first = code_gains(*arrays, values[:64], offset[:64], shares[:64])
    second = code_gains(*arrays, values[64:], offset[64:], shares[64:])
    together = code_gains(*arrays, values, offset, shares)
    np.testing.assert_allclose(together, first + second, rtol=1e-5)
