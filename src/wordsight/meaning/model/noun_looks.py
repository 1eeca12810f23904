"""Appearance of tracks without classes, and `NounLooks`, which names tracks by it.

A row has blocks that are weighted as wholes: the appearance that the detector computed, the size of
the box, and how it moves. Lengths are picture diagonals and seconds, so that neither resolution nor
frame rate matters.
"""

from dataclasses import dataclass, fields, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wordsight.errors import MeaningError
from wordsight.meaning.features.annotations import AnnotatedClip
from wordsight.perception.regions.codebook import is_look
from wordsight.perception.tracking.tracks import track_regions
from wordsight.records import Clip

__all__ = [
    "LookMixture",
    "NounLooks",
    "TrackLooks",
    "followed_regions",
    "has_only_looks",
    "log_densities",
    "log_sum",
    "look_blocks",
    "track_looks",
]

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


@dataclass(frozen=True)
class LookMixture:
    """Gaussians with one covariance: one per noun, and several for everything else.

    Attributes:
        means: ``(K, d)`` centre of each noun.
        rest: ``(B, d)`` centres of what no noun refers to.
        shares: ``(B,)`` how much of that each accounts for.
        covariance: ``(d, d)`` covariance of all.
        prior: ``(K + 1,)`` log share of tracks that each noun refers to, and of the others.
    """

    means: Array
    rest: Array
    shares: Array
    covariance: Array
    prior: Array

    def log_ratios(self, points: Array) -> Array:
        """Return ``(N, K)`` log ratios of each noun's density to that of everything else."""
        every = log_densities(points, np.concatenate([self.means, self.rest]), self.covariance)
        count = len(self.means)
        return every[:, :count] - log_sum(every[:, count:] + np.log(self.shares))[:, None]


@dataclass(frozen=True)
class NounLooks:
    """What the nouns look like, learned from tracks and from which nouns were said of their clips.

    Attributes:
        nouns: K entries of the lexicon.
        centre: ``(D,)`` mean of the rows of training tracks.
        scale: ``(D,)`` factors that make blocks of numbers comparable.
        axes: ``(D, d)`` principal axes.
        mixtures: Models of several starts, whose probabilities are averaged.
        boldness: Log odds added for nouns: a thing that is missed costs more than one too many.
    """

    nouns: tuple[str, ...]
    centre: Array
    scale: Array
    axes: Array
    mixtures: tuple[LookMixture, ...]
    boldness: float = 0.7

    def points(self, rows: Array) -> Array:
        """Return ``(N, d)`` the rows of tracks in the space of the mixtures."""
        if rows.shape[1] != len(self.centre):
            raise MeaningError(
                f"these words were learned from looks of {len(self.centre)} numbers, but these "
                f"have {rows.shape[1]}; detect the videos again with the same detector."
            )
        return np.asarray((rows - self.centre) * self.scale @ self.axes)

    def probabilities(self, rows: Array) -> Array:
        """Return ``(N, K + 1)`` the probability of each noun, and last that none refers to it."""
        points = self.points(rows)
        total = np.zeros((len(rows), len(self.nouns) + 1))
        for mixture in self.mixtures:
            logs = np.zeros_like(total)
            logs[:, :-1] = mixture.log_ratios(points)
            logs += mixture.prior
            total += np.exp(logs - log_sum(logs)[:, None])
        return total / max(1, len(self.mixtures))

    def named(self, clip: Clip) -> Clip:
        """Return a clip with its tracks labelled by their nouns, without those of no noun.

        Boxes are tracked first where they have no identities. A clip whose detections have classes
        is returned as it is.
        """
        if not has_only_looks(clip):
            return clip
        tracked = followed_regions(clip)
        seen, looks = tracked.detections, track_looks(tracked)
        odds = np.log(self.probabilities(looks.rows) + 1e-12)
        odds[:, :-1] += self.boldness
        best = odds.argmax(axis=1)
        labels, kept = np.zeros(seen.mask.shape, np.int32), np.zeros_like(seen.mask)
        for track, noun in zip(looks.ids.tolist(), best.tolist(), strict=True):
            if noun < len(self.nouns):
                place = seen.mask & (seen.ids == track)
                labels[place], kept[place] = noun, True
        named = replace(seen, labels=labels, label_names=self.nouns, mask=kept)
        return replace(tracked, detections=named)

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Return the arrays to save."""
        arrays = {name: getattr(self, name) for name in ("centre", "scale", "axes")}
        for field in fields(LookMixture):
            arrays[field.name] = np.stack([getattr(one, field.name) for one in self.mixtures])
        return arrays

    @classmethod
    def from_arrays(
        cls, nouns: tuple[str, ...], arrays: dict[str, NDArray[Any]], boldness: float
    ) -> "NounLooks":
        """Undo :meth:`to_arrays`; raises a :class:`MeaningError` if arrays do not fit."""
        means, axes = arrays["means"], arrays["axes"]
        starts, rest, inner = len(means), arrays["rest"].shape[1], axes.shape[1]
        shapes = {
            "centre": (len(axes),),
            "scale": (len(axes),),
            "means": (starts, len(nouns), inner),
            "rest": (starts, rest, inner),
            "shares": (starts, rest),
            "covariance": (starts, inner, inner),
            "prior": (starts, len(nouns) + 1),
        }
        for name, shape in shapes.items():
            if arrays[name].shape != shape or not np.isfinite(arrays[name]).all():
                raise MeaningError(f"the {name} of the looks of nouns must be finite, {shape}.")
        names = [field.name for field in fields(LookMixture)]
        mixtures = tuple(
            LookMixture(**{name: arrays[name][number] for name in names})
            for number in range(starts)
        )
        return cls(nouns, arrays["centre"], arrays["scale"], axes, mixtures, boldness)


def log_densities(points: Array, centres: Array, covariance: Array) -> Array:
    """Return ``(N, M)`` log densities of points under Gaussians with one covariance."""
    root = np.linalg.cholesky(covariance)
    whitening = np.linalg.inv(root).T
    white, middle = points @ whitening, centres @ whitening
    squared = (white**2).sum(1)[:, None] - 2 * white @ middle.T + (middle**2).sum(1)
    size = points.shape[1] * np.log(2 * np.pi) + 2 * np.log(np.diag(root)).sum()
    return np.asarray(-0.5 * (squared + size))


def log_sum(logs: Array) -> Array:
    """Return the logarithm of the sum of exponentials along the last axis."""
    top = logs.max(axis=-1, keepdims=True)
    return np.asarray(top[..., 0] + np.log(np.exp(logs - top).sum(axis=-1)))


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
