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

_PAUSES = (0.01, 1.0, 3.0)  # seconds: none, a moment, a while, longer
_OVERLAPS = 3  # nothing, something or everything that is touched stays the same

CHANGE_KINDS = (len(_PAUSES) + 1) * _OVERLAPS
"""How many kinds of edge there are: pauses times overlaps."""

_TOUCHING = 1e-6  # seconds; less is no pause but rounding


@dataclass(frozen=True, eq=False)
class ChangePoints:
    """The moments at which a step may change, the start and the end of the video included.

    Attributes:
        first: ``(E - 1,)`` first chunk of each unit between neighbouring edges.
        moments: ``(E,)`` when, 0 at the start to 1 at the end.
        kinds: ``(E,)`` what happens there, 0 .. ``CHANGE_KINDS`` - 1.
        units: ``(T,)`` unit of each chunk.
    """

    first: NDArray[np.int64]
    moments: Array
    kinds: NDArray[np.int64]
    units: NDArray[np.int64]

    @property
    def sizes(self) -> Array:
        """``(E - 1,)`` how many chunks each unit has."""
        return np.asarray(np.bincount(self.units).astype(np.float64))


def find_change_points(
    encoded: Encoded, *, fewest: int = 1, most: int = 800, bias: Array | float = 0.0
) -> ChangePoints:
    """Find the edges of a video.

    Args:
        encoded: The text and the video.
        fewest: How many units are needed; every chunk is one where changes give fewer.
        most: How many units are kept of a long video, spread evenly over time.
        bias: ``(T, N)`` log weights by constraints; a step may change where they do.
    """
    tokens = encoded.things.tokens
    pauses = encoded.times[1:, 0] - encoded.times[:-1, 1]
    changes = (pauses > _TOUCHING) | (tokens[1:] != tokens[:-1]).any(axis=1)
    pinned = _pinned(encoded, bias)
    changes |= pinned
    if changes.sum() + 1 < fewest:
        changes[:] = True
    moments = edge_moments(encoded)
    if changes.sum() >= most:
        changes = _thinned(changes, pauses, moments[1:-1], most) | pinned
    first = np.concatenate([[0], 1 + np.flatnonzero(changes)])
    places = np.append(first, encoded.num_chunks)
    units = np.searchsorted(first, np.arange(encoded.num_chunks), side="right") - 1
    return ChangePoints(first, moments[places], _kinds(tokens, pauses)[places], units)


def _kinds(tokens: Array, pauses: Array) -> NDArray[np.int64]:
    """Return ``(T + 1,)`` the kind of each edge between chunks; the outermost do not matter."""
    shared = (tokens[1:] * tokens[:-1]).sum(axis=1)
    either = np.maximum(tokens[1:], tokens[:-1]).sum(axis=1)
    overlap = np.where(shared == 0, 0, np.where(shared == either, 2, 1))
    kinds = np.digitize(pauses, _PAUSES) * _OVERLAPS + overlap
    return np.concatenate([[0], kinds, [0]]).astype(np.int64)


def _thinned(
    changes: NDArray[np.bool_], pauses: Array, moments: Array, most: int
) -> NDArray[np.bool_]:
    """Keep the edge with the longest pause in each of ``most`` equal stretches of time."""
    places = np.flatnonzero(changes)
    stretch = np.minimum((moments[places] * most).astype(np.int64), most - 1)
    order = np.lexsort((-pauses[places], stretch))
    _, leaders = np.unique(stretch[order], return_index=True)
    kept = np.zeros(len(changes), dtype=bool)
    kept[places[order[leaders]]] = True
    return kept


def _pinned(encoded: Encoded, bias: Array | float) -> NDArray[np.bool_]:
    if isinstance(bias, float):
        return np.zeros(encoded.num_chunks - 1, dtype=bool)
    forbidden = bias <= FORBIDDEN / 2
    return np.asarray((forbidden[1:] != forbidden[:-1]).any(axis=1))
