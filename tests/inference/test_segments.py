"""Semi-Markov chains against the sum over every segmentation."""

from itertools import chain as chained
from itertools import combinations, pairwise, product

import numpy as np
import pytest

from wordsight.inference.chains.segments import SegmentChain, segment_counts
from wordsight.inference.lattice.model import LatticeError


def every_segmentation(edges, states):
    inner = range(1, edges - 1)
    for cuts in chained.from_iterable(combinations(inner, size) for size in range(edges - 1)):
        stretches = list(pairwise([0, *cuts, edges - 1]))
        for chosen in product(range(states), repeat=len(stretches)):
            yield cuts, stretches, chosen


def weight_of(logs, ticks, edges, chain, cuts, stretches, chosen):
    weight = chain.initial[chosen[0]] + chain.final[chosen[-1]]
    weight += sum(chain.transition[a, b] for a, b in pairwise(chosen))
    weight += sum(edges[cut] for cut in cuts)
    lasting = 1.0
    for state, (first, last) in zip(chosen, stretches, strict=True):
        weight += logs[first:last, state].sum()
        length = ticks[last] - ticks[first]
        lasting *= chain.durations[state, length] if length < chain.durations.shape[1] else 0.0
    return np.exp(weight) * lasting


@pytest.mark.parametrize("longest", [20, 6])  # all durations possible; long ones impossible
def test_expectations_agree_with_all_segmentations(longest):
    chance = np.random.default_rng(5)
    logs, edges = chance.normal(size=(5, 3)), chance.normal(size=6)
    ticks = np.array([0, 2, 3, 3, 8, 11])
    transition = chance.normal(size=(3, 3))
    transition[1, 0] = -np.inf
    chain = SegmentChain(
        chance.random((3, longest)), transition, chance.normal(size=3), chance.normal(size=3)
    )
    total, states, starts, changes = 0.0, np.zeros((5, 3)), np.zeros((6, 3)), np.zeros(6)
    for cuts, stretches, chosen in every_segmentation(6, 3):
        weight = weight_of(logs, ticks, edges, chain, cuts, stretches, chosen)
        total += weight
        changes[list(cuts)] += weight
        for state, (first, last) in zip(chosen, stretches, strict=True):
            states[first:last, state] += weight
            starts[first, state] += weight
    counts = segment_counts(logs, ticks, edges, chain)
    assert counts.log_likelihood == pytest.approx(np.log(total), abs=1e-10)
    np.testing.assert_allclose(counts.states, states / total, atol=1e-10)
    np.testing.assert_allclose(counts.starts, starts / total, atol=1e-10)
    np.testing.assert_allclose(counts.boundaries, changes / total, atol=1e-10)


def test_an_hour_of_strong_evidence_stays_exact():
    # Two thousand units, each thirty nats for one state: sums must neither vanish nor overflow.
    truth = np.repeat(np.arange(10), 200)
    logs = np.where(truth[:, None] == np.arange(10), 0.0, -30.0)
    transition = np.where(np.eye(10, k=1) > 0, 0.0, -np.inf)
    ends = np.full(10, -np.inf)
    ends[0] = 0.0
    chain = SegmentChain(np.ones((10, 2001)), transition, ends, ends[::-1].copy())
    counts = segment_counts(logs, np.arange(2001), np.zeros(2001), chain)
    assert np.array_equal(counts.states.argmax(axis=1), truth)
    np.testing.assert_allclose(counts.states.sum(axis=1), 1.0, atol=1e-12)


def test_what_cannot_be_is_said():
    chain = SegmentChain(np.ones((2, 3)), np.zeros((2, 2)), np.zeros(2), np.zeros(2))
    counts = segment_counts(np.zeros((1, 2)), np.array([0, 9]), np.zeros(2), chain)
    assert counts.log_likelihood == -np.inf and not counts.states.any()
    with pytest.raises(LatticeError, match="order of time"):
        segment_counts(np.zeros((1, 2)), np.array([4, 1]), np.zeros(2), chain)
    with pytest.raises(LatticeError, match="edges"):
        segment_counts(np.zeros((3, 2)), np.array([0, 1]), np.zeros(2), chain)
