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

__all__ = ["Columns", "columns_of"]

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
