"""Many small hidden Markov chains with shared parameters: scores, expected counts, best paths.

Where tracks are given, the states of a word on one choice of tracks form a chain that depends on
nothing else, so the lattice falls apart into one chain per word and choice of tracks.
"""

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wordsight.inference.lattice.model import LatticeError
from wordsight.inference.numba_support import numba_available

__all__ = [
    "ChainCounts",
    "chain_counts",
    "chain_paths",
    "chain_scores",
    "counted_rows",
    "summed_rows",
]

Array = NDArray[np.float64]

Ints = NDArray[np.int64]


def summed_rows(places: Ints, table: Array) -> Array:
    """Sum, for every place, the table rows its F indices name.

    Args:
        places: ``(F, ...)`` row numbers.
        table: ``(L, I)`` rows.

    Returns:
        ``(..., I)`` sums over F.
    """
    if not numba_available():
        return np.asarray(table[places].sum(axis=0))
    from wordsight.inference.chains.kernels import add_rows

    total = np.zeros((_size(places), table.shape[1]))
    add_rows(_flat(places), np.ascontiguousarray(table), total)
    return total.reshape(*places.shape[1:], table.shape[1])


def counted_rows(places: Ints, shares: Array, length: int) -> Array:
    """Sum shares by the rows that indices name: the transpose of :func:`summed_rows`.

    Args:
        places: ``(F, ...)`` row numbers.
        shares: ``(..., I)`` what each place adds to each of its rows.
        length: Number L of rows.

    Returns:
        ``(L, I)`` sums.
    """
    counts = np.zeros((length, shares.shape[-1]))
    if not numba_available():
        for rows in places:
            np.add.at(counts, rows, shares)
        return counts
    from wordsight.inference.chains.kernels import add_counts

    add_counts(_flat(places), np.ascontiguousarray(shares).reshape(-1, shares.shape[-1]), counts)
    return counts


def _flat(places: Ints) -> Ints:
    return np.ascontiguousarray(places).reshape(len(places), _size(places))


def _size(places: Ints) -> int:
    return math.prod(places.shape[1:])


Backend = Literal["compiled", "reference"]


@dataclass(frozen=True)
class ChainCounts:
    """Expected counts of many chains, each with a share that multiplies what it counts.

    Attributes:
        states: ``(T, N, I)`` share of each chain times its posterior of each state in each frame.
        steps: ``(I, I)`` expected steps from state (row) to state (column), over all chains.
    """

    states: Array
    steps: Array


def chain_scores(
    logs: Array, initial: Array, transition: Array, final: Array, backend: Backend = "compiled"
) -> Array:
    """Return the log likelihood of each chain, summed over its state sequences.

    Args:
        logs: ``(T, N, I)`` log weight of each state of each chain in each frame.
        initial: ``(I,)`` weight of each state in the first frame.
        transition: ``(I, I)`` weight of each step from a state (row) to a state (column).
        final: ``(I,)`` weight of each state in the last frame.
        backend: The compiled kernel, or plain numpy to compare with.

    Returns:
        ``(N,)`` log likelihoods; ``-inf`` where no state sequence is possible.
    """
    logs = _checked(logs, initial, transition, final)
    if logs.shape[2] == 1:
        return _one_state(logs, initial, transition, final)
    if backend == "reference" or not numba_available():
        return _log_sum(_alphas(logs, initial, transition)[-1] + _log(final))
    from wordsight.inference.chains.kernels import scores_of_chains

    scores = np.empty(logs.shape[1])
    scores_of_chains(logs, initial, transition, final, scores)
    return scores


def chain_counts(
    logs: Array,
    initial: Array,
    transition: Array,
    final: Array,
    shares: ArrayLike,
    backend: Backend = "compiled",
) -> ChainCounts:
    """Return expected states and steps, each chain multiplied by its share.

    Args:
        logs: ``(T, N, I)`` log weight of each state of each chain in each frame.
        initial: ``(I,)`` weight of each state in the first frame.
        transition: ``(I, I)`` weight of each step.
        final: ``(I,)`` weight of each state in the last frame.
        shares: ``(N,)`` how much each chain counts; may be negative; impossible chains count 0.
        backend: The compiled kernel, or plain numpy to compare with.
    """
    logs = _checked(logs, initial, transition, final)
    parts = np.ascontiguousarray(shares, dtype=np.float64)
    if logs.shape[2] == 1:
        steps = np.full((1, 1), (len(logs) - 1) * parts.sum())
        return ChainCounts(np.broadcast_to(parts[:, None], logs.shape), steps)
    if backend == "reference" or not numba_available():
        return _counts_reference(logs, initial, transition, final, parts)
    from wordsight.inference.chains.kernels import counts_of_chains

    states, steps = np.empty(logs.shape), np.zeros(transition.shape)
    counts_of_chains(logs, initial, transition, final, parts, states, steps)
    return ChainCounts(states, steps)


