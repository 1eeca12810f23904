"""Dynamic time warping that may drop: each line is matched to chunks in order, some match none.

Drop-DTW (Dvornik et al., 2021): the cheapest way to match all lines in order, where a chunk may
also be dropped at a price of its own.
"""

import numpy as np
from numpy.typing import NDArray

from wordsight.inference.lattice.model import LatticeError

__all__ = ["drop_dtw"]

Array = NDArray[np.float64]


def drop_dtw(costs: Array, drops: Array) -> tuple[float, NDArray[np.int64]]:
    """Match lines to chunks.

    Args:
        costs: ``(T, N)`` cost of matching each chunk to each line.
        drops: ``(T,)`` cost of dropping each chunk.

    Returns:
        The least cost, and ``(T,)`` the line of each chunk, -1 where it was dropped.

    Raises:
        LatticeError: If there are fewer chunks than lines.
    """
    chunks, lines = costs.shape
    if chunks < lines or drops.shape != (chunks,):
        raise LatticeError(
            f"matching {lines} lines needs as many chunks and one drop cost each, got {chunks} "
            f"chunks and {drops.shape} drop costs."
        )
    # Row 0 is before the first line; matched and dropped are the two ways to be at a line.
    matched = np.full((chunks + 1, lines + 1), np.inf)
    dropped = np.full((chunks + 1, lines + 1), np.inf)
    dropped[:, 0] = np.concatenate([[0.0], np.cumsum(drops)])
    for t in range(1, chunks + 1):
        either = np.minimum(matched[t - 1], dropped[t - 1])
        matched[t, 1:] = costs[t - 1] + np.minimum(either[:-1], either[1:])
        dropped[t, 1:] = drops[t - 1] + either[1:]
    return _traced(matched, dropped)


def _traced(matched: Array, dropped: Array) -> tuple[float, NDArray[np.int64]]:
    chunks, lines = np.subtract(matched.shape, 1)
    path = np.full(chunks, -1, dtype=np.int64)
    at = lines
    is_match = bool(matched[chunks, at] <= dropped[chunks, at])
    best = float(min(matched[chunks, at], dropped[chunks, at]))
    for t in range(chunks, 0, -1):
        if is_match:
            path[t - 1] = at - 1
            before = min(matched[t - 1, at - 1], dropped[t - 1, at - 1])
            same = min(matched[t - 1, at], dropped[t - 1, at])
            at -= bool(before < same)
        is_match = bool(matched[t - 1, at] <= dropped[t - 1, at]) and at > 0
    return best, path
