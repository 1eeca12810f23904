"""Clock time: when each chunk is between the first and the last, and when each step is due.

Much of what touches leave open is settled by time alone: a step in the middle of the text happens
in the middle of the video.
"""

import numpy as np
from numpy.typing import NDArray

from wordsight.alignment.encoding import Encoded

__all__ = ["chunk_moments", "clock_uniform", "edge_moments", "lateness", "step_shares"]

Array = NDArray[np.float64]


def step_shares(encoded: Encoded, growth: float) -> Array:
    """Return ``(K,)`` the share of the video that each step is expected to take.

    Args:
        encoded: The text.
        growth: How the time of a step grows with its lines: 0 not at all, 1 in proportion.
    """
    weights = encoded.lines_per_step.astype(np.float64) ** growth
    return np.asarray(weights / weights.sum())


def chunk_moments(encoded: Encoded) -> Array:
    """Return ``(T,)`` the middle of each chunk, 0 at the first chunk's start to 1 at the end."""
    first, last = _span(encoded)
    return np.asarray((encoded.times.mean(axis=1) - first) / (last - first))


def edge_moments(encoded: Encoded) -> Array:
    """Return ``(T + 1,)`` the moment between neighbouring chunks, 0 at the start to 1 at the end.

    Where nothing was observed between two chunks, a change is taken to be in the middle.
    """
    first, last = _span(encoded)
    middles = (encoded.times[1:, 0] + encoded.times[:-1, 1]) / 2
    seconds = np.concatenate([[encoded.times[0, 0]], middles, [encoded.times[-1, 1]]])
    return np.asarray((seconds - first) / (last - first))


def lateness(encoded: Encoded, growth: float, shape: str) -> Array:
    """Return ``(T, N)`` how far each chunk is from when each line's step is due, at least 0.

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
        away = np.abs(moments - middles)
    elif shape == "outside":
        away = np.maximum(np.maximum(starts - moments, moments - ends), 0.0)
    else:
        # A twentieth, so that one weight suits all three shapes.
        away = 0.05 * ((moments - middles) / shares) ** 2
    return np.asarray(away[:, encoded.steps])


def clock_uniform(encoded: Encoded, growth: float = 0.5) -> NDArray[np.int64]:
    """Return ``(T,)`` the step of each chunk by the clock alone: no observation is looked at."""
    ends = np.cumsum(step_shares(encoded, growth))
    steps = np.searchsorted(ends, chunk_moments(encoded), side="right")
    return np.minimum(steps, encoded.num_steps - 1)


def _span(encoded: Encoded) -> tuple[float, float]:
    first, last = float(encoded.times[0, 0]), float(encoded.times[-1, 1])
    return first, last if last > first else first + 1.0
