"""Clustering against brute force and scikit-free definitions."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from wordsight.perception.regions.codebook import kmeans, nearest, silhouette

POINTS = arrays(np.float64, (9, 2), elements=st.integers(-20, 20).map(float))


def best_cost(points, count):
    """Try every assignment of points to clusters."""
    least = np.inf
    for labels in product(range(count), repeat=len(points)):
        cost = 0.0
        for cluster in range(count):
            members = points[np.array(labels) == cluster]
            if len(members):
                cost += ((members - members.mean(axis=0)) ** 2).sum()
        least = min(least, cost)
    return least


@pytest.mark.slow
@given(POINTS)
def test_never_better_than_the_best_and_near_it_with_many_starts(points):
    points = points[:7]
    centres = kmeans(points, 2, np.random.default_rng(0), restarts=30)
    cost = nearest(points, centres)[1].sum()
    best = best_cost(points, 2)
    assert best - 1e-6 <= cost <= 1.3 * best + 1e-6


@pytest.mark.slow
@given(POINTS, POINTS)
def test_nearest_is_the_nearest(points, centres):
    index, squared = nearest(points, centres)
    full = ((points[:, None] - centres[None]) ** 2).sum(axis=2)
    np.testing.assert_allclose(squared, full.min(axis=1), atol=1e-8)
    np.testing.assert_allclose(full[np.arange(9), index], full.min(axis=1), atol=1e-8)


def test_many_points_are_compared_in_pieces(monkeypatch):
    monkeypatch.setattr("wordsight.perception.regions.codebook._CHUNK", 7)
    rng = np.random.default_rng(0)
    points, centres = rng.normal(size=(30, 3)), rng.normal(size=(4, 3))
    full = ((points[:, None] - centres[None]) ** 2).sum(axis=2)
    assert nearest(points, centres)[0].tolist() == full.argmin(axis=1).tolist()


def test_fewer_centres_where_there_are_fewer_different_points():
    points = np.repeat(np.eye(3), 5, axis=0)
    centres = kmeans(points, 10, np.random.default_rng(0))
    assert len(centres) == 3 and nearest(points, centres)[1].max() < 1e-9


def by_definition(points, labels):
    values = []
    for i, label in enumerate(labels):
        apart = np.linalg.norm(points - points[i], axis=1)
        own = (labels == label) & (np.arange(len(points)) != i)
        if not own.any():
            values.append(0.0)
            continue
        a = apart[own].mean()
        b = min(apart[labels == other].mean() for other in set(labels.tolist()) - {label})
        values.append((b - a) / max(a, b, 1e-12))
    return np.mean(values)


@pytest.mark.slow
@given(POINTS, st.lists(st.integers(0, 2), min_size=9, max_size=9))
def test_silhouette_by_its_definition(points, labels):
    labels = np.array(labels)
    if len(set(labels.tolist())) < 2:
        assert silhouette(points, labels) == 0
    else:
        assert silhouette(points, labels) == pytest.approx(by_definition(points, labels), abs=1e-6)
