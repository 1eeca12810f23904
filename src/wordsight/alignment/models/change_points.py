"""Change points: times at which the set of touched things changes.

Steps seldom change during a touch and often after a pause or with other things in hand. How often
is learned from the features computed here.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wordsight.alignment.constraints import FORBIDDEN
from wordsight.alignment.models.clock import edge_moments
from wordsight.alignment.models.encoding import Encoded

__all__ = ["CHANGE_KINDS", "ChangePoints", "find_change_points"]

Array = NDArray[np.float64]

_PAUSES = (0.01, 1.0, 3.0)  # seconds between none, short, medium and long pauses
_OVERLAPS = 3  # no, some or all touched things stay the same

CHANGE_KINDS = (len(_PAUSES) + 1) * _OVERLAPS
"""Number of kinds of change points: pauses times overlaps."""

_ROUNDING = 1e-6  # seconds; smaller pauses are rounding errors


@dataclass(frozen=True, eq=False)
class ChangePoints:
    """Times at which a step may change, including the start and the end of the video.

    Attributes:
        first: ``(E - 1,)`` first chunk of each unit between neighbouring change points.
        moments: ``(E,)`` times from 0 at the start to 1 at the end.
        kinds: ``(E,)`` kinds of change, 0 .. ``CHANGE_KINDS`` - 1.
        units: ``(T,)`` unit of each chunk.
    """

    first: NDArray[np.int64]
    moments: Array
    kinds: NDArray[np.int64]
    units: NDArray[np.int64]

    @property
    def sizes(self) -> Array:
        """``(E - 1,)`` number of chunks of each unit."""
        return np.asarray(np.bincount(self.units).astype(np.float64))


def find_change_points(
    encoded: Encoded, *, fewest: int = 1, most: int = 800, bias: Array | float = 0.0
) -> ChangePoints:
    """Find the change points of a video.

    Args:
        encoded: The text and the video.
        fewest: Least number of units; if changes give fewer, every chunk is a unit.
        most: Most units kept of a long video, spread evenly over time.
        bias: ``(T, N)`` log weights of constraints; a step may change where they change.
    """
    tokens = encoded.things.tokens
    pauses = encoded.times[1:, 0] - encoded.times[:-1, 1]
    changes = (pauses > _ROUNDING) | (tokens[1:] != tokens[:-1]).any(axis=1)
    constrained = _constrained(encoded, bias)
    changes |= constrained
    if changes.sum() + 1 < fewest:
        changes[:] = True
    moments = edge_moments(encoded)
    if changes.sum() >= most:
        changes = _thinned(changes, pauses, moments[1:-1], most) | constrained
    first = np.concatenate([[0], 1 + np.flatnonzero(changes)])
    places = np.append(first, encoded.num_chunks)
    units = np.searchsorted(first, np.arange(encoded.num_chunks), side="right") - 1
    return ChangePoints(first, moments[places], _kinds(tokens, pauses)[places], units)


def _kinds(tokens: Array, pauses: Array) -> NDArray[np.int64]:
    """Return ``(T + 1,)`` the kind of change between chunks; the outermost are not used."""
    shared = (tokens[1:] * tokens[:-1]).sum(axis=1)
    either = np.maximum(tokens[1:], tokens[:-1]).sum(axis=1)
    overlap = np.where(shared == 0, 0, np.where(shared == either, 2, 1))
    kinds = np.digitize(pauses, _PAUSES) * _OVERLAPS + overlap
    return np.concatenate([[0], kinds, [0]]).astype(np.int64)


def _thinned(
    changes: NDArray[np.bool_], pauses: Array, moments: Array, most: int
) -> NDArray[np.bool_]:
    """Keep the change with the longest pause in each of ``most`` equal intervals of time."""
    places = np.flatnonzero(changes)
    interval = np.minimum((moments[places] * most).astype(np.int64), most - 1)
    order = np.lexsort((-pauses[places], interval))
    _, leaders = np.unique(interval[order], return_index=True)
    kept = np.zeros(len(changes), dtype=bool)
    kept[places[order[leaders]]] = True
    return kept


def _constrained(encoded: Encoded, bias: Array | float) -> NDArray[np.bool_]:
    if isinstance(bias, float):
        return np.zeros(encoded.num_chunks - 1, dtype=bool)
    forbidden = bias <= FORBIDDEN / 2
    return np.asarray((forbidden[1:] != forbidden[:-1]).any(axis=1))
