"""Clock time: when steps are due, how long they last and in which order they come.

Much of what touches leave open is settled by time alone: a step in the middle of the text happens
in the middle of the video.
"""

import math

import numpy as np
from numpy.typing import NDArray

from wordsight.alignment.models.encoding import Encoded

__all__ = [
    "chunk_moments",
    "clock_uniform",
    "duration_weights",
    "edge_moments",
    "lateness",
    "num_ticks",
    "order_weights",
    "step_shares",
]


Array = NDArray[np.float64]


def step_shares(encoded: Encoded, growth: float) -> Array:
    """Return ``(K,)`` the expected share of the video of each step.

    Args:
        encoded: The text.
        growth: How the time of a step grows with its lines: 0 not at all, 1 in proportion.
    """
    weights = encoded.lines_per_step.astype(np.float64) ** growth
    return np.asarray(weights / weights.sum())


def chunk_moments(encoded: Encoded) -> Array:
    """Return ``(T,)`` the middle of each chunk, from 0 at the first start to 1 at the last end."""
    first, last = _span(encoded)
    return np.asarray((encoded.times.mean(axis=1) - first) / (last - first))


def edge_moments(encoded: Encoded) -> Array:
    """Return ``(T + 1,)`` times between neighbouring chunks, 0 at the start to 1 at the end.

    A gap between two chunks is divided in the middle.
    """
    first, last = _span(encoded)
    middles = (encoded.times[1:, 0] + encoded.times[:-1, 1]) / 2
    seconds = np.concatenate([[encoded.times[0, 0]], middles, [encoded.times[-1, 1]]])
    return np.asarray((seconds - first) / (last - first))


def lateness(encoded: Encoded, growth: float, shape: str) -> Array:
    """Return ``(T, N)`` the distance of each chunk from when each line's step is due.

    Args:
        encoded: The text and the video.
        growth: How the time of a step grows with its lines.
        shape: "centre" for the distance from the middle of the step, "outside" for the distance
            beyond its ends, "widths" for the square of the distance in widths of the step.
    """
    shares = step_shares(encoded, growth)
    ends = np.cumsum(shares)
    starts, middles = ends - shares, ends - shares / 2
    moments = chunk_moments(encoded)[:, None]
    if shape == "centre":
        distance = np.abs(moments - middles)
    elif shape == "outside":
        distance = np.maximum(np.maximum(starts - moments, moments - ends), 0.0)
    else:
        # The factor makes one weight suit all three shapes.
        distance = 0.05 * ((moments - middles) / shares) ** 2
    return np.asarray(distance[:, encoded.steps])


def clock_uniform(encoded: Encoded, growth: float = 0.5) -> NDArray[np.int64]:
    """Return ``(T,)`` the step of each chunk by the clock alone, without observations."""
    ends = np.cumsum(step_shares(encoded, growth))
    steps = np.searchsorted(ends, chunk_moments(encoded), side="right")
    return np.minimum(steps, encoded.num_steps - 1)


def _span(encoded: Encoded) -> tuple[float, float]:
    first, last = float(encoded.times[0, 0]), float(encoded.times[-1, 1])
    return first, last if last > first else first + 1.0


_LEAST_TICKS = 2048  # per video
_TICKS_PER_STEP = 64
_FURTHEST = 2  # steps skipped or gone back at once
_NEGLIGIBLE = -45.0  # nats below the peak; less probable durations are not considered


def num_ticks(steps: int) -> int:
    """Return the number of clock ticks of a video with so many steps."""
    return max(_LEAST_TICKS, _TICKS_PER_STEP * steps)


def duration_weights(shares: Array, concentration: float, units: int) -> Array:
    """Return ``(K, G)`` the weight of each step lasting 0 .. G - 1 ticks.

    Gamma distributions with the steps' shares as means; given that they fill the video, they form a
    Dirichlet distribution.

    Args:
        shares: ``(K,)`` expected share of each step.
        concentration: Shape of the distribution of an average step.
        units: Number of units of the video, by which weights are divided.
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
        steps: K, the number of steps.
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
