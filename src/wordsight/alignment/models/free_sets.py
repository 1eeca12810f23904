"""Sums over all sets of things that might have been touched: what a conditional model divides by.

Where features add over things, a sum over exponentially many sets falls apart into products. Four
families of sets: all, all but the empty one, at most k things, and those seen in the video.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

__all__ = ["FreeSets", "Sets", "free_sets"]

Array = NDArray[np.float64]
Sets = Literal["all", "nonempty", "observed"] | int
"""Which sets are summed over; a number k means all sets of at most k things."""

_CEILING = 60.0  # nats; scores beyond it would overflow products of a few


@dataclass(frozen=True)
class FreeSets:
    """Sums over sets for each line.

    Attributes:
        logs: ``(N,)`` log of the summed weight of all sets.
        means: ``(N, V)`` probability that a set holds each token.
    """

    logs: Array
    means: Array


def free_sets(scores: Array, sets: Sets, seen: Array) -> FreeSets:
    """Sum over sets of tokens whose weight is the exponential of the sum of their scores.

    Args:
        scores: ``(N, V)`` score of each token under each line.
        sets: Which sets to sum over.
        seen: ``(S, V)`` the distinct sets of the video, used by "observed".
    """
    if sets == "observed":
        return _observed(scores, seen)
    if isinstance(sets, int):
        return _at_most(np.minimum(scores, _CEILING), sets)
    logs = np.logaddexp(0.0, scores).sum(axis=1)
    means = 1.0 / (1.0 + np.exp(-np.clip(scores, -500.0, 500.0)))
    if sets == "nonempty":
        without = logs + np.log1p(-np.exp(-np.maximum(logs, 1e-12)))
        return FreeSets(without, means * np.exp(logs - without)[:, None])
    return FreeSets(logs, means)


def _observed(scores: Array, seen: Array) -> FreeSets:
    weights = scores @ seen.T
    top = weights.max(axis=1, keepdims=True)
    shares = np.exp(weights - top)
    sums = shares.sum(axis=1, keepdims=True)
    return FreeSets((np.log(sums) + top)[:, 0], (shares / sums) @ seen)


def _at_most(scores: Array, most: int) -> FreeSets:
    """Use elementary symmetric polynomials, with the tokens before and after each one."""
    lines, tokens = scores.shape
    weights = np.exp(scores)
    before = np.zeros((tokens + 1, lines, most + 1))
    after = np.zeros((tokens + 1, lines, most + 1))
    before[0, :, 0] = after[tokens, :, 0] = 1.0
    for b in range(tokens):
        before[b + 1] = before[b]
        before[b + 1, :, 1:] += weights[:, b, None] * before[b, :, :-1]
    for b in range(tokens - 1, -1, -1):
        after[b] = after[b + 1]
        after[b, :, 1:] += weights[:, b, None] * after[b + 1, :, :-1]
    total = before[tokens].sum(axis=1)
    # Sets that hold b: it, r others before it, and up to most - 1 - r others after it.
    up_to = np.cumsum(after[1:], axis=2)[:, :, :most][:, :, ::-1]
    others = (before[:tokens, :, :most] * up_to).sum(axis=2)
    return FreeSets(np.log(total), weights * others.T / total[:, None])
