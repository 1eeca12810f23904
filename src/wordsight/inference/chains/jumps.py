"""A chain over places in a row that moves by bounded jumps: posteriors, expected jumps, best path.

The lines of a text are such places and the chunks of a video its time steps. A chunk costs as many
sums as there are lines times kinds of jump, never their square.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wordsight.inference.lattice.model import LatticeError

__all__ = ["JumpChain", "JumpCounts", "jump_counts", "jump_path", "jump_score"]

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
    """

    log_likelihood: float
    states: Array
    jumps: Array


def jump_counts(logs: ArrayLike, chain: JumpChain) -> JumpCounts:
    """Return posteriors and expected jumps, summed over all paths.

    Args:
        logs: ``(T, N)`` log weight of each chunk at each place.
        chain: How places follow each other.
    """
    from wordsight.inference.chains.kernels import (
        backward_of_jumps,
        counts_of_jumps,
        forward_of_jumps,
    )

    weights = _checked(logs, chain)
    alpha, beta = np.empty(weights.shape), np.empty(weights.shape)
    forward_of_jumps(weights, chain.offsets, chain.jumps, chain.initial, alpha)
    total = _log_sum(alpha[-1] + chain.final)
    states, counts = np.zeros(weights.shape), np.zeros(len(chain.offsets))
    if total > -np.inf:
        backward_of_jumps(weights, chain.offsets, chain.jumps, chain.final, beta)
        counts_of_jumps(weights, chain.offsets, chain.jumps, alpha, beta, total, states, counts)
        states /= states.sum(axis=1, keepdims=True)
    return JumpCounts(total, states, counts)


def jump_score(logs: ArrayLike, chain: JumpChain) -> float:
    """Return the log weight of all paths together."""
    from wordsight.inference.chains.kernels import forward_of_jumps

    weights = _checked(logs, chain)
    alpha = np.empty(weights.shape)
    forward_of_jumps(weights, chain.offsets, chain.jumps, chain.initial, alpha)
    return _log_sum(alpha[-1] + chain.final)


def jump_path(logs: ArrayLike, chain: JumpChain) -> tuple[float, NDArray[np.int64]]:
    """Return the log weight and the places ``(T,)`` of the best path; the weight may be -inf."""
    from wordsight.inference.chains.kernels import best_of_jumps

    weights = _checked(logs, chain)
    path = np.zeros(len(weights), dtype=np.int64)
    best = best_of_jumps(weights, chain.offsets, chain.jumps, chain.initial, chain.final, path)
    return float(best), path


def _checked(logs: ArrayLike, chain: JumpChain) -> Array:
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
