"""Canonical correlation beyond straight lines: the same analysis on similarities of samples."""

from typing import Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wordsight.attributes.cca import checked_sources
from wordsight.attributes.errors import TeachingError

__all__ = ["KernelCCA"]

Array = NDArray[np.float64]
Kernel = Literal["linear", "gaussian"]


class KernelCCA:
    r"""Regularised kernel canonical correlation analysis.

    With centred kernel matrices :math:`K_x, K_y` of the training pairs, the directions are the
    singular vectors of :math:`(K_x+\kappa I)^{-1}K_x K_y(K_y+\kappa I)^{-1}`; κ is a share of the
    mean eigenvalue, without which any two sources would correlate perfectly.

    Args:
        num_directions: How many pairs to keep.
        kernel: "gaussian", as wide as the median distance of two samples, or "linear".
        ridge: κ for both sources, as a share of the kernels' mean diagonal times the samples.

    Attributes:
        correlations_: ``(d,)`` regularised correlations, falling.
    """

    def __init__(
        self, num_directions: int = 10, *, kernel: Kernel = "gaussian", ridge: float = 0.02
    ) -> None:
        if num_directions < 1 or ridge <= 0:
            raise TeachingError(
                f"a direction and a ridge above 0 are needed, got {num_directions} and {ridge}."
            )
        if kernel not in ("linear", "gaussian"):
            raise TeachingError(f"the kernel must be 'linear' or 'gaussian', got {kernel!r}.")
        self.num_directions = num_directions
        self.kernel: Kernel = kernel
        self.ridge = ridge

    def fit(self, x: ArrayLike, y: ArrayLike) -> Self:
        """Learn from pairs of rows ``(N, Dx)`` and ``(N, Dy)``; costs N cubed."""
        left, right = checked_sources(x, y)
        self._x, self._y = _Side(left, self.kernel), _Side(right, self.kernel)
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


class _Side:
    """One source: its training samples, their kernel and what centres it."""

    def __init__(self, samples: Array, kernel: Kernel) -> None:
        from scipy.spatial.distance import pdist

        self.samples = samples
        self.kernel = kernel
        self.width = 1.0
        self.weights = np.zeros((len(samples), 0))
        if kernel == "gaussian":
            apart = pdist(samples)
            self.width = float(np.median(apart[apart > 0])) if (apart > 0).any() else 1.0
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
