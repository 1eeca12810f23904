"""`NounLooks`: names tracks of things without classes by what the nouns look like."""

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wordsight.errors import MeaningError
from wordsight.meaning.features.track_looks import followed_regions, has_only_looks, track_looks
from wordsight.records import Clip

__all__ = ["LookMixture", "NounLooks", "log_densities", "log_sum"]

Array = NDArray[np.float64]


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
