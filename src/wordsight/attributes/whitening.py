"""Whitening of a source under a ridge: by Cholesky factors where they are exact, else by SVD."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular
from scipy.linalg.lapack import dpocon, dpotrf

__all__ = ["Whitening", "whitened", "whitening"]

Array = NDArray[np.float64]

_NEGLIGIBLE = 1e-10  # of the largest singular value: directions in which nothing varies
_WELL_POSED = 1e-6  # reciprocal condition number; above it Cholesky keeps ten digits


@dataclass(frozen=True)
class Whitening:
    """A linear map P under which a source has the identity as its (ridged) scatter.

    Attributes:
        centred: ``(N, D)`` the source, with column means of zero.
        factor: ``(D, D)`` lower triangular L with L Lᵀ the ridged scatter, P being the inverse of
            Lᵀ; or, where there is none, ``(D, k)`` the map itself.
        known: ``(N, k)`` the source whitened, where there is no triangular factor.
    """

    centred: Array
    factor: Array
    known: Array | None = None

    def back(self, table: Array) -> Array:
        """Return P times a table of k rows: weights of the source itself."""
        if self.known is not None:
            return np.asarray(self.factor @ table)
        solved = solve_triangular(self.factor, table, lower=True, trans="T", check_finite=False)
        return np.asarray(solved)

    @cached_property
    def points(self) -> Array:
        """``(N, k)`` the source, whitened."""
        return _solved(self.factor, self.centred.T).T if self.known is None else self.known

    def cross(self, other: "Whitening") -> Array:
        """Return ``(k, l)`` the scatter between this source and another, both whitened."""
        if self.known is not None or other.known is not None:
            return np.asarray(self.points.T @ other.points)
        # Factors are applied to the small table instead of to every sample.
        table = _solved(self.factor, self.centred.T @ other.centred)
        return _solved(other.factor, table.T).T


def whitening(centred: Array, ridge: float) -> Whitening:
    """Find the map that whitens a source.

    Args:
        centred: ``(N, D)`` with column means of zero.
        ridge: As a share of the mean variance of a column.
    """
    rows, columns = centred.shape
    if 0 < columns <= rows:  # none where nothing varies, as in identical pictures
        scatter = centred.T @ centred
        scatter[np.diag_indices(columns)] += ridge * np.trace(scatter) / max(columns, 1)
        factor, failed = dpotrf(scatter, lower=True, clean=True)
        size = float(np.abs(scatter).sum(axis=0).max(initial=0.0))
        if not failed and dpocon(factor, size, uplo="L")[0] > _WELL_POSED:
            return Whitening(centred, factor)
    points, back = whitened(centred, ridge)
    return Whitening(centred, back / np.sqrt(rows), points)


def whitened(centred: Array, ridge: float) -> tuple[Array, Array]:
    """Return ``(N, k)`` a source whitened under a ridge, and ``(D, k)`` the map that does it.

    By SVD, which holds where features outnumber samples or depend on one another.

    Args:
        centred: ``(N, D)`` with column means of zero.
        ridge: As a share of the mean variance of a column.
    """
    u, s, vt = np.linalg.svd(centred, full_matrices=False)
    kept = s > _NEGLIGIBLE * max(s.max(initial=0), 1e-300)
    u, s, vt = u[:, kept], s[kept], vt[kept]
    penalty = ridge * (s**2).sum() / max(centred.shape[1], 1)
    scale = np.sqrt(s**2 + penalty)
    return u * (s / scale), vt.T / scale * np.sqrt(len(centred))


def _solved(factor: Array, table: Array) -> Array:
    return np.asarray(solve_triangular(factor, table, lower=True, check_finite=False))
