"""Canonical correlation analysis: directions of two sources that vary together, by SVD.

Sources are whitened under a ridge, by Cholesky factors where they are accurate, otherwise by SVD.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import eigh, solve_triangular
from scipy.linalg.lapack import dpocon, dpotrf

from wordsight.errors import TeachingError

__all__ = ["CCA", "Whitening", "checked_sources", "whitened", "whitening"]

Array = NDArray[np.float64]

_NEGLIGIBLE = 1e-10  # of the largest singular value: directions without variance
_WELL_POSED = 1e-6  # reciprocal condition number above which Cholesky keeps ten digits


@dataclass(frozen=True)
class Whitening:
    """A linear map P that makes the (ridged) scatter of a source the identity.

    Attributes:
        centred: ``(N, D)`` the centred source.
        factor: ``(D, D)`` lower triangular L with L Lᵀ the ridged scatter, P being the inverse of
            Lᵀ; or, if ``known`` is given, ``(D, k)`` the map itself.
        known: ``(N, k)`` the whitened source, if there is no triangular factor.
    """

    centred: Array
    factor: Array
    known: Array | None = None

    def back(self, table: Array) -> Array:
        """Return P times a table of k rows: weights of the original source."""
        if self.known is not None:
            return np.asarray(self.factor @ table)
        solved = solve_triangular(self.factor, table, lower=True, trans="T", check_finite=False)
        return np.asarray(solved)

    @cached_property
    def points(self) -> Array:
        """``(N, k)`` the whitened source."""
        return _solved(self.factor, self.centred.T).T if self.known is None else self.known

    def cross(self, other: "Whitening") -> Array:
        """Return ``(k, l)`` the cross scatter of two whitened sources."""
        if self.known is not None or other.known is not None:
            return np.asarray(self.points.T @ other.points)
        # The factors are applied to the small table instead of every sample.
        table = _solved(self.factor, self.centred.T @ other.centred)
        return _solved(other.factor, table.T).T


def whitening(centred: Array, ridge: float) -> Whitening:
    """Compute the whitening of a source.

    Args:
        centred: ``(N, D)`` with column means of zero.
        ridge: As a share of the mean variance of a column.
    """
    rows, columns = centred.shape
    if 0 < columns <= rows:  # not for constant sources, such as identical pictures
        scatter = centred.T @ centred
        scatter[np.diag_indices(columns)] += ridge * np.trace(scatter) / max(columns, 1)
        factor, failed = dpotrf(scatter, lower=True, clean=True)
        size = float(np.abs(scatter).sum(axis=0).max(initial=0.0))
        if not failed and dpocon(factor, size, uplo="L")[0] > _WELL_POSED:
            return Whitening(centred, factor)
    points, back = whitened(centred, ridge)
    return Whitening(centred, back / np.sqrt(rows), points)


def whitened(centred: Array, ridge: float) -> tuple[Array, Array]:
    """Return ``(N, k)`` a source whitened under a ridge, and ``(D, k)`` the map.

    By SVD, also for more features than samples or dependent features.

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


_SMALL = 1e-3  # correlation; its square still has twelve digits
_FOLDS = 5


