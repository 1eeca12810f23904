"""The detections of a clip as columns, one per track where detections have identities.

With identities, every identity becomes one column, short gaps are filled and boxes are smoothed.
Without, columns are as detected and have no meaning across frames. Motion is measured in seconds
and picture diagonals, independent of the frame rate and the picture size.
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from wordsight.records import Clip

__all__ = ["Columns", "columns_of", "motion_of", "runs", "track_rates"]

Array = NDArray[np.float64]

MAX_GAP = 0.5
"""Longest gap of a track, in seconds, that is filled in: an object behind a hand."""

SMOOTHING = 0.08
"""Half the window, in seconds, of the median filter over the boxes of a track."""

WINDOW = 0.1
"""Half the window, in seconds, over which a velocity is measured."""

WIDE_WINDOW = 0.25
"""The same where boxes are uncertain: jitter would hide slow motion in a shorter one."""

_PARTNER_REACH = 0.1  # diagonals a box may have moved or grown between frames to be a partner


@dataclass(frozen=True)
class Columns:
    """T frames of J columns of detections.

    Attributes:
        times: ``(T,)`` seconds.
        boxes: ``(T, J, 4)`` corners in pixels; zeros where not present.
        scores: ``(T, J)`` confidence, 0 where filled in.
        labels: ``(T, J)`` index into the clip's label names, that of the frame before where
            filled in.
        present: ``(T, J)`` whether the column has a box in the frame.
        indices: ``(T, J)`` column in the clip's own arrays, -1 where filled in or not present.
        tracked: Whether a column is one object throughout.
        carried: ``(T, J)`` whether that box is the nearest one of a tracklet, not detected.
    """

    times: Array
    boxes: Array
    scores: Array
    labels: NDArray[np.int64]
    present: NDArray[np.bool_]
    indices: NDArray[np.int64]
    tracked: bool
    carried: NDArray[np.bool_]


def columns_of(clip: Clip, *, tracked: bool | None = None) -> Columns:
    """Arrange the detections of a clip in columns.

    Args:
        clip: The clip.
        tracked: Whether columns follow identities; if None, where every detection has one.
    """
    ids = clip.detections.ids
    if tracked is None:
        tracked = ids is not None and bool((ids[clip.mask] >= 0).all()) and bool(clip.mask.any())
    if not tracked or ids is None:
        indices = np.broadcast_to(np.arange(clip.mask.shape[1]), clip.mask.shape)
        return Columns(
            clip.times,
            clip.boxes,
            clip.scores,
            clip.labels.astype(np.int64),
            clip.mask,
            np.where(clip.mask, indices, -1),
            False,
            np.zeros_like(clip.mask),
        )
    return _track_columns(clip, _indices_by_identity(ids, clip.mask))


def _indices_by_identity(ids: NDArray[np.int64], mask: NDArray[np.bool_]) -> NDArray[np.int64]:
    known = np.unique(ids[mask & (ids >= 0)])
    indices = np.full((len(ids), len(known)), -1, dtype=np.int64)
    rows, columns = np.nonzero(mask & (ids >= 0))
    indices[rows, np.searchsorted(known, ids[rows, columns])] = columns
    return indices


def _track_columns(clip: Clip, indices: NDArray[np.int64]) -> Columns:
    frames = np.arange(len(indices))[:, None]
    detected = indices >= 0
    boxes = np.where(detected[..., None], clip.boxes[frames, indices], 0.0)
    labels = np.where(detected, clip.labels[frames, indices], -1).astype(np.int64)
    scores = np.where(detected, clip.scores[frames, indices], 0.0)
    present = detected.copy()
    width = _smoothing_width(clip.times)
    for j in range(indices.shape[1]):
        _fill_gaps(clip.times, boxes[:, j], labels[:, j], present[:, j])
        for first, end in runs(present[:, j]):
            size = min(width, end - first)
            boxes[first:end, j] = _running_median(boxes[first:end, j], size)
    carried = np.zeros_like(present)
    return Columns(clip.times, boxes, scores, labels, present, indices, True, carried)


def _fill_gaps(
    times: Array, boxes: Array, labels: NDArray[np.int64], present: NDArray[np.bool_]
) -> None:
    """Interpolate the boxes in short gaps of one track, in place."""
    for before, after in pairwise(np.flatnonzero(present)):
        if after - before > 1 and times[after] - times[before] <= MAX_GAP:
            gap = slice(before + 1, after)
            share = (times[gap] - times[before]) / (times[after] - times[before])
            boxes[gap] = boxes[before] + share[:, None] * (boxes[after] - boxes[before])
            labels[gap] = labels[before]
            present[gap] = True


def runs(present: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Return the first index and the end (exclusive) of every run of true values."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], present.astype(np.int8), [0]])))
    return [(int(first), int(end)) for first, end in edges.reshape(-1, 2)]


def _running_median(values: Array, size: int) -> Array:
    """Return the median of each column over ``size`` rows, the first and last row repeated."""
    padded = np.pad(values, ((size // 2, (size - 1) // 2), (0, 0)), mode="edge")
    windows = np.stack([padded[first : first + len(values)] for first in range(size)])
    windows.partition(size // 2, axis=0)
    median: Array = windows[size // 2]
    return median


def _smoothing_width(times: Array) -> int:
    if len(times) < 2:
        return 1
    return 2 * int(SMOOTHING / float(np.median(np.diff(times)))) + 1


def motion_of(clip: Clip, columns: Columns, window: float = WINDOW) -> tuple[Array, Array]:
    """Return velocities ``(T, J, 2)`` in diagonals per second and growth ``(T, J, 2)`` per second.

    Growth is the rate of the logarithms of a box's width and height. Tracks are differentiated;
    else optical flow gives the velocity where the clip has it; else the nearest box of the same
    label in the next frame. Unknown values are NaN.
    """
    centres = (columns.boxes[..., :2] + columns.boxes[..., 2:]) / 2
    sides = columns.boxes[..., 2:] - columns.boxes[..., :2]
    sides = np.where(columns.present[..., None], sides, 1.0)
    log_sides = np.asarray(np.log(np.maximum(sides, 1e-3)))
    diagonal = float(np.hypot(*clip.detections.frame_size))
    if columns.tracked:
        values = np.concatenate([centres / diagonal, log_sides], axis=-1)
        rates = track_rates(columns.times, values, columns.present, window)
        return rates[..., :2], rates[..., 2:]
    moved, grown = _motion_to_partners(columns, centres / diagonal, log_sides)
    if clip.flow is not None:
        moved = np.where(columns.present[..., None], clip.flow / diagonal, np.nan)
    return moved, grown


def track_rates(
    times: Array, values: Array, present: NDArray[np.bool_], window: float = WINDOW
) -> Array:
    """Return rates of change of track values, by differences over a window inside each run.

    Args:
        times: ``(T,)`` seconds.
        values: ``(T, J, D)`` the values.
        present: ``(T, J)`` where there is a value.
        window: Half the window in seconds.

    Returns:
        ``(T, J, D)`` per second; 0 for a run of one frame, NaN where not present.
    """
    rates = np.full(values.shape, np.nan)
    for j in range(values.shape[1]):
        for first, end in runs(present[:, j]):
            here = times[first:end]
            early = np.searchsorted(here, here - window - 1e-9) + first
            late = np.searchsorted(here, here + window + 1e-9, side="right") - 1 + first
            # At slow frame rates no neighbour is inside the window: take the next frame.
            early = np.minimum(early, np.maximum(np.arange(first, end) - 1, first))
            late = np.maximum(late, np.minimum(np.arange(first, end) + 1, end - 1))
            span = np.maximum(times[late] - times[early], 1e-9)
            rates[first:end, j] = (values[late, j] - values[early, j]) / span[:, None]
    return rates


def _motion_to_partners(columns: Columns, centres: Array, log_sides: Array) -> tuple[Array, Array]:
    """Return motion and growth towards the nearest box of the same label in the next frame."""
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
