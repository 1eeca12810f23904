"""Whitening: the Cholesky and the SVD route agree, and hard sources take the safe one."""

import numpy as np
import pytest

from wordsight.attributes import CCA
from wordsight.attributes.grouping.cca import whitened, whitening


def source(rows, columns, seed=0):
    x = np.random.default_rng(seed).normal(size=(rows, columns)) @ np.diag(1 + np.arange(columns))
    return x - x.mean(axis=0)


@pytest.mark.parametrize("ridge", [0.0, 0.1, 0.5])
def test_both_routes_give_the_same_scatter(ridge):
    x = source(80, 7)
    fast = whitening(x, ridge)
    points, back = whitened(x, ridge)
    assert fast.known is None
    # They differ by a rotation only: what is projected back is the same.
    np.testing.assert_allclose(fast.points @ fast.points.T, points @ points.T, atol=1e-10)
    np.testing.assert_allclose(x @ back / np.sqrt(80), points, atol=1e-10)
    if not ridge:
        np.testing.assert_allclose(fast.points.T @ fast.points, np.eye(7), atol=1e-10)


@pytest.mark.parametrize(
    "x",
    [
        source(10, 30),  # more features than samples
        np.hstack([source(60, 4), source(60, 4)]),  # features twice
        np.hstack([source(60, 4), np.zeros((60, 1))]),  # a feature that never varies
        source(60, 4) * [1e-9, 1, 1, 1e9],  # scales far apart
        np.zeros((20, 3)),  # nothing varies
    ],
)
def test_hard_sources_are_whitened_by_svd(x):
    found = whitening(x, 0.0)
    assert found.known is not None
    kept = found.points.shape[1]
    np.testing.assert_allclose(found.points.T @ found.points, np.eye(kept), atol=1e-8)


@pytest.mark.parametrize("ridge", [(1e-9, 1e-9), (0.1, 0.5)])
def test_few_directions_equal_the_first_of_all(ridge):
    random = np.random.default_rng(3)
    shared = random.normal(size=(300, 4))
    x, y = (shared @ random.normal(size=(4, w)) + random.normal(size=(300, w)) for w in (30, 20))
    few, every = CCA(4, ridge=ridge).fit(x, y), CCA(20, ridge=ridge).fit(x, y)
    np.testing.assert_allclose(few.correlations_, every.correlations_[:4], atol=1e-10)
    np.testing.assert_allclose(few.transform_x(x), every.transform_x(x)[:, :4], atol=1e-7)
    np.testing.assert_allclose(few.transform_y(y), every.transform_y(y)[:, :4], atol=1e-7)
    swapped = CCA(4, ridge=ridge[::-1]).fit(y, x)  # the wider source second
    np.testing.assert_allclose(swapped.correlations_, few.correlations_, atol=1e-10)