class CCA:
    r"""Regularised canonical correlation analysis.

    Finds the weights a, b that maximise the correlation of a·x and b·y, then the next pair
    uncorrelated with the first, and so on:

    .. math:: (\Sigma_{xx}+\rho_x I)^{-1/2}\Sigma_{xy}(\Sigma_{yy}+\rho_y I)^{-1/2}
        = U \mathrm{diag}(r) V^T

    Args:
        num_directions: The pairs to keep: a number, "permutation" (those correlated more than in
            95 % of shuffles of the pairs) or "held-out" (those that correlate on held-out pairs).
        ridge: Added to both sources' variances, as a share of the mean variance of a feature.
            Without it, 150 features and 600 pairs correlate nearly perfectly by chance.
        shuffles: Number of shuffles of "permutation".
        random_state: Seed of shuffles and folds.

    Attributes:
        correlations_: ``(d,)`` regularised correlations, descending.
        x_weights_: ``(Dx, d)``; ``y_weights_``: ``(Dy, d)``.
        x_mean_: ``(Dx,)``; ``y_mean_``: ``(Dy,)``.

    Examples:
        >>> random = np.random.default_rng(0)
        >>> shared = random.normal(size=(200, 1))
        >>> x = np.hstack([shared, random.normal(size=(200, 2))])
        >>> y = np.hstack([random.normal(size=(200, 2)), -shared])
        >>> CCA("permutation", ridge=(0, 0)).fit(x, y).correlations_.round(3)
        array([1.])
    """

    def __init__(
        self,
        num_directions: int | Literal["permutation", "held-out"] = "permutation",
        *,
        ridge: tuple[float, float] = (0.1, 0.5),
        shuffles: int = 40,
        random_state: int = 0,
    ) -> None:
        if isinstance(num_directions, int) and num_directions < 1:
            raise TeachingError(f"num_directions must be 1 or more, got {num_directions}.")
        if min(ridge) < 0:
            raise TeachingError(f"ridge must not be negative, got {ridge}.")
        self.num_directions = num_directions
        self.ridge = ridge
        self.shuffles = shuffles
        self.random_state = random_state

    def fit(self, x: ArrayLike, y: ArrayLike) -> Self:
        """Learn the directions from pairs of rows ``(N, Dx)`` and ``(N, Dy)``."""
        left, right = checked_sources(x, y)
        self.x_mean_, self.y_mean_ = left.mean(axis=0), right.mean(axis=0)
        px = whitening(left - self.x_mean_, self.ridge[0])
        py = whitening(right - self.y_mean_, self.ridge[1])
        u, r, v = self._directions(left, right, px, py)
        size = np.sqrt(len(left))
        self.correlations_: Array = np.minimum(r, 1.0)
        self.x_weights_, self.y_weights_ = _signed(px.back(u) * size, py.back(v) * size)
        return self

    def transform_x(self, x: ArrayLike) -> Array:
        """Return ``(N, d)`` the first source along the directions, of about unit variance."""
        return np.asarray((np.asarray(x, dtype=np.float64) - self.x_mean_) @ self.x_weights_)

    def transform_y(self, y: ArrayLike) -> Array:
        """Return ``(N, d)`` the second source along the directions."""
        return np.asarray((np.asarray(y, dtype=np.float64) - self.y_mean_) @ self.y_weights_)

    def transform(self, x: ArrayLike, y: ArrayLike) -> tuple[Array, Array]:
        """Return both sources along the directions."""
        return self.transform_x(x), self.transform_y(y)

    def score(self, x: ArrayLike, y: ArrayLike) -> Array:
        """Return ``(d,)`` the plain correlations of pairs along the directions."""
        return _correlations(*self.transform(x, y))

    def _directions(
        self, x: Array, y: Array, px: Whitening, py: Whitening
    ) -> tuple[Array, Array, Array]:
        """Return the leading singular vectors and values, left vectors first."""
        cross = px.cross(py)
        if isinstance(self.num_directions, int):
            leading = _leading(cross, self.num_directions)
            if leading is not None:
                return leading
        u, r, vt = np.linalg.svd(cross, full_matrices=False)
        count = min(self._count(x, y, px, py, r), len(r))
        return u[:, :count], r[:count], vt[:count].T

    def _count(self, x: Array, y: Array, px: Whitening, py: Whitening, r: Array) -> int:
        if self.num_directions == "permutation":
            return self._above_chance(px.points, py.points, r)
        if self.num_directions == "held-out":
            return self._above_noise(x, y)
        return int(self.num_directions)

    def _above_chance(self, px: Array, py: Array, r: Array) -> int:
        random = np.random.default_rng(self.random_state)
        shuffled = np.array(
            [
                np.linalg.svd(px.T @ py[random.permutation(len(py))], compute_uv=False)
                for _ in range(self.shuffles)
            ]
        )
        # The largest correlation of a shuffle is the strictest threshold.
        threshold = np.quantile(shuffled[:, 0], 0.95) if len(r) else 0.0
        return max(1, int((r > threshold).sum()))

    def _above_noise(self, x: Array, y: Array) -> int:
        random = np.random.default_rng(self.random_state)
        most = min(x.shape[1], y.shape[1], len(x) // 2)
        fold = random.permutation(len(x)) % _FOLDS
        held = np.zeros(most)
        for number in range(_FOLDS):
            inside, outside = fold != number, fold == number
            fitted = CCA(most, ridge=self.ridge).fit(x[inside], y[inside])
            scores = fitted.score(x[outside], y[outside])
            held[: len(scores)] += scores / _FOLDS
        # Two standard errors of a correlation of 0.
        noise = np.flatnonzero(held < 2 / np.sqrt(len(x)))
        return max(1, int(noise[0]) if len(noise) else most)


def checked_sources(*sources: ArrayLike) -> tuple[Array, ...]:
    """Return sources as float arrays ``(N, D)`` with the same N.

    Raises:
        TeachingError: If they are not finite tables of the same number of rows.
    """
    tables = tuple(np.asarray(source, dtype=np.float64) for source in sources)
    shapes = [table.shape for table in tables]
    if any(table.ndim != 2 for table in tables) or len({len(table) for table in tables}) != 1:
        raise TeachingError(f"sources must be tables with one row per sample, got {shapes}.")
    if len(tables[0]) < 2:
        raise TeachingError(f"at least two samples are needed, got {len(tables[0])}.")
    if not all(np.isfinite(table).all() for table in tables):
        raise TeachingError("sources contain values that are not finite.")
    return tables


def _leading(table: Array, count: int) -> tuple[Array, Array, Array] | None:
    """Return the leading singular vectors and values, left ones first, by an eigenproblem.

    ``None`` if that is not faster, or small values would lose precision by being squared.
    """
    if min(table.shape) < 2 * count:
        return None
    wide = table.shape[1] > table.shape[0]
    tall = table.T if wide else table
    size = tall.shape[1]
    squares, v = eigh(tall.T @ tall, subset_by_index=(size - count, size - 1), check_finite=False)
    values = np.sqrt(np.maximum(squares[::-1], 0.0))
    if values[-1] < _SMALL:
        return None
    v = v[:, ::-1]
    u = tall @ v / values
    return (v, values, u) if wide else (u, values, v)


def _signed(u: Array, v: Array) -> tuple[Array, Array]:
    """Choose the signs so that the largest weight of each pair is positive."""
    if not u.size:
        return u, v
    largest = u[np.abs(u).argmax(axis=0), np.arange(u.shape[1])]
    sign = np.where(largest < 0, -1.0, 1.0)
    return u * sign, v * sign


def _correlations(left: Array, right: Array) -> Array:
    left, right = left - left.mean(axis=0), right - right.mean(axis=0)
    size = np.sqrt((left**2).sum(axis=0) * (right**2).sum(axis=0))
    return np.asarray((left * right).sum(axis=0) / np.where(size > 0, size, 1.0))
