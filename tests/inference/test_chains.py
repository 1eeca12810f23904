"""Chains against enumeration of every state sequence, and the two implementations together."""

from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wordsight.inference.chains.hmm import chain_counts, chain_paths, chain_scores
from wordsight.inference.lattice.model import LatticeError


def chains(seed, frames, count, states, left_to_right):
    """Random chains; left-to-right ones must end in their last state."""
    rng = np.random.default_rng(seed)
    logs = rng.normal(0, 3, (frames, count, states))
    initial, transition = rng.random(states), rng.random((states, states))
    final = np.ones(states)
    if left_to_right:
        transition, final = np.triu(transition), np.eye(states)[-1]
    return logs, initial / initial.sum(), transition / transition.sum(1, keepdims=True), final


def enumerated(logs, initial, transition, final):
    """Every state sequence with the log weight of it in every chain."""
    frames, count, states = logs.shape
    for sequence in product(range(states), repeat=frames):
        weight = initial[sequence[0]] * final[sequence[-1]]
        for before, after in pairwise(sequence):
            weight *= transition[before, after]
        total = logs[np.arange(frames), :, sequence].sum(axis=0)
        yield sequence, weight * np.exp(total) * np.ones(count)


some_chains = st.builds(
    chains, st.integers(0, 999), st.integers(1, 4), st.integers(1, 3), st.integers(1, 3),
    st.booleans(),
)  # fmt: skip


@settings(deadline=None)
@given(some_chains)
@pytest.mark.parametrize("backend", ["compiled", "reference"])
def test_scores_equal_enumeration(backend, problem):
    expected = sum(weight for _, weight in enumerated(*problem))
    assert np.exp(chain_scores(*problem, backend=backend)) == pytest.approx(expected, rel=1e-10)


@settings(deadline=None)
@given(some_chains, st.integers(0, 99))
@pytest.mark.parametrize("backend", ["compiled", "reference"])
def test_counts_equal_enumeration(backend, problem, seed):
    logs = problem[0]
    shares = np.random.default_rng(seed).normal(size=logs.shape[1])
    total = sum(weight for _, weight in enumerated(*problem))
    states, steps = np.zeros(logs.shape), np.zeros_like(problem[2])
    for sequence, weight in enumerated(*problem):
        part = shares * weight / total
        for t, state in enumerate(sequence):
            states[t, :, state] += part
            if t:
                steps[sequence[t - 1], state] += part.sum()
    counted = chain_counts(*problem, shares, backend=backend)
    assert counted.states == pytest.approx(states, abs=1e-9)
    assert counted.steps == pytest.approx(steps, abs=1e-9)


@given(some_chains)
def test_best_path_is_the_heaviest_sequence(problem):
    scores, states = chain_paths(*problem)
    for n in range(problem[0].shape[1]):
        best, weight = max(
            ((sequence, weights[n]) for sequence, weights in enumerated(*problem)),
            key=lambda pair: pair[1],
        )
        assert np.exp(scores[n]) == pytest.approx(weight)
        assert tuple(states[:, n]) == best
    assert (scores <= chain_scores(*problem, backend="reference") + 1e-12).all()


@pytest.mark.parametrize("backend", ["compiled", "reference"])
def test_an_impossible_chain_counts_nothing(backend):
    # One frame cannot both start in the first and end in the last state.
    logs, start, stay = np.zeros((1, 2, 2)), np.array([1.0, 0.0]), np.eye(2)
    end = np.array([0.0, 1.0])
    assert (chain_scores(logs, start, stay, end, backend=backend) == -np.inf).all()
    counted = chain_counts(logs, start, stay, end, np.ones(2), backend=backend)
    assert not counted.states.any() and not counted.steps.any()


def test_very_unlikely_frames_do_not_underflow():
    logs = np.full((500, 1, 2), -1e4)
    assert chain_scores(logs, np.ones(2) / 2, np.ones((2, 2)) / 2, np.ones(2)) == pytest.approx(
        -500 * 1e4
    )


def test_shapes_are_checked():
    with pytest.raises(LatticeError, match="2 states"):
        chain_scores(np.zeros((1, 1, 3)), np.ones(2), np.ones((2, 2)), np.ones(2))
    with pytest.raises(LatticeError, match="transition"):
        chain_scores(np.zeros((1, 1, 2)), np.ones(2), np.ones((3, 3)), np.ones(2))
