"""Canonical correlation of more than two sources: what pictures, speech and text share."""

from collections.abc import Sequence
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wordsight.attributes.cca import checked_sources
from wordsight.attributes.errors import TeachingError
from wordsight.attributes.whitening import whitened

__all__ = ["GeneralisedCCA"]

Array = NDArray[np.float64]


class GeneralisedCCA:
    r"""Directions that all sources share (the MAXVAR criterion of Kettenring, 1971).

    A shared table G is sought that every source predicts as well as it can:
    :math:`\max_{G^TG=I}\sum_j \|P_j G\|^2`, with :math:`P_j` the (ridge) projection onto the
    columns of source j. It is the left singular vectors of the whitened sources side by side. For
    two sources without a ridge the directions are those of :class:`CCA`, and the shares are
    (1 + r) / 2.

    Args:
        num_directions: How many to keep.
        ridge: One for all sources, or one for each, as a share of a feature's mean variance.

    Attributes:
        shares_: ``(d,)`` how much of each direction the sources explain on average, 0 to 1.
        weights_: Per source ``(D_j, d)``.
        means_: Per source ``(D_j,)``.
    """

    def __init__(self, num_directions: int = 10, *, ridge: float | Sequence[float] = 0.1) -> None:
        if num_directions < 1:
            raise TeachingError(f"at least one direction is needed, got {num_directions}.")
        self.num_directions = num_directions
        self.ridge = ridge

    def fit(self, sources: Sequence[ArrayLike]) -> Self:
        """Learn from two or more sources ``(N, D_j)`` whose rows belong together."""
        if len(sources) < 2:
            raise TeachingError(f"two or more sources are needed, got {len(sources)}.")
        tables = checked_sources(*sources)
        ridges = self._ridges(len(tables))
        self.means_ = [table.mean(axis=0) for table in tables]
        pairs = [
            whitened(table - mean, ridge)
            for table, mean, ridge in zip(tables, self.means_, ridges, strict=True)
        ]
        shared, s, _ = np.linalg.svd(np.hstack([white for white, _ in pairs]), full_matrices=False)
        count = min(self.num_directions, int((s > 1e-10 * s.max(initial=1e-300)).sum()))
        self.shares_: Array = s[:count] ** 2 / len(tables)
        self.weights_ = [back @ (white.T @ shared[:, :count]) for white, back in pairs]
        return self

    def transform(self, sources: Sequence[ArrayLike | None]) -> list[Array | None]:
        """Return every source along the directions; ``None`` stays ``None``."""
        if len(sources) != len(self.weights_):
            raise TeachingError(
                f"{len(self.weights_)} sources were learned from, {len(sources)} came; pass None "
                "for one that is missing."
            )
        return [
            None if source is None else (np.asarray(source, dtype=np.float64) - mean) @ weights
            for source, mean, weights in zip(sources, self.means_, self.weights_, strict=True)
        ]

    def _ridges(self, count: int) -> list[float]:
        ridges = [self.ridge] * count if isinstance(self.ridge, int | float) else list(self.ridge)
        if len(ridges) != count or min(ridges) < 0:
            raise TeachingError(f"{count} sources need {count} ridges of 0 or more, got {ridges}.")
        return ridges
