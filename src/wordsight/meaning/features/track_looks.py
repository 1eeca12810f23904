"""What tracks of things without classes look like: one row of numbers per track.

A row has blocks that are weighted as wholes: the appearance that the detector computed, the size of
the box, and how it moves. Lengths are picture diagonals and seconds, so that neither resolution nor
frame rate matters.
"""

from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from wordsight.meaning.features.annotations import AnnotatedClip
from wordsight.perception.regions.codebook import is_look
from wordsight.perception.tracking.tracks import track_regions
from wordsight.records import Clip

__all__ = ["TrackLooks", "followed_regions", "has_only_looks", "look_blocks", "track_looks"]

Array = NDArray[np.float64]

_COLOURS = 33  # numbers of colour, texture and shape before the outlines, if there are any
_SIZES, _MOTIONS = 4, 4
_LEAST_LENGTH = 0.005  # diagonals; added before logarithms, so that rest and jitter are alike


@dataclass(frozen=True)
class TrackLooks:
    """The tracks of one clip.

    Attributes:
        ids: ``(N,)`` their identities.
        rows: ``(N, D)`` what they look like.
        visible: ``(N,)`` share of the frames in which each has a box.
        extent: ``(N,)`` how far its centre moves at most, in diagonals.
        height: ``(N,)`` median height in diagonals.
        nearness: ``(N, N)`` minus the smallest gap of two boxes at one time, in diagonals.
    """

    ids: NDArray[np.int64]
    rows: Array
    visible: Array
    extent: Array
    height: Array
    nearness: Array

    def __len__(self) -> int:
        return len(self.ids)


def has_only_looks(clip: Clip) -> bool:
    """Return whether the boxes of a clip have an appearance, but no classes."""
    if isinstance(clip, AnnotatedClip):
        return False  # what is known of its boxes would not fit those of tracks
    return clip.appearance is not None and all(map(is_look, clip.detections.label_names))


def followed_regions(clip: Clip) -> Clip:
    """Return a clip whose regions are tracked; one that has tracks already is returned as it is."""
    if clip.detections.ids is not None:
        return clip
    return replace(clip, detections=track_regions(clip.detections, clip.video_id))


def look_blocks(width: int) -> list[slice]:
    """Return the blocks of rows of this many numbers."""
    motion = width - _MOTIONS
    size = motion - _SIZES
    cuts = sorted({0, min(_COLOURS, size), size, motion, width})
    return [slice(low, high) for low, high in pairwise(cuts)]


def track_looks(clip: Clip) -> TrackLooks:
    """Describe the tracks of a clip; its detections need identities and an appearance."""
    seen = clip.detections
    assert seen.ids is not None and seen.appearance is not None
    ids = np.unique(seen.ids[seen.mask & (seen.ids >= 0)])
    diagonal = float(np.hypot(*seen.frame_size))
    boxes = np.full((len(ids), len(seen), 4), np.nan)
    looks = np.zeros((len(ids), seen.appearance.shape[2]))
    for number, track in enumerate(ids.tolist()):
        place = seen.mask & (seen.ids == track)
        boxes[number, np.nonzero(place)[0]] = seen.boxes[place] / diagonal
        looks[number] = seen.appearance[place].mean(axis=0)
    sides = np.log(np.maximum(boxes[..., 2:] - boxes[..., :2], _LEAST_LENGTH))
    centres = (boxes[..., :2] + boxes[..., 2:]) / 2
    if not len(ids):
        none = np.zeros(0)
        rows = np.zeros((0, looks.shape[1] + _SIZES + _MOTIONS))
        return TrackLooks(ids, rows, none, none, none, np.zeros((0, 0)))
    span = np.nanmax(centres, axis=1) - np.nanmin(centres, axis=1)
    extent, visible = np.hypot(*span.T), np.isfinite(boxes[..., 0]).mean(axis=1)
    sizes = np.concatenate([np.nanmedian(sides, axis=1), np.nanstd(sides, axis=1)], axis=1)
    speed = _mean_speed(centres, seen.times)
    lengths = np.stack([span[:, 0], span[:, 1], speed], axis=1)
    motion = np.concatenate([np.log(lengths + _LEAST_LENGTH), visible[:, None]], axis=1)
    height = np.exp(np.nanmedian(sides[..., 1], axis=1))
    rows = np.concatenate([looks, sizes, motion], axis=1)
    return TrackLooks(ids, rows, visible, extent, height, _nearness(boxes))


def _mean_speed(centres: Array, times: Array) -> Array:
    if len(times) < 2:
        return np.zeros(len(centres))
    steps = np.linalg.norm(np.diff(centres, axis=1), axis=2) / np.diff(times)
    known = np.isfinite(steps)
    return np.asarray(np.where(known, steps, 0).sum(axis=1) / np.maximum(known.sum(axis=1), 1))


def _nearness(boxes: Array) -> Array:
    """Return minus the smallest gap of each two tracks; -1 where they are never seen together."""
    low, high = boxes[..., :2], boxes[..., 2:]
    near = np.full((len(boxes), len(boxes)), -1.0)
    for number in range(len(boxes)):
        apart = np.maximum(np.maximum(low - high[number], low[number] - high), 0)
        gaps = np.hypot(apart[..., 0], apart[..., 1])
        near[number] = -np.where(np.isfinite(gaps), gaps, 1.0).min(axis=1, initial=1.0)
    return near
