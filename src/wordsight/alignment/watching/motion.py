"""How things move, in words for the models: observations that verbs can be learned from.

Nouns are seen as things; verbs as manners of motion. Every manner is relative to a unit of length,
so that the same words fit pixels, metres and toys as well as furniture.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["MANNERS", "Manners", "manners_of", "smoothed", "speeds_of"]

Array = NDArray[np.float64]

MANNERS = ("still", "rising", "sinking", "sliding", "shaking", "nearing", "leaving")
"""The manners told apart, in the order of the columns of :func:`manners_of`."""


@dataclass(frozen=True)
class Manners:
    """What counts as motion.

    Attributes:
        unit: A typical size of a thing, in the units of the tracks.
        slow: Speed in units per second under which a thing is still.
        window: Half the stretch of time, in seconds, over which motion is measured.
        wiggle: How many times longer than its net displacement a path must be to be a shake.
    """

    unit: float
    slow: float = 0.25
    window: float = 0.4
    wiggle: float = 2.5


def smoothed(points: Array, times: Array, seconds: float) -> Array:
    """Return ``(T, D)`` points averaged over a window; gaps (NaN) are bridged by straight lines."""
    filled = points.copy()
    known = np.isfinite(points).all(axis=1)
    if not known.any():
        return filled
    for axis in range(points.shape[1]):
        filled[:, axis] = np.interp(times, times[known], points[known, axis])
    half = _frames(times, seconds)
    padded = np.pad(filled, ((half, half), (0, 0)), mode="edge")
    sums = np.cumsum(np.vstack([np.zeros((1, points.shape[1])), padded]), axis=0)
    width = 2 * half + 1
    return np.asarray((sums[width:] - sums[:-width]) / width, dtype=np.float64)


def speeds_of(points: Array, times: Array) -> Array:
    """Return ``(T,)`` speed in units of the points per second."""
    if len(times) < 2:
        return np.zeros(len(times))
    velocities = np.asarray(np.gradient(points, times, axis=0))
    return np.asarray(np.linalg.norm(velocities, axis=1), dtype=np.float64)


def manners_of(
    points: Array, times: Array, hand: Array | None, manners: Manners
) -> NDArray[np.bool_]:
    """Say how one thing moves.

    Args:
        points: ``(T, D)`` its place, y or the second axis pointing down as in pictures.
        times: ``(T,)`` seconds.
        hand: ``(T, D)`` the hand nearest to it, if there is one.
        manners: What counts as motion.

    Returns:
        ``(T, 7)`` whether each of ``MANNERS`` is true in each frame.
    """
    found = np.zeros((len(times), len(MANNERS)), dtype=bool)
    if len(times) < 2:
        return found
    half = _frames(times, manners.window)
    early = np.maximum(np.arange(len(times)) - half, 0)
    late = np.minimum(np.arange(len(times)) + half, len(times) - 1)
    span = np.maximum(times[late] - times[early], 1e-6)
    moved = points[late] - points[early]
    steps = np.r_[0.0, np.cumsum(np.linalg.norm(np.diff(points, axis=0), axis=1))]
    path = steps[late] - steps[early]
    net = np.linalg.norm(moved, axis=1)
    slow = manners.slow * manners.unit * span
    moving = path > slow
    shaking = moving & (path > manners.wiggle * net)
    steady = moving & ~shaking
    down = moved[:, 1]
    across = np.linalg.norm(np.delete(moved, 1, axis=1), axis=1)
    found[:, 0] = ~moving
    found[:, 1] = steady & (-down > across * 0.6)
    found[:, 2] = steady & (down > across * 0.6)
    found[:, 3] = steady & (across > np.abs(down) * 0.6)
    found[:, 4] = shaking
    if hand is not None:
        gap = np.linalg.norm(hand - points, axis=1)
        closing = gap[early] - gap[late]
        found[:, 5] = ~moving & (closing > slow)
        found[:, 6] = ~moving & (-closing > slow)
    return found


def _frames(times: Array, seconds: float) -> int:
    usual = float(np.median(np.diff(times))) if len(times) > 1 else 1.0
    return max(1, round(seconds / max(usual, 1e-6)))
