"""The compiled look-ups: sums of table rows named by indices, and the counts that undo them.

Importing this module imports numba: import it where it is needed.
"""

from numba import njit

__all__ = ["add_counts", "add_rows"]


@njit(cache=True, nogil=True)
def add_rows(places, table, total):  # type: ignore[no-untyped-def]
    """Add to ``total`` (N, I) the rows of ``table`` (L, I) that ``places`` (F, N) names."""
    features, count = places.shape
    states = table.shape[1]
    for f in range(features):
        for n in range(count):
            row = places[f, n]
            for i in range(states):
                total[n, i] += table[row, i]


@njit(cache=True, nogil=True)
def add_counts(places, shares, counts):  # type: ignore[no-untyped-def]
    """Add ``shares`` (N, I) to the rows of ``counts`` that each of ``places`` (F, N) names."""
    features, count = places.shape
    states = counts.shape[1]
    for f in range(features):
        for n in range(count):
            row = places[f, n]
            for i in range(states):
                counts[row, i] += shares[n, i]
