"""From the detections of a clip to columns that can be followed: one per track, or as detected.

Where detections carry identities, every identity becomes one column, short gaps are filled and
boxes are smoothed. Where they do not, columns stay as they are and mean nothing across frames.
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import median_filter

from wordsight.records import Clip

__all__ = ["Columns", "columns_of", "motion_of", "track_rates"]


MAX_GAP = 0.5
"""Seconds a track may be out of sight and still be filled in: an object behind a hand."""

SMOOTHING = 0.08
"""Half the stretch of time, in seconds, over which the boxes of a track are median-filtered."""


@dataclass(frozen=True)
class Columns:
    """What was seen, in columns.

    Attributes:
        times: ``(T,)`` seconds.
        boxes: ``(T, J, 4)`` corners in pixels; zeros where not present.
        scores: ``(T, J)`` confidence, 0 where filled in.
        labels: ``(T, J)`` index into the clip's label names, that of the frame before where
            filled in.
        present: ``(T, J)`` whether the column has a box in the frame.
        places: ``(T, J)`` the place in the clip's own arrays, -1 where filled in or not present.
        tracked: Whether a column is one object throughout.
    """

    times: NDArray[np.float64]
    boxes: NDArray[np.float64]
    scores: NDArray[np.float64]
    labels: NDArray[np.int64]
    present: NDArray[np.bool_]
    places: NDArray[np.int64]
    tracked: bool


def columns_of(clip: Clip, *, tracked: bool | None = None) -> Columns:
    """Arrange the detections of a clip.

    Args:
        clip: The clip.
        tracked: Whether to follow identities; if not given, where every detection has one.
    """
    ids = clip.detections.ids
    if tracked is None:
        tracked = ids is not None and bool((ids[clip.mask] >= 0).all()) and bool(clip.mask.any())
    if not tracked or ids is None:
        places = np.broadcast_to(np.arange(clip.mask.shape[1]), clip.mask.shape)
        return Columns(
            clip.times,
            clip.boxes,
            clip.scores,
            clip.labels.astype(np.int64),
            clip.mask,
            np.where(clip.mask, places, -1),
            False,
        )
    return _followed(clip, _places_of_identities(ids, clip.mask))


def _places_of_identities(ids: NDArray[np.int64], mask: NDArray[np.bool_]) -> NDArray[np.int64]:
    known = np.unique(ids[mask & (ids >= 0)])
    places = np.full((len(ids), len(known)), -1, dtype=np.int64)
    rows, columns = np.nonzero(mask & (ids >= 0))
    places[rows, np.searchsorted(known, ids[rows, columns])] = columns
    return places


def _followed(clip: Clip, places: NDArray[np.int64]) -> Columns:
    frames = np.arange(len(places))[:, None]
    seen = places >= 0
    boxes = np.where(seen[..., None], clip.boxes[frames, places], 0.0)
    labels = np.where(seen, clip.labels[frames, places], -1).astype(np.int64)
    scores = np.where(seen, clip.scores[frames, places], 0.0)
    present = seen.copy()
    width = _smoothing_width(clip.times)
    for j in range(places.shape[1]):
        _fill(clip.times, boxes[:, j], labels[:, j], present[:, j])
        for first, end in runs(present[:, j]):
            size = min(width, end - first)
            boxes[first:end, j] = median_filter(boxes[first:end, j], size=(size, 1), mode="nearest")
    return Columns(clip.times, boxes, scores, labels, present, places, True)


def _fill(
    times: NDArray[np.float64],
    boxes: NDArray[np.float64],
    labels: NDArray[np.int64],
    present: NDArray[np.bool_],
) -> None:
    """Fill the short gaps of one track in place, boxes in a straight line between neighbours."""
    seen = np.flatnonzero(present)
    for before, after in pairwise(seen):
        if after - before > 1 and times[after] - times[before] <= MAX_GAP:
            gap = slice(before + 1, after)
            share = (times[gap] - times[before]) / (times[after] - times[before])
            boxes[gap] = boxes[before] + share[:, None] * (boxes[after] - boxes[before])
            labels[gap] = labels[before]
            present[gap] = True


def runs(present: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Return the first and the end (exclusive) of every run of true values."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], present.astype(np.int8), [0]])))
    return [(int(first), int(end)) for first, end in edges.reshape(-1, 2)]


def _smoothing_width(times: NDArray[np.float64]) -> int:
    if len(times) < 2:
        return 1
    return 2 * int(SMOOTHING / float(np.median(np.diff(times)))) + 1


# How boxes move: velocity and growth per second, from tracks, from flow or from likely partners.
#
# Everything is measured in seconds and in lengths of the picture's diagonal, so that neither the
# frame rate nor the size of the picture matters.


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
