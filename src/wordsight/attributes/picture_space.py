"""One space for all features of pictures: each kind on its main axes, all kinds weighing alike."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

__all__ = ["PictureSpace"]

Array = NDArray[np.float64]

_LEAST_SPREAD = 1e-6  # of a column beside the widest: less is rounding, not a difference


@dataclass(frozen=True, eq=False)
class PictureSpace:
    """An affine map per kind of feature, learned without words.

    Attributes:
        means: Per kind ``(D,)`` subtracted first.
        maps: Per kind ``(D, k)`` main axes, scaled so that each kind has a variance of 1 in all.
    """

    means: tuple[Array, ...]
    maps: tuple[Array, ...]

    @classmethod
    def fit(cls, kinds: Sequence[Array], num_axes: int | None = 30) -> "PictureSpace":
        """Learn the axes.

        Args:
            kinds: Per kind of feature ``(N, D)``.
            num_axes: Axes kept of each kind; ``None`` keeps the columns as they are, scaled.
        """
        means = tuple(kind.mean(axis=0) for kind in kinds)
        maps = tuple(_axes(kind - mean, num_axes) for kind, mean in zip(kinds, means, strict=True))
        return cls(means, maps)

    def transform(self, kinds: Sequence[Array]) -> Array:
        """Return ``(N, sum of k)``."""
        return np.hstack(
            [
                (kind - mean) @ axes
                for kind, mean, axes in zip(kinds, self.means, self.maps, strict=True)
            ]
        )

    @property
    def parts(self) -> list[slice]:
        """Which columns belong to which kind."""
        ends = np.cumsum([0, *(axes.shape[1] for axes in self.maps)])
        return [slice(int(a), int(b)) for a, b in pairwise(ends)]


def _axes(centred: Array, num_axes: int | None) -> Array:
    spread = centred.std(axis=0)
    used = spread > _LEAST_SPREAD * max(spread.max(initial=0), 1e-12)
    scale = np.where(used, 1 / np.where(used, spread, 1), 0.0)
    if num_axes is None:
        return np.asarray(np.diag(scale)[:, used])
    _, s, vt = np.linalg.svd(centred * scale, full_matrices=False)
    kept = (s > 1e-8 * max(s.max(initial=0), 1e-12)) & (np.arange(len(s)) < num_axes)
    size = np.sqrt(max((s[kept] ** 2).sum() / len(centred), 1e-300))
    return np.asarray(scale[:, None] * vt[kept].T / size)
