"""A semi-Markov chain: each state holds for a stretch whose duration has a distribution of its own.

States are the steps of a procedure; stretches begin and end only at given edges, and a duration is
counted in ticks of the clock. Exact sums over all segmentations.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wordsight.inference.lattice.model import LatticeError

__all__ = ["SegmentChain", "SegmentCounts", "segment_counts"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class SegmentChain:
    """The parameters of a semi-Markov chain of K states, logarithms but for the durations.

    Attributes:
        durations: ``(K, G)`` weight (no logarithm) of a stretch of each state lasting 0 .. G - 1
            ticks; longer ones are impossible.
        transition: ``(K, K)`` log weight of state (column) after state (row).
        initial: ``(K,)`` log weight of each state at the first edge.
        final: ``(K,)`` log weight of each state at the last edge.
    """

    durations: Array
    transition: Array
    initial: Array
    final: Array


@dataclass(frozen=True)
class SegmentCounts:
    """What the chain expects.

    Attributes:
        log_likelihood: Log weight of all segmentations; ``-inf`` if there is none, and then all
            counts are zero.
        states: ``(E - 1, K)`` posterior of each state between neighbouring edges.
        starts: ``(E, K)`` probability that a stretch of a state begins at an edge.
        boundaries: ``(E,)`` probability that one stretch gives way to another at an edge.
    """

    log_likelihood: float
    states: Array
    starts: Array
    boundaries: Array


def segment_counts(
    logs: Array, ticks: NDArray[np.int64], edges: Array, chain: SegmentChain
) -> SegmentCounts:
    """Return the expectations of a semi-Markov chain.

    Args:
        logs: ``(E - 1, K)`` log weight of each state between neighbouring edges.
        ticks: ``(E,)`` when each edge is, in ticks; never falls.
        edges: ``(E,)`` log weight of a change of stretch at an edge; first and last do not count.
        chain: The states.
    """
    cumulative = _checked(logs, ticks, edges, chain)
    reach = chain.durations.shape[1] - 1
    starts, ends, total = _pass(cumulative, ticks, edges, chain, chain.initial, chain.final, reach)
    if total == -np.inf:
        shape = (len(ticks), len(chain.initial))
        return SegmentCounts(total, np.zeros(logs.shape), np.zeros(shape), np.zeros(len(ticks)))
    turned = SegmentChain(
        chain.durations, np.ascontiguousarray(chain.transition.T), chain.final, chain.initial
    )
    back = np.ascontiguousarray((cumulative[:, -1:] - cumulative)[:, ::-1])
    late, early, _ = _pass(
        back, ticks[-1] - ticks[::-1], edges[::-1], turned, chain.final, chain.initial, reach
    )
    begun = np.exp(starts + early[:, ::-1] - total).T
    ended = np.exp(ends + late[:, ::-1] - total).T
    states = np.clip(np.cumsum(begun - ended, axis=0)[:-1], 0.0, None)
    boundaries = begun.sum(axis=1)
    boundaries[[0, -1]] = 0.0
    total += float(logs.max(axis=1).sum())  # what _checked took off
    return SegmentCounts(
        total, states / states.sum(axis=1, keepdims=True), begun, np.clip(boundaries, 0.0, 1.0)
    )


def _pass(
    cumulative: Array,
    ticks: NDArray[np.int64],
    edges: Array,
    chain: SegmentChain,
    initial: Array,
    final: Array,
    reach: int,
) -> tuple[Array, Array, float]:
    from wordsight.inference.chains.kernels import forward_of_segments

    ticks = np.ascontiguousarray(ticks)
    first = np.searchsorted(ticks, ticks - reach)
    starts, ends = np.empty(cumulative.shape), np.empty(cumulative.shape)
    forward_of_segments(
        cumulative,
        ticks,
        chain.durations,
        np.ascontiguousarray(edges),
        chain.transition,
        _sources(chain.transition),
        initial,
        first,
        starts,
        ends,
    )
    # Nothing begins at the last edge, and nothing may end there but as the last state.
    starts[:, -1] = -np.inf
    last = ends[:, -1] + final
    top = last.max()
    total = float(top + np.log(np.exp(last - top).sum())) if top > -np.inf else -np.inf
    return starts, ends, total


def _sources(transition: Array) -> NDArray[np.int64]:
    """Return ``(K, P)`` the states that may come before each one, filled up with -1."""
    possible = transition > -np.inf
    most = max(int(possible.sum(axis=0).max()), 1)
    order = np.argsort(~possible, axis=0, kind="stable")[:most].T
    return np.where(np.take_along_axis(possible.T, order, axis=1), order, -1)


def _checked(logs: Array, ticks: NDArray[np.int64], edges: Array, chain: SegmentChain) -> Array:
    states = len(chain.initial)
    if logs.ndim != 2 or logs.shape != (len(ticks) - 1, states) or len(edges) != len(ticks):
        raise LatticeError(
            f"{len(ticks)} edges and {states} states need logs ({len(ticks) - 1}, {states}) and "
            f"{len(ticks)} edge weights, got {logs.shape} and {len(edges)}."
        )
    if (np.diff(ticks) < 0).any():
        raise LatticeError("the edges of a semi-Markov chain must be in order of time.")
    # Relative to the best state of each stretch, so that sums over an hour keep their precision.
    relative = logs - logs.max(axis=1, keepdims=True)
    return np.concatenate([np.zeros((1, states)), np.cumsum(relative, axis=0)]).T.copy()
