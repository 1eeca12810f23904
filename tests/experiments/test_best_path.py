"""The best single path through a lattice, beside all paths."""

from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from experiments.baselines.best_path import best_path


@pytest.mark.slow
@given(st.integers(0, 2**32 - 1), st.lists(st.integers(1, 4), min_size=1, max_size=5))
@settings(max_examples=80, deadline=None)
def test_no_path_gains_more(seed, widths):
    rng = np.random.default_rng(seed)
    nodes = [rng.normal(size=width) for width in widths]
    links = [rng.normal(size=pair) for pair in pairwise(widths)]

    def gain(path):
        return sum(n[j] for n, j in zip(nodes, path, strict=True)) + sum(
            g[i, j] for g, i, j in zip(links, path[:-1], path[1:], strict=True)
        )

    path, score = best_path(nodes, links)
    best = max(product(*(range(width) for width in widths)), key=gain)
    assert tuple(path.tolist()) == best
    assert score == pytest.approx(gain(best))


def test_forbidden_links_are_never_taken():
    links = [np.array([[-np.inf, 0.0], [0.0, -np.inf]])] * 2
    path, _ = best_path([np.array([5.0, 0.0]), np.array([5.0, 0.0]), np.array([0.0, 0.0])], links)
    assert path.tolist() in ([0, 1, 0], [1, 0, 1])


def test_no_allowed_path_scores_minus_infinity():
    assert best_path([np.zeros(1), np.zeros(1)], [np.full((1, 1), -np.inf)])[1] == -np.inf


def test_no_frames():
    path, score = best_path([], [])
    assert path.tolist() == []
    assert score == 0.0
