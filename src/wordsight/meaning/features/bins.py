"""Discretising feature values: binning schemes that learn edges, and the bins they produce.

Most schemes treat values near zero separately: the share of frames without motion differs widely
between corpora, and plain quantiles would spend all bins on noise.
"""

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from wordsight.errors import MeaningError

__all__ = [
    "BinningScheme",
    "Bins",
    "CategoryBins",
    "ClusterBins",
    "FixedBins",
    "MagnitudeBins",
    "QuantileBins",
    "ShareBins",
    "SignedBins",
    "adapted_to_jitter",
]

Array = NDArray[np.float64]

_JITTER_FACTOR = 2.5  # times the median of objects at rest: nearly all of their values lie below
_MAX_JITTER = 4.0  # times the default limit of stillness: beyond, objects move most of the time


@dataclass(frozen=True)
class Bins:
    """The bins of a feature.

    Attributes:
        edges: ``(Z - 1,)`` rising; bin b holds values from edge b - 1 (inclusive) to edge b.
        names: ``Z`` names of the bins; derived from the edges if not given.
        circular: Whether values are angles in radians, whose last bin is also their first.
    """

    edges: Array
    names: tuple[str, ...] = ()
    circular: bool = False

    def __post_init__(self) -> None:
        edges = np.array(self.edges, dtype=np.float64)
        edges.setflags(write=False)
        object.__setattr__(self, "edges", edges)
        if edges.ndim != 1 or not np.isfinite(edges).all() or (np.diff(edges) < 0).any():
            raise MeaningError(f"edges of bins are a row of rising numbers, got {self.edges}.")
        if not self.names:
            object.__setattr__(self, "names", _default_names(edges))
        most = len(edges) + 1
        fewest = 1 if self.circular else most
        if not fewest <= len(self.names) <= most or not all(isinstance(n, str) for n in self.names):
            raise MeaningError(f"{len(edges)} edges make {most} bins, got names {self.names}.")

    def __len__(self) -> int:
        return len(self.names)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Bins) and self.to_json() == other.to_json()

    def __hash__(self) -> int:
        return hash((self.edges.tobytes(), self.names))

    def __call__(self, values: Array) -> NDArray[np.int64]:
        """Return the bin of each value, -1 for NaN."""
        known = np.isfinite(values)
        bins = np.digitize(np.where(known, values, 0.0), self.edges)
        if self.circular:
            bins = bins % len(self.names)
        return np.where(known, bins, -1)

    def to_json(self) -> dict[str, Any]:
        """Return a JSON representation."""
        return {
            "edges": self.edges.tolist(),
            "names": list(self.names),
            "circular": self.circular,
        }

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> "Bins":
        """Undo :meth:`to_json`."""
        return cls(np.array(values["edges"]), tuple(values["names"]), bool(values["circular"]))


class BinningScheme(Protocol):
    """Learns bins from the values of training clips."""

    def learn(self, values: Array) -> Bins:
        """Return the bins for ``(N,)`` finite values; N may be 0."""


@dataclass(frozen=True)
class QuantileBins:
    """Equally many values in each bin."""

    count: int = 5

    def learn(self, values: Array) -> Bins:
        """Return bins between quantiles."""
        return Bins(_quantiles(values, self.count))


@dataclass(frozen=True)
class MagnitudeBins:
    """Values from 0 up: one bin up to ``still``, quantiles of the rest."""

    still: float
    count: int = 5

    def learn(self, values: Array) -> Bins:
        """Return bins split at the limit of stillness and at quantiles above it."""
        moving = values[values > self.still]
        return Bins(_rising(np.concatenate([[self.still], _quantiles(moving, self.count - 1)])))


@dataclass(frozen=True)
class SignedBins:
    """Values around 0: strongly or weakly negative, near 0, weakly or strongly positive."""

    still: float

    def learn(self, values: Array) -> Bins:
        """Return bins split at the limit of stillness and at the median magnitude beyond it."""
        beyond = np.abs(values[np.abs(values) > self.still])
        middle = float(np.median(beyond)) if len(beyond) else 2 * self.still
        return Bins(np.array([-middle, -self.still, self.still, middle]))


@dataclass(frozen=True)
class ShareBins:
    """Values from 0 to 1 that are often exactly 0: one bin for 0, quantiles of the rest."""

    count: int = 5

    def learn(self, values: Array) -> Bins:
        """Return bins split just above 0 and at quantiles strictly between 0 and 1."""
        inner = values[(values > 1e-6) & (values < 1 - 1e-6)]
        return Bins(np.concatenate([[1e-6], _quantiles(inner, self.count - 1)]))


@dataclass(frozen=True)
class FixedBins:
    """Bins that do not depend on the data."""

    edges: tuple[float, ...]
    names: tuple[str, ...] = ()
    circular: bool = False

    def learn(self, values: Array) -> Bins:
        """Return the given bins, whatever the values."""
        return Bins(np.array(self.edges), self.names, self.circular)


@dataclass(frozen=True)
class CategoryBins:
    """Values that are indices of named categories."""

    names: tuple[str, ...]

    def learn(self, values: Array) -> Bins:
        """Return one bin per category."""
        return Bins(np.arange(len(self.names) - 1, dtype=np.float64) + 0.5, self.names)


@dataclass(frozen=True)
class ClusterBins:
    """Edges half way between the centres of one-dimensional k-means, started at quantiles."""

    count: int = 5
    iterations: int = 50

    def learn(self, values: Array) -> Bins:
        """Return one bin per cluster."""
        centres = _quantile_points(values, (np.arange(self.count) + 0.5) / self.count)
        ordered = np.sort(values)
        sums = np.concatenate([[0.0], np.cumsum(ordered)])
        for _ in range(self.iterations):
            ends = np.searchsorted(ordered, (centres[1:] + centres[:-1]) / 2)
            bounds = np.concatenate([[0], ends, [len(ordered)]])
            sizes = np.diff(bounds)
            means = np.diff(sums[bounds]) / np.maximum(sizes, 1)
            centres = np.where(sizes > 0, means, centres)
        return Bins(_rising((centres[1:] + centres[:-1]) / 2))


def adapted_to_jitter(scheme: BinningScheme, values: Array) -> BinningScheme:
    """Return a scheme whose limit of stillness covers the jitter of detected boxes.

    Most objects rest most of the time, so the median magnitude measures the jitter.
    """
    if not isinstance(scheme, MagnitudeBins | SignedBins) or not len(values):
        return scheme
    jitter = _JITTER_FACTOR * float(np.median(np.abs(values)))
    return replace(scheme, still=float(np.clip(jitter, scheme.still, _MAX_JITTER * scheme.still)))


def _quantiles(values: Array, count: int) -> Array:
    return _rising(_quantile_points(values, np.arange(1, count) / count))


def _quantile_points(values: Array, shares: Array) -> Array:
    if not len(values):
        return np.asarray(shares)
    return np.asarray(np.quantile(values, shares))


def _rising(edges: Array) -> Array:
    """Sort edges; ties leave empty bins, which smoothing fills, rather than fewer bins."""
    if np.isnan(edges).any():
        raise MeaningError("bins cannot be learned from values that are NaN.")
    return np.maximum.accumulate(edges)


def _default_names(edges: Array) -> tuple[str, ...]:
    if not len(edges):
        return ("any",)
    inner = [f"{low:.3g} to {high:.3g}" for low, high in pairwise(edges)]
    return (f"below {edges[0]:.3g}", *inner, f"{edges[-1]:.3g} and more")