def chain_paths(
    logs: Array, initial: Array, transition: Array, final: Array
) -> tuple[Array, NDArray[np.int64]]:
    """Return the log weight ``(N,)`` and the states ``(T, N)`` of each chain's best sequence."""
    logs = _checked(logs, initial, transition, final)
    frames, chains, _ = logs.shape
    steps = _log(transition)
    best = _log(initial) + logs[0]
    back = np.zeros((frames, *best.shape), dtype=np.int64)
    for t in range(1, frames):
        ways = best[:, :, None] + steps
        back[t] = ways.argmax(axis=1)
        best = ways.max(axis=1) + logs[t]
    best = best + _log(final)
    states = np.empty((frames, chains), dtype=np.int64)
    states[-1] = best.argmax(axis=1)
    for t in range(frames - 1, 0, -1):
        states[t - 1] = back[t, np.arange(chains), states[t]]
    return best.max(axis=1), states


def _checked(logs: Array, initial: Array, transition: Array, final: Array) -> Array:
    logs = np.ascontiguousarray(logs, dtype=np.float64)
    states = initial.shape
    if logs.ndim != 3 or not len(logs) or logs.shape[2:] != states:
        raise LatticeError(f"chains need logs (T, N, I) with {states[0]} states, got {logs.shape}.")
    if transition.shape != states * 2 or final.shape != states:
        raise LatticeError(
            f"chains of {states[0]} states need transition {states * 2} and final {states}, got "
            f"{transition.shape} and {final.shape}."
        )
    return logs


def _one_state(logs: Array, initial: Array, transition: Array, final: Array) -> Array:
    constant = _log(initial)[0] + _log(final)[0]
    if len(logs) > 1:
        constant = constant + (len(logs) - 1) * _log(transition)[0, 0]
    return np.asarray(logs[:, :, 0].sum(axis=0) + constant)


def _alphas(logs: Array, initial: Array, transition: Array) -> Array:
    alphas = [_log(initial) + logs[0]]
    for frame in logs[1:]:
        alphas.append(_log_sum(alphas[-1][:, :, None] + _log(transition), axis=1) + frame)
    return np.stack(alphas)


def _betas(logs: Array, transition: Array, final: Array) -> Array:
    betas = [np.broadcast_to(_log(final), logs[0].shape)]
    for frame in logs[:0:-1]:
        betas.append(_log_sum(_log(transition) + (frame + betas[-1])[:, None, :], axis=2))
    return np.stack(betas[::-1])


def _counts_reference(
    logs: Array, initial: Array, transition: Array, final: Array, shares: Array
) -> ChainCounts:
    alphas, betas = _alphas(logs, initial, transition), _betas(logs, transition, final)
    totals = _log_sum(alphas[-1] + _log(final))
    possible = totals > -np.inf
    totals = np.where(possible, totals, 0.0)
    shares = np.where(possible, shares, 0.0)
    states = np.exp(alphas + betas - totals[:, None]) * shares[:, None]
    steps = np.zeros(transition.shape)
    for t in range(1, len(logs)):
        joint = alphas[t - 1][:, :, None] + _log(transition) + (logs[t] + betas[t])[:, None, :]
        steps += (np.exp(joint - totals[:, None, None]) * shares[:, None, None]).sum(axis=0)
    return ChainCounts(states, steps)


def _log(values: Array) -> Array:
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(values))


def _log_sum(logs: Array, axis: int = -1) -> Array:
    top = logs.max(axis=axis, keepdims=True)
    top = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(np.exp(logs - top).sum(axis=axis)) + top.squeeze(axis))
