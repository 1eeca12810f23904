"""How boxes move: velocity and growth per second, from tracks, from flow or from likely partners.

Everything is measured in seconds and in lengths of the picture's diagonal, so that neither the
frame rate nor the size of the picture matters.
"""

import numpy as np
from numpy.typing import NDArray

from wordsight.meaning.features.tracks import Columns, runs
from wordsight.records import Clip

__all__ = ["motion_of", "track_rates"]

WINDOW = 0.1
"""Half the stretch of time, in seconds, over which a velocity is taken."""

_PARTNER_REACH = 0.1  # diagonals a box may have moved or grown between frames to be a partner

Array = NDArray[np.float64]


def motion_of(clip: Clip, columns: Columns) -> tuple[Array, Array]:
    """Return velocities ``(T, J, 2)`` in diagonals per second and growth ``(T, J, 2)`` per second.

    Growth is the rate of the logarithms of a box's width and height. A track's own motion is used
    where columns are tracks; else optical flow where the clip has it; else the nearest box of the
    same label in the next frame. Unknown values are NaN.
    """
    centres, log_sides = _centres(columns.boxes), _log_sides(columns)
    diagonal = float(np.hypot(*clip.detections.frame_size))
    if columns.tracked:
        values = np.concatenate([centres / diagonal, log_sides], axis=-1)
        rates = track_rates(columns.times, values, columns.present)
        return rates[..., :2], rates[..., 2:]
    moved, grown = _towards_partners(columns, centres / diagonal, log_sides)
    if clip.flow is not None:
        moved = np.where(columns.present[..., None], clip.flow / diagonal, np.nan)
    return moved, grown


def track_rates(times: Array, values: Array, present: NDArray[np.bool_]) -> Array:
    """Return how fast values of tracks change, by differences over a window inside each run.

    Args:
        times: ``(T,)`` seconds.
        values: ``(T, J, D)`` what changes.
        present: ``(T, J)`` where there is a value.

    Returns:
        ``(T, J, D)`` per second; 0 for a track seen in one frame only, NaN where not present.
    """
    rates = np.full(values.shape, np.nan)
    for j in range(values.shape[1]):
        for first, end in runs(present[:, j]):
            here = times[first:end]
            early = np.searchsorted(here, here - WINDOW - 1e-9) + first
            late = np.searchsorted(here, here + WINDOW + 1e-9, side="right") - 1 + first
            # Slow frame rates have no neighbour inside the window: take the next one there is.
            early = np.minimum(early, np.maximum(np.arange(first, end) - 1, first))
            late = np.maximum(late, np.minimum(np.arange(first, end) + 1, end - 1))
            span = np.maximum(times[late] - times[early], 1e-9)
            rates[first:end, j] = (values[late, j] - values[early, j]) / span[:, None]
    return rates


def _towards_partners(columns: Columns, centres: Array, log_sides: Array) -> tuple[Array, Array]:
    """Take each box's motion towards the nearest box of its label in the next frame."""
    moved = np.full(centres.shape, np.nan)
    grown = np.full(log_sides.shape, np.nan)
    for t in range(len(columns.times) - 1):
        here, there = np.flatnonzero(columns.present[t]), np.flatnonzero(columns.present[t + 1])
        if not len(here) or not len(there):
            continue
        steps = centres[t + 1, there][None] - centres[t, here][:, None]
        growth = log_sides[t + 1, there][None] - log_sides[t, here][:, None]
        cost = np.hypot(steps[..., 0], steps[..., 1])
        cost = cost + _PARTNER_REACH * np.abs(growth.sum(axis=-1))
        other = columns.labels[t, here][:, None] != columns.labels[t + 1, there][None]
        cost = np.where(other, np.inf, cost)
        best = cost.argmin(axis=1)
        rows = np.flatnonzero(cost[np.arange(len(here)), best] < _PARTNER_REACH)
        span = columns.times[t + 1] - columns.times[t]
        moved[t, here[rows]] = steps[rows, best[rows]] / span
        grown[t, here[rows]] = growth[rows, best[rows]] / span
    return moved, grown


def _centres(boxes: Array) -> Array:
    return (boxes[..., :2] + boxes[..., 2:]) / 2


def _log_sides(columns: Columns) -> Array:
    sides = columns.boxes[..., 2:] - columns.boxes[..., :2]
    known = np.where(columns.present[..., None], sides, 1.0)
    return np.asarray(np.log(np.maximum(known, 1e-3)))
