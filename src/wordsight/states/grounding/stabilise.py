"""Preparation of boxes: tracks by identity, filled gaps, smoothing, and camera stabilisation.

Objects that rest on a table stay in place for a while, so the motion they share is that of the
camera. With it removed, one height of the table holds for the whole video.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wordsight.errors import StateError
from wordsight.records import Clip

__all__ = [
    "TrackSmoothing",
    "camera_shake",
    "heights_above_table",
    "lower_edges",
    "named_boxes",
    "prepare_boxes",
    "stabilised",
]


Array = NDArray[np.float64]

_SPAN = 0.25  # seconds to each side in which an object at rest keeps its place
_RESTS = (0.4, 0.25, 0.16)  # allowed motion in that span, in object heights, per iteration
_LOW = 0.3  # seconds that a lower edge must stay in place to count as resting on the table
_NEAR = 0.2  # tolerance of places on one table, in object heights


def stabilised(boxes: Array, times: Array) -> Array:
    """Return boxes ``(T, n, P, 4)`` with the motion of the camera removed."""
    shake = camera_shake(boxes.reshape(len(boxes), -1, 4), times)
    return np.asarray(boxes - np.tile(shake, 2)[:, None, None], dtype=np.float64)


def camera_shake(boxes: Array, times: Array) -> Array:
    """Return ``(T, 2)`` the displacement of the image by the camera, in pixels right and down.

    While an object rests it has one place, its median position; the shake of a frame is the median
    displacement of resting objects from their places. The two are estimated in turn, beginning with
    a loose criterion of rest that includes objects moved only by the camera.

    Args:
        boxes: ``(T, n, 4)`` tracks, NaN where an object is not visible.
        times: ``(T,)`` seconds.
    """
    shake = np.zeros((len(boxes), 2))
    known = ~np.isnan(boxes[..., 0])
    if len(boxes) < 2 or not known.any():
        return shake
    places = (boxes[..., :2] + boxes[..., 2:]) / 2
    height = float(np.median((boxes[..., 3] - boxes[..., 1])[known]))
    span = max(1, round(_SPAN / float(np.median(np.diff(times)))))
    for share in _RESTS:
        still = places - shake[:, None]
        motion = np.abs(_later(still, span) - _later(still, -span)).max(axis=-1)
        estimate = _common_motion(places, still, known & (motion <= share * height), 2 * span)
        if estimate is None:
            break
        shake = estimate
    return shake


def _common_motion(
    places: Array, still: Array, rests: NDArray[np.bool_], least: int
) -> Array | None:
    """Return the median displacement of resting objects, or ``None`` if none rests."""
    moved = np.full(places.shape, np.nan)
    for column in range(rests.shape[1]):
        edges = np.flatnonzero(np.diff(rests[:, column], prepend=False, append=False))
        for begin, end in zip(edges[::2], edges[1::2], strict=True):
            if end - begin >= least:
                home = np.median(still[begin:end, column], axis=0)
                moved[begin:end, column] = places[begin:end, column] - home
    known = np.flatnonzero(~np.isnan(moved[..., 0]).all(axis=1))
    if not len(known):
        return None
    middle = np.nanmedian(moved[known], axis=1)
    frames = np.arange(len(places))
    shake = np.stack([np.interp(frames, known, middle[:, k]) for k in (0, 1)], axis=1)
    return np.asarray(shake - np.median(shake, axis=0), dtype=np.float64)


def heights_above_table(whole: Array, times: Array) -> Array:
    """Return ``(T, n)`` heights of objects above the table, in pixels.

    The table is the median of the lowest places at which objects rest. An object that stands there
    is measured from its own median place, and is as high as its lower and its upper edge agree on:
    a box that is occluded or too large moves one edge only.

    Args:
        whole: ``(T, n, 4)`` boxes of a steady camera, NaN where an object is not visible.
        times: ``(T,)`` seconds.
    """
    lowest = _lowest_kept(whole[..., 3], times)
    if not np.isfinite(lowest).any():
        return np.nanmax(whole[..., 3], initial=-np.inf) - whole[..., 3]
    near = _NEAR * float(np.nanmedian(whole[..., 3] - whole[..., 1]))
    on_table = lowest >= lowest.max() - near
    line = float(np.median(lowest[on_table]))
    heights: Array = line - whole[..., 3]
    for column in np.flatnonzero(on_table):
        edges = whole[:, column, [1, 3]]
        stands = edges[:, 1] >= line - near
        rises = np.median(edges[stands], axis=0) - edges
        together = np.sign(rises[:, 0]) == np.sign(rises[:, 1])
        least = np.abs(rises).min(axis=1) * np.sign(rises[:, 1])
        apart = np.where(np.isnan(rises[:, 0]), np.nan, 0.0)
        heights[:, column] = np.where(together, least, apart)
    return heights


def _lowest_kept(bottoms: Array, times: Array) -> Array:
    """Return ``(n,)`` the lowest row at which each lower edge rests, or minus infinity."""
    if not len(times):
        return np.full(bottoms.shape[1], -np.inf)
    step = float(np.median(np.diff(times))) if len(times) > 1 else 1.0
    span = min(max(1, round(_LOW / step)), len(bottoms))
    windows = np.lib.stride_tricks.sliding_window_view(bottoms, span, axis=0)
    kept = np.median(windows, axis=-1)  # NaN where it is not visible throughout
    return np.asarray(np.where(np.isnan(kept), -np.inf, kept).max(axis=0), dtype=np.float64)


def _later(values: Array, frames: int) -> Array:
    rows = np.clip(np.arange(len(values)) + frames, 0, len(values) - 1)
    return values[rows]


@dataclass(frozen=True)
class TrackSmoothing:
    """How boxes are prepared.

    Attributes:
        median_frames: Length of the running median over each coordinate of a box; 1 for none.
        fill_seconds: Longest gap in a track that is filled, by linear interpolation.
        hold: Whether objects are assumed to be present throughout, at their first box before it and
            at their last box after it. Causal measurements have no values before the first box.
        steady: Whether camera shake is removed, estimated from resting objects; ``elevation`` is
            then measured from one table for the whole video. Not possible for causal measurements.
    """

    median_frames: int = 5
    fill_seconds: float = 1.0
    hold: bool = False
    steady: bool = False

    def __post_init__(self) -> None:
        if self.median_frames < 1 or self.median_frames % 2 == 0:
            raise StateError(f"median_frames must be odd, got {self.median_frames}.")
        if not self.fill_seconds >= 0:
            raise StateError(f"fill_seconds must be 0 or more, got {self.fill_seconds}.")


def prepare_boxes(
    boxes: Array, times: Array, smoothing: TrackSmoothing | None = None, causal: bool = False
) -> Array:
    """Return boxes ``(T, n, P, 4)`` filled and smoothed; NaN where an object is not visible.

    With ``causal`` gaps are filled with the last box, and the median uses earlier frames only.
    """
    chosen = smoothing or TrackSmoothing()
    if chosen.steady and causal:
        raise StateError(
            "camera shake can be removed from a whole video only; use steady=False for causal "
            "measurements."
        )
    ready = boxes.copy()
    ready[~((boxes[..., 2] > boxes[..., 0]) & (boxes[..., 3] > boxes[..., 1]))] = np.nan
    for n in range(ready.shape[1]):
        for part in range(ready.shape[2]):
            _fill(ready[:, n, part], times, chosen, causal)
    if chosen.steady:
        ready = stabilised(ready, times)
    return _medians(ready, chosen.median_frames, causal)


def _fill(boxes: Array, times: Array, chosen: TrackSmoothing, causal: bool) -> None:
    """Fill the gaps of one track ``(T, 4)`` in place."""
    known = np.flatnonzero(~np.isnan(boxes[:, 0]))
    if not len(known) or len(known) == len(boxes):
        return
    rows = np.arange(len(boxes))
    before = np.searchsorted(known, rows, side="right") - 1
    after = np.minimum(before + 1, len(known) - 1)
    inside = (before >= 0) & (rows < known[-1])
    left = known[np.maximum(before, 0)]
    spans = times[known[after]] - times[left]
    fill = np.isnan(boxes[:, 0]) & inside
    fill &= (times - times[left] if causal else spans) <= chosen.fill_seconds
    if chosen.hold:
        fill |= np.isnan(boxes[:, 0]) & ((before >= 0) if causal else ~inside)
    source = boxes[known]
    for side in range(4):
        if causal:
            boxes[fill, side] = source[np.maximum(before, 0), side][fill]
        else:
            boxes[fill, side] = np.interp(times, times[known], source[:, side])[fill]


def _medians(boxes: Array, length: int, causal: bool) -> Array:
    """Return running medians along time; missing boxes stay missing and are not used."""
    if length == 1 or len(boxes) < length:
        return boxes
    back = length - 1 if causal else length // 2
    rows = np.arange(len(boxes))[:, None] + np.arange(length)[None, :] - back
    windows = boxes[np.clip(rows, 0, len(boxes) - 1)]
    smooth = np.median(windows, axis=1)  # NaN if any frame of the window is
    return np.where(np.isnan(smooth), boxes, smooth)


def named_boxes(clip: Clip) -> tuple[list[tuple[str, str]], Array]:
    """Return ``(name, label)`` of each tracked object of a clip and its boxes ``(T, n, 4)``."""
    seen = clip.detections
    if seen.ids is None:
        raise StateError(
            f"the detections of {clip.video_id} have no identities; track them first, for example "
            "with 'wordsight track' or wordsight.perception.Tracker."
        )
    known = seen.mask & (seen.ids >= 0)
    numbers = np.unique(seen.ids[known])
    boxes = np.full((len(seen), len(numbers), 4), np.nan)
    frames, places = np.nonzero(known)
    boxes[frames, np.searchsorted(numbers, seen.ids[known])] = seen.boxes[frames, places]
    labels = []
    for number in numbers:
        counted = np.bincount(seen.labels[known & (seen.ids == number)])
        labels.append(seen.label_names[int(counted.argmax())])
    names = [
        label if labels.count(label) == 1 else f"{label}-{number}"
        for label, number in zip(labels, numbers, strict=True)
    ]
    return list(zip(names, labels, strict=True)), boxes


def lower_edges(clip: Clip) -> dict[str, Array]:
    """Return per tracked object of a clip ``(T,)`` the lower edge of its box, NaN if not seen."""
    names, boxes = named_boxes(clip)
    return {name: boxes[:, k, 3] for k, (name, _) in enumerate(names)}
