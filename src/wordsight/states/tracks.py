"""Boxes made ready for measuring: identities gathered into tracks, gaps filled, jitter smoothed."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wordsight.records import Clip
from wordsight.states.errors import StateError
from wordsight.states.steadying import steadied

__all__ = ["Smoothing", "named_boxes", "prepared"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Smoothing:
    """How boxes are made ready.

    Attributes:
        median_frames: Length of the running median over each side of a box; 1 for none.
        fill_seconds: Longest gap in a track that is filled in, along a straight line.
        hold: Whether things are thought to be there all the time, before they are first seen and
            after they are last seen, where that was; where nothing may look ahead, nothing is known
            of them before.
        steady: Whether the shake of the camera is taken out, told by what resting things do
            together; ``elevation`` then counts from one table for the whole video. Needs the video
            as a whole, so it cannot be had where nothing may look ahead.
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


def prepared(
    boxes: Array, times: Array, smoothing: Smoothing | None = None, causal: bool = False
) -> Array:
    """Return boxes ``(T, n, P, 4)`` filled and smoothed; NaN where nothing is seen.

    With ``causal`` a gap holds the last box instead of what comes after it, and the median looks
    back only.
    """
    chosen = smoothing or Smoothing()
    if chosen.steady and causal:
        raise StateError(
            "the shake of a camera can be taken out of a whole video only; use steady=False where "
            "nothing may look ahead."
        )
    ready = boxes.copy()
    ready[~((boxes[..., 2] > boxes[..., 0]) & (boxes[..., 3] > boxes[..., 1]))] = np.nan
    for n in range(ready.shape[1]):
        for part in range(ready.shape[2]):
            _fill(ready[:, n, part], times, chosen, causal)
    if chosen.steady:
        ready = steadied(ready, times)
    return _medians(ready, chosen.median_frames, causal)


def _fill(boxes: Array, times: Array, chosen: Smoothing, causal: bool) -> None:
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
    """Return running medians along time; absent frames stay absent and do not count."""
    if length == 1 or len(boxes) < length:
        return boxes
    back = length - 1 if causal else length // 2
    rows = np.arange(len(boxes))[:, None] + np.arange(length)[None, :] - back
    windows = boxes[np.clip(rows, 0, len(boxes) - 1)]
    smooth = np.median(windows, axis=1)  # NaN if any frame of the window is
    return np.where(np.isnan(smooth), boxes, smooth)


def named_boxes(clip: Clip) -> tuple[list[tuple[str, str]], Array]:
    """Return ``(name, label)`` of each tracked thing of a clip and its boxes ``(T, n, 4)``."""
    seen = clip.detections
    if seen.ids is None:
        raise StateError(
            f"the detections of {clip.video_id} have no identities; follow them first, for "
            "example with 'wordsight track' or wordsight.perception.Tracker."
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
