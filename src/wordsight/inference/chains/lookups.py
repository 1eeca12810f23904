"""Sums of table rows named by indices, and counts of rows: arrays in, arrays out.

What a state thinks of a choice of things is a sum over features of one table entry each; the
expected counts of those entries are the same look-up turned around.
"""

import math

import numpy as np
from numpy.typing import NDArray

from wordsight.inference.numba_support import numba_available

__all__ = ["counted_rows", "summed_rows"]

Array = NDArray[np.float64]
Ints = NDArray[np.int64]


def summed_rows(places: Ints, table: Array) -> Array:
    """Sum, for every place, the table rows its F indices name.

    Args:
        places: ``(F, ...)`` row numbers.
        table: ``(L, I)`` rows.

    Returns:
        ``(..., I)`` sums over F.
    """
    if not numba_available():
        return np.asarray(table[places].sum(axis=0))
    from wordsight.inference.chains.kernels import add_rows

    total = np.zeros((_size(places), table.shape[1]))
    add_rows(_flat(places), np.ascontiguousarray(table), total)
    return total.reshape(*places.shape[1:], table.shape[1])


def counted_rows(places: Ints, shares: Array, length: int) -> Array:
    """Sum shares by the rows that indices name: the transpose of :func:`summed_rows`.

    Args:
        places: ``(F, ...)`` row numbers.
        shares: ``(..., I)`` what each place adds to each of its rows.
        length: Number L of rows.

    Returns:
        ``(L, I)`` sums.
    """
    counts = np.zeros((length, shares.shape[-1]))
    if not numba_available():
        for rows in places:
            np.add.at(counts, rows, shares)
        return counts
    from wordsight.inference.chains.kernels import add_counts

    add_counts(_flat(places), np.ascontiguousarray(shares).reshape(-1, shares.shape[-1]), counts)
    return counts


def _flat(places: Ints) -> Ints:
    return np.ascontiguousarray(places).reshape(len(places), _size(places))


def _size(places: Ints) -> int:
    return math.prod(places.shape[1:])
