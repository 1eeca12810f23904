"""How long steps last and in which order they come: the priors of the semi-Markov model."""

import math

import numpy as np
from numpy.typing import NDArray

__all__ = ["duration_weights", "num_ticks", "order_weights"]

Array = NDArray[np.float64]

_LEAST_TICKS = 2048  # per video
_TICKS_PER_STEP = 64
_FURTHEST = 2  # steps skipped or gone back at once
_NEGLIGIBLE = -45.0  # nats below the peak; durations less likely are not considered


def num_ticks(steps: int) -> int:
    """Return in how many ticks the clock divides a video with so many steps."""
    return max(_LEAST_TICKS, _TICKS_PER_STEP * steps)


def duration_weights(shares: Array, concentration: float, units: int) -> Array:
    """Return ``(K, G)`` the weight of each step lasting 0 .. G - 1 ticks.

    A gamma distribution with the step's share as its mean; all of them together, given that they
    fill the video, are a Dirichlet distribution.

    Args:
        shares: ``(K,)`` expected share of each step.
        concentration: Shape of the distribution of an average step.
        units: Stretches the video falls into; one duration in so many is what an edge stands for.
    """
    ticks = num_ticks(len(shares))
    rate = concentration * len(shares)
    shapes = (rate * shares)[:, None]
    # Half a tick for steps that end in the tick they began in.
    lengths = np.maximum(np.arange(ticks + 1), 0.5) / ticks
    logs = (shapes - 1) * np.log(lengths) - rate * lengths
    constants = [math.lgamma(shape) for shape in shapes[:, 0]]
    logs += shapes * np.log(rate) - np.array(constants)[:, None] - np.log(units)
    likely = (logs > logs.max(axis=1, keepdims=True) + _NEGLIGIBLE).any(axis=0)
    longest = int(np.flatnonzero(likely)[-1]) + 1
    return np.exp(logs[:, :longest])


def order_weights(steps: int, skip: float, back: float) -> tuple[Array, Array, Array]:
    """Return log weights of one step after another ``(K, K)``, of the first and of the last.

    Args:
        steps: K, how many there are.
        skip: Probability of leaving a step out; of leaving two out its square.
        back: Probability of going back one step; of going back two its square.
    """
    moves = {1: 1.0}
    for distance in range(1, _FURTHEST + 1):
        moves[1 + distance] = skip**distance
        moves[-distance] = back**distance
    total = sum(moves.values())
    transition = np.zeros((steps, steps))
    for move, weight in moves.items():
        transition += np.eye(steps, k=move) * (weight / total)
    ends = np.zeros(steps)
    for distance in range(min(_FURTHEST + 1, steps)):
        ends[distance] = skip**distance / total
    with np.errstate(divide="ignore"):
        return np.log(transition), np.log(ends), np.log(ends[::-1])
