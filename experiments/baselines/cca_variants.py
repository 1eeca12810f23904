"""Kernel canonical correlation, and canonical correlation of more than two sources."""

from collections.abc import Sequence
from typing import Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wordsight.attributes.grouping.cca import checked_sources, whitened
from wordsight.errors import TeachingError

__all__ = ["GeneralisedCCA", "KernelCCA"]

Array = NDArray[np.float64]


Kernel = Literal["linear", "gaussian"]


class KernelCCA:
    r"""Regularised kernel canonical correlation analysis.

    With centred kernel matrices :math:`K_x, K_y` of the training pairs, the directions are the
    singular vectors of :math:`(K_x+\kappa I)^{-1}K_x K_y(K_y+\kappa I)^{-1}`; without κ any two
    sources would correlate perfectly.

    Args:
        num_directions: The number of pairs to keep.
        kernel: "gaussian", with the median distance of two samples as width, or "linear".
        ridge: κ for both sources, as a share of the kernels' mean diagonal times the samples.

    Attributes:
        correlations_: ``(d,)`` regularised correlations, descending.
    """

    def __init__(
        self, num_directions: int = 10, *, kernel: Kernel = "gaussian", ridge: float = 0.02
    ) -> None:
        if num_directions < 1 or ridge <= 0:
            raise TeachingError(
                f"num_directions must be 1 or more and ridge above 0, got {num_directions} and "
                f"{ridge}."
            )
        if kernel not in ("linear", "gaussian"):
            raise TeachingError(f"the kernel must be 'linear' or 'gaussian', got {kernel!r}.")
        self.num_directions = num_directions
        self.kernel: Kernel = kernel
        self.ridge = ridge

    def fit(self, x: ArrayLike, y: ArrayLike) -> Self:
        """Learn from pairs of rows ``(N, Dx)`` and ``(N, Dy)``, in O(N³)."""
        left, right = checked_sources(x, y)
        self._x, self._y = _KernelSource(left, self.kernel), _KernelSource(right, self.kernel)
        shrunk_x, solve_x = self._x.shrunk(self.ridge)
        shrunk_y, solve_y = self._y.shrunk(self.ridge)
        u, r, vt = np.linalg.svd(shrunk_x @ shrunk_y)
        count = min(self.num_directions, len(left) - 1)
        self.correlations_: Array = np.minimum(r[:count], 1.0)
        self._x.weights = solve_x @ u[:, :count]
        self._y.weights = solve_y @ vt[:count].T
        return self

    def transform_x(self, x: ArrayLike) -> Array:
        """Return ``(N, d)`` the first source along the directions."""
        return self._x.project(np.asarray(x, dtype=np.float64))

    def transform_y(self, y: ArrayLike) -> Array:
        """Return ``(N, d)`` the second source along the directions."""
        return self._y.project(np.asarray(y, dtype=np.float64))


class _KernelSource:
    """One source: its training samples and their centred kernel."""

    def __init__(self, samples: Array, kernel: Kernel) -> None:
        from scipy.spatial.distance import pdist

        self.samples = samples
        self.kernel = kernel
        self.width = 1.0
        self.weights = np.zeros((len(samples), 0))
        if kernel == "gaussian":
            distances = pdist(samples)
            distances = distances[distances > 0]
            self.width = float(np.median(distances)) if len(distances) else 1.0
        table = self._table(samples)
        self._columns, self._all = table.mean(axis=0), float(table.mean())
        self.centred = table - self._columns - self._columns[:, None] + self._all

    def shrunk(self, ridge: float) -> tuple[Array, Array]:
        """Return (K + κI)^-1 K and (K + κI)^-1."""
        values, vectors = np.linalg.eigh(self.centred)
        values = np.maximum(values, 0.0)
        kappa = ridge * max(float(values.sum()), 1e-12)
        inverse = (vectors / (values + kappa)) @ vectors.T
        return inverse @ self.centred, inverse

    def project(self, samples: Array) -> Array:
        """Return samples along the directions."""
        table = self._table(samples)
        centred = table - table.mean(axis=1, keepdims=True) - self._columns + self._all
        return np.asarray(centred @ self.weights)

    def _table(self, samples: Array) -> Array:
        from scipy.spatial.distance import cdist

        if self.kernel == "linear":
            return np.asarray(samples @ self.samples.T)
        return np.asarray(np.exp(-(cdist(samples, self.samples) ** 2) / (2 * self.width**2)))


class GeneralisedCCA:
    r"""Directions that all sources share (the MAXVAR criterion of Kettenring, 1971).

    The shared table G that all sources predict best,
    :math:`\max_{G^TG=I}\sum_j \|P_j G\|^2` with :math:`P_j` the (ridge) projection onto the columns
    of source j, consists of the left singular vectors of the concatenated whitened sources. For two
    sources without a ridge the directions are those of :class:`CCA`, and the shares (1 + r) / 2.

    Args:
        num_directions: The number of directions to keep.
        ridge: One for all sources, or one for each, as a share of a feature's mean variance.

    Attributes:
        shares_: ``(d,)`` the mean share of each direction that the sources explain, 0 to 1.
        weights_: Per source ``(D_j, d)``.
        means_: Per source ``(D_j,)``.
    """

    def __init__(self, num_directions: int = 10, *, ridge: float | Sequence[float] = 0.1) -> None:
        if num_directions < 1:
            raise TeachingError(f"num_directions must be 1 or more, got {num_directions}.")
        self.num_directions = num_directions
        self.ridge = ridge

    def fit(self, sources: Sequence[ArrayLike]) -> Self:
        """Learn from two or more sources ``(N, D_j)`` with corresponding rows."""
        if len(sources) < 2:
            raise TeachingError(f"at least two sources are needed, got {len(sources)}.")
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
                f"expected {len(self.weights_)} sources, got {len(sources)}; pass None for one "
                "that is missing."
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
