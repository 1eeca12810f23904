"""The space in which things are compared: axes of every kind of feature, linear and nonlinear."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from wordsight.errors import TeachingError

__all__ = ["KernelAxes", "PictureSpace"]

Array = NDArray[np.float64]
Labels = NDArray[np.intp]

_LANDMARKS = 120  # pictures that nonlinear maps compare with
_LEAST_SPREAD = 1e-6  # of a column relative to the widest: less is rounding
_USUAL_SPREAD = 0.1  # the same: columns that vary less count less


@dataclass(frozen=True, eq=False)
class KernelAxes:
    """A nonlinear map of one kind of features: kernel principal axes on landmarks.

    Attributes:
        landmarks: ``(m, k)`` pictures that others are compared with.
        width: Of the Gaussian kernel, their median distance.
        mean: ``(m,)`` similarity of pictures to the landmarks.
        axes: ``(m, r)`` principal axes of the similarities, of total variance 1.
    """

    landmarks: Array
    width: float
    mean: Array
    axes: Array

    @classmethod
    def fit(cls, x: Array, num_axes: int | None) -> "KernelAxes":
        """Learn from ``(N, k)`` pictures."""
        from scipy.spatial.distance import pdist

        different = np.unique(x, axis=0)
        order = np.random.default_rng(0).permutation(len(different))[:_LANDMARKS]
        landmarks = different[np.sort(order)]
        width = max(float(np.median(pdist(landmarks))) if len(landmarks) > 1 else 1.0, 1e-9)
        similar = _similarities(x, landmarks, width)
        mean = similar.mean(axis=0)
        return cls(landmarks, width, mean, _axes(similar - mean, num_axes))

    def transform(self, x: Array) -> Array:
        """Return ``(N, r)``."""
        return np.asarray((_similarities(x, self.landmarks, self.width) - self.mean) @ self.axes)


def _similarities(x: Array, landmarks: Array, width: float) -> Array:
    from scipy.spatial.distance import cdist

    return np.asarray(np.exp(-0.5 * cdist(x, landmarks, "sqeuclidean") / width**2))


@dataclass(frozen=True, eq=False)
class PictureSpace:
    """A common space of all features: an affine map per kind, learned without words.

    Attributes:
        means: Per kind ``(D,)``, subtracted first.
        maps: Per kind ``(D, k)`` principal axes, scaled so that each kind has total variance 1.
        kernels: Per kind a nonlinear map of those axes; none if maps are linear.
    """

    means: tuple[Array, ...]
    maps: tuple[Array, ...]
    kernels: tuple[KernelAxes, ...] = ()

    @classmethod
    def fit(
        cls, kinds: Sequence[Array], num_axes: int | None = 30, *, nonlinear: bool = False
    ) -> "PictureSpace":
        """Learn the axes.

        Args:
            kinds: Per kind of feature ``(N, D)``; rows of NaN were not measured.
            num_axes: Axes kept of each kind; ``None`` keeps the columns, scaled.
            nonlinear: Whether to add nonlinear axes of each kind.
        """
        seen = [kind[np.isfinite(kind).all(axis=1)] for kind in kinds]
        for number, rows in enumerate(seen):
            if not len(rows):
                raise TeachingError(f"source {number + 1} was measured of no thing; leave it out.")
        means = tuple(rows.mean(axis=0) for rows in seen)
        maps = tuple(_axes(rows - mean, num_axes) for rows, mean in zip(seen, means, strict=True))
        if not nonlinear:
            return cls(means, maps)
        kernels = tuple(
            KernelAxes.fit((rows - mean) @ axes, num_axes)
            for rows, mean, axes in zip(seen, means, maps, strict=True)
        )
        return cls(means, maps, kernels)

    def transform(self, kinds: Sequence[Array]) -> Array:
        """Return ``(N, sum of k)``: linear axes of every kind, then nonlinear ones.

        What was not measured is in the middle, where it speaks for no word.
        """
        linear = [
            (kind - mean) @ axes
            for kind, mean, axes in zip(kinds, self.means, self.maps, strict=True)
        ]
        missing = [np.isnan(kind).any(axis=1) for kind in kinds]
        for rows, without in zip(linear, missing, strict=True):
            rows[without] = 0.0
        curved = [
            kernel.transform(rows) * ~without.reshape(-1, 1)
            for kernel, rows, without in zip(self.kernels, linear, missing, strict=False)
        ]
        return np.hstack([*linear, *curved])

    @property
    def parts(self) -> list[Labels]:
        """The columns of each kind: linear axes, and nonlinear ones after those of all kinds."""
        widths = [axes.shape[1] for axes in self.maps]
        widths += [kernel.axes.shape[1] for kernel in self.kernels]
        ends = np.cumsum([0, *widths])
        own = [np.arange(a, b) for a, b in pairwise(ends.tolist())]
        if not self.kernels:
            return own
        return [np.concatenate(pair) for pair in zip(own, own[len(self.maps) :], strict=False)]

    @property
    def num_linear(self) -> int:
        """How many columns are linear; they come first."""
        return sum(axes.shape[1] for axes in self.maps)


def _axes(centred: Array, num_axes: int | None) -> Array:
    spread = centred.std(axis=0)
    most = max(spread.max(initial=0), 1e-12)
    used = spread > _LEAST_SPREAD * most
    if num_axes is None:
        return np.asarray(np.diag(1 / np.where(used, spread, 1))[:, used])
    # A column that hardly varies in the lessons is not blown up: elsewhere it may vary more.
    scale = np.where(used, 1 / np.hypot(spread, _USUAL_SPREAD * most), 0.0)
    _, s, vt = np.linalg.svd(centred * scale, full_matrices=False)
    kept = (s > 1e-8 * max(s.max(initial=0), 1e-12)) & (np.arange(len(s)) < num_axes)
    size = np.sqrt(max((s[kept] ** 2).sum() / len(centred), 1e-300))
    return np.asarray(scale[:, None] * vt[kept].T / size)
