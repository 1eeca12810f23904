"""Chains of jumps against the sum over every path."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wordsight.inference.chains.segments import JumpChain, jump_counts, jump_path
from wordsight.inference.lattice.model import LatticeError


def chain_of(chance, places, offsets, *, gaps=False):
    initial, final = chance.normal(size=places), chance.normal(size=places)
    if gaps:
        initial[1:] = -np.inf
        final[:-1] = -np.inf
    return JumpChain(np.array(offsets), chance.normal(size=len(offsets)), initial, final)


def every_path(logs, chain):
    """Yield each path with its log weight, jumps that are not allowed left out."""
    jumps = dict(zip(chain.offsets.tolist(), chain.jumps, strict=True))
    for path in product(range(logs.shape[1]), repeat=len(logs)):
        moves = np.diff(path).tolist()
        if all(move in jumps for move in moves):
            weight = chain.initial[path[0]] + chain.final[path[-1]]
            weight += sum(jumps[move] for move in moves)
            yield path, weight + sum(logs[t, n] for t, n in enumerate(path))


CASES = [
    ((0, 1), False),  # onwards only
    ((0, 1), True),  # from the first place to the last
    ((0, 1, -1, 2, -2), False),  # both ways
    ((-1, 2), False),  # never staying
]


@pytest.mark.parametrize(("offsets", "gaps"), CASES)
def test_sums_and_best_path_agree_with_all_paths(offsets, gaps):
    chance = np.random.default_rng(3)
    logs = chance.normal(size=(5, 4))
    chain = chain_of(chance, 4, offsets, gaps=gaps)
    paths = list(every_path(logs, chain))
    weights = np.exp([weight for _, weight in paths])
    states, jumps = np.zeros(logs.shape), np.zeros(len(offsets))
    for (path, _), share in zip(paths, weights / weights.sum(), strict=True):
        states[np.arange(5), list(path)] += share
        for move in np.diff(path).tolist():
            jumps[list(offsets).index(move)] += share
    counts = jump_counts(logs, chain)
    assert counts.log_likelihood == pytest.approx(np.log(weights.sum()), abs=1e-12)
    np.testing.assert_allclose(counts.states, states, atol=1e-12)
    np.testing.assert_allclose(counts.jumps, jumps, atol=1e-12)
    best, path = jump_path(logs, chain)
    assert tuple(path.tolist()) == max(paths, key=lambda item: item[1])[0]
    assert best == pytest.approx(max(weight for _, weight in paths), abs=1e-12)


@given(st.integers(1, 30), st.integers(1, 8), st.integers(0, 10**6))
def test_posteriors_sum_to_one(chunks, places, seed):
    chance = np.random.default_rng(seed)
    counts = jump_counts(
        20 * chance.normal(size=(chunks, places)), chain_of(chance, places, (0, 1, -1))
    )
    np.testing.assert_allclose(counts.states.sum(axis=1), 1.0, atol=1e-9)
    assert counts.jumps.sum() == pytest.approx(chunks - 1, abs=1e-6)


def test_a_forced_end_far_from_the_evidence_is_not_lost():
    # Every chunk says "first place" by a thousand nats; the end is forced all the same.
    logs = np.tile([0.0, -1000.0, -1000.0], (50, 1))
    initial, final = np.array([0.0, -np.inf, -np.inf]), np.array([-np.inf, -np.inf, 0.0])
    counts = jump_counts(logs, JumpChain(np.array([0, 1]), np.zeros(2), initial, final))
    assert np.isfinite(counts.log_likelihood)
    np.testing.assert_allclose(counts.states[-1], [0, 0, 1], atol=1e-12)


def test_without_a_path_there_is_nothing_to_count():
    initial, final = np.array([0.0, -np.inf, -np.inf]), np.array([-np.inf, -np.inf, 0.0])
    chain = JumpChain(np.array([0, 1]), np.zeros(2), initial, final)
    counts = jump_counts(np.zeros((2, 3)), chain)
    assert counts.log_likelihood == -np.inf
    assert not counts.states.any() and not counts.jumps.any()
    assert jump_path(np.zeros((2, 3)), chain)[0] == -np.inf


def test_wrong_shapes_are_refused():
    chain = JumpChain(np.array([0, 1]), np.zeros(2), np.zeros(3), np.zeros(3))
    with pytest.raises(LatticeError, match="3 places"):
        jump_counts(np.zeros((4, 2)), chain)
    short = JumpChain(np.array([0, 1]), np.zeros(3), np.zeros(3), np.zeros(3))
    with pytest.raises(LatticeError, match="one weight per kind"):
        jump_counts(np.zeros((4, 3)), short)
