"""Chains over the steps of a text: moved by jumps chunk by chunk, or held for stretches of time.

In a jump chain each chunk moves by one of a few offsets. In a segment chain, which is semi-Markov,
each state holds for a stretch whose duration, counted in ticks of the clock, has a distribution of
its own; stretches begin and end only at given edges. Exact sums over all paths.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wordsight.inference.lattice.model import LatticeError

__all__ = [
    "JumpChain",
    "JumpCounts",
    "SegmentChain",
    "SegmentCounts",
    "jump_counts",
    "jump_path",
    "segment_counts",
]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class JumpChain:
    """The parameters of a chain over N places, all of them logarithms of weights.

    Attributes:
        offsets: ``(D,)`` places moved by each kind of jump; negative goes back.
        jumps: ``(D,)`` log weight of each kind.
        initial: ``(N,)`` log weight of each place at the first chunk.
        final: ``(N,)`` log weight of each place at the last chunk.
    """

    offsets: NDArray[np.int64]
    jumps: Array
    initial: Array
    final: Array


@dataclass(frozen=True)
class JumpCounts:
    """What the chain expects.

    Attributes:
        log_likelihood: Log weight of all paths together; ``-inf`` if there is none, and then the
            counts are zero.
        states: ``(T, N)`` posterior of each place at each chunk; rows sum to one.
        jumps: ``(D,)`` expected number of each kind of jump.
        arcs: ``(T, N, D)`` posterior of each place at each chunk, reached by each kind of jump;
            only where the weights depend on the jump.
    """

    log_likelihood: float
    states: Array
    jumps: Array
    arcs: Array | None = None


def jump_counts(logs: ArrayLike, chain: JumpChain) -> JumpCounts:
    """Return posteriors and expected jumps, summed over all paths.

    Args:
        logs: ``(T, N)`` log weight of each chunk at each place, or ``(T, N, D)`` where it depends
            on the jump by which the place is reached. The first chunk counts as reached by a jump
            of 0, or by the first kind if there is none of 0.
        chain: How places follow each other.
    """
    if np.ndim(logs) == 3:
        return _arc_counts(_checked_arcs(logs, chain), chain)
    from wordsight.inference.chains.kernels import (
        backward_of_jumps,
        counts_of_jumps,
        forward_of_jumps,
    )

    weights = _checked_jumps(logs, chain)
    alpha, beta = np.empty(weights.shape), np.empty(weights.shape)
    forward_of_jumps(weights, chain.offsets, chain.jumps, chain.initial, alpha)
    total = _log_sum(alpha[-1] + chain.final)
    states, counts = np.zeros(weights.shape), np.zeros(len(chain.offsets))
    if total > -np.inf:
        backward_of_jumps(weights, chain.offsets, chain.jumps, chain.final, beta)
        counts_of_jumps(weights, chain.offsets, chain.jumps, alpha, beta, total, states, counts)
        states /= states.sum(axis=1, keepdims=True)
    return JumpCounts(total, states, counts)


def jump_path(logs: ArrayLike, chain: JumpChain) -> tuple[float, NDArray[np.int64]]:
    """Return the log weight and the places ``(T,)`` of the best path; the weight may be -inf.

    The weights are those of :func:`jump_counts`.
    """
    if np.ndim(logs) == 3:
        return _arc_path(_checked_arcs(logs, chain), chain)
    from wordsight.inference.chains.kernels import best_of_jumps

    weights = _checked_jumps(logs, chain)
    path = np.zeros(len(weights), dtype=np.int64)
    best = best_of_jumps(weights, chain.offsets, chain.jumps, chain.initial, chain.final, path)
    return float(best), path


def _arc_counts(logs: Array, chain: JumpChain) -> JumpCounts:
    """Forward–backward over arcs; a plain loop over chunks, since only few features need it."""
    chunks, places, kinds = logs.shape
    first, alpha, beta = _first_kind(chain), np.empty((chunks, places)), np.empty((chunks, places))
    alpha[0], beta[-1] = chain.initial + logs[0, :, first], chain.final
    for t in range(1, chunks):
        alpha[t] = np.logaddexp.reduce(_origins(alpha[t - 1], chain) + logs[t], axis=1)
    for t in range(chunks - 1, 0, -1):
        onward = np.full((places, kinds), -np.inf)
        for kind, offset in enumerate(chain.offsets):
            start, stop = max(0, -offset), min(places, places - offset)
            if start >= stop:
                continue
            there = slice(start + offset, stop + offset)
            arcs = beta[t, there] + logs[t, there, kind] + chain.jumps[kind]
            onward[start:stop, kind] = arcs
        beta[t - 1] = np.logaddexp.reduce(onward, axis=1)
    total = _log_sum(alpha[-1] + chain.final)
    posterior = np.zeros(logs.shape)
    if total > -np.inf:
        posterior[0, :, first] = np.exp(alpha[0] + beta[0] - total)
        for t in range(1, chunks):
            ways = _origins(alpha[t - 1], chain) + logs[t] + beta[t][:, None]
            posterior[t] = np.exp(ways - total)
    return JumpCounts(total, posterior.sum(axis=2), posterior[1:].sum(axis=(0, 1)), posterior)


def _arc_path(logs: Array, chain: JumpChain) -> tuple[float, NDArray[np.int64]]:
    chunks, places, _ = logs.shape
    came = np.zeros((chunks, places), dtype=np.int64)
    best = chain.initial + logs[0, :, _first_kind(chain)]
    for t in range(1, chunks):
        ways = _origins(best, chain) + logs[t]
        came[t] = ways.argmax(axis=1)
        best = ways.max(axis=1)
    ends = best + chain.final
    path = np.zeros(chunks, dtype=np.int64)
    path[-1] = ends.argmax()
    if ends.max() > -np.inf:
        for t in range(chunks - 1, 0, -1):
            path[t - 1] = path[t] - chain.offsets[came[t, path[t]]]
    return float(ends.max()), path


def _origins(row: Array, chain: JumpChain) -> Array:
    """Return ``(N, D)`` log weight of arriving at each place by each kind of jump."""
    places = len(row)
    origins = np.full((places, len(chain.offsets)), -np.inf)
    for kind, offset in enumerate(chain.offsets):
        start, stop = max(0, offset), min(places, places + offset)
        if start < stop:
            origins[start:stop, kind] = row[start - offset : stop - offset] + chain.jumps[kind]
    return origins


def _first_kind(chain: JumpChain) -> int:
    return int((chain.offsets == 0).argmax())


def _checked_arcs(logs: ArrayLike, chain: JumpChain) -> Array:
    arcs = np.asarray(logs, dtype=np.float64)
    if arcs.shape[2:] != chain.jumps.shape:
        raise LatticeError(
            f"weights of {arcs.shape[2]} kinds of jump were given for {len(chain.jumps)} kinds."
        )
    _checked_jumps(arcs[:, :, 0], chain)
    return arcs


def _checked_jumps(logs: ArrayLike, chain: JumpChain) -> Array:
    weights = np.ascontiguousarray(logs, dtype=np.float64)
    places = chain.initial.shape
    if weights.ndim != 2 or not len(weights) or weights.shape[1:] != places:
        raise LatticeError(
            f"a chain over {places[0]} places needs logs (T, {places[0]}), got {weights.shape}."
        )
    if chain.final.shape != places or chain.offsets.shape != chain.jumps.shape:
        raise LatticeError(
            f"a chain needs as many final as initial weights and one weight per kind of jump, got "
            f"{chain.final.shape}, {places}, {chain.jumps.shape} and {chain.offsets.shape}."
        )
    return weights


def _log_sum(logs: Array) -> float:
    top = float(logs.max())
    return top + float(np.log(np.exp(logs - top).sum())) if top > -np.inf else top


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
    return starts, ends, _log_sum(ends[:, -1] + final)


def _sources(transition: Array) -> NDArray[np.int64]:
    """Return ``(K, P)`` the states that may come before each one, filled up with -1."""
    possible = transition > -np.inf
    states, before = np.nonzero(possible.T)
    counts = np.bincount(states, minlength=len(transition))
    sources = np.full((len(transition), max(int(counts.max()), 1)), -1, dtype=np.int64)
    sources[states, np.arange(len(states)) - np.repeat(np.cumsum(counts) - counts, counts)] = before
    return sources


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
