"""Compiled loops over very many documents.

Importing this module imports numba: import it where it is needed.
"""

import numpy as np
from numba import njit

__all__ = ["SAMPLES_AT_ONCE", "add_counts", "sum_codes", "take_odds"]

SAMPLES_AT_ONCE = 64
"""Samples of a look by codes. The number is compiled in; so many 16-bit sums are four vectors."""


@njit(cache=True, nogil=True)
def sum_codes(codes, log_weights, scale, tables, shares, gains):  # type: ignore[no-untyped-def]
    """Add to ``gains (D,)`` what the likeliest component of each document gains on samples.

    Args:
        codes: ``(D, C, 5)`` bytes.
        log_weights: ``(D, C)``, at least -50.
        scale: What a nat is in ``tables``.
        tables: ``(5, 256, 64)`` 16-bit integers; no sum of five and a weight may overflow.
        shares: ``(64,)`` how much a unit of each sample counts.
        gains: ``(D,)``.
    """
    documents, components = codes.shape[:2]
    best = np.zeros(SAMPLES_AT_ONCE, np.int16)
    for d in range(documents):
        for s in range(SAMPLES_AT_ONCE):
            best[s] = 0
        for c in range(components):
            weight = np.int16(log_weights[d, c] * scale)
            row0, row1 = tables[0, codes[d, c, 0]], tables[1, codes[d, c, 1]]
            row2, row3 = tables[2, codes[d, c, 2]], tables[3, codes[d, c, 3]]
            row4 = tables[4, codes[d, c, 4]]
            for s in range(SAMPLES_AT_ONCE):
                total = np.int16(weight + row0[s] + row1[s] + row2[s] + row3[s] + row4[s])
                so_far = best[s]
                best[s] = total if total > so_far else so_far
        score = np.float32(0.0)
        for s in range(SAMPLES_AT_ONCE):
            score += np.float32(best[s]) * shares[s]
        gains[d] += score


@njit(cache=True, nogil=True)
def add_counts(units, counts, order, starts, rates, found, matched):  # type: ignore[no-untyped-def]
    """Add the counts of a term in some units to what is found in the documents of each.

    Args:
        units: ``(P,)`` units with the term.
        counts: ``(P,)`` how often it occurs there.
        order: ``(N,)`` documents, sorted by unit.
        starts: ``(U + 1,)`` where each unit starts among them.
        rates: ``(N,)`` what an occurrence in its unit counts in each document.
        found: ``(N,)`` to add to.
        matched: ``(N,)`` set where the term occurs.
    """
    for place in range(len(units)):
        unit = units[place]
        for at in range(starts[unit], starts[unit + 1]):
            document = order[at]
            found[document] += rates[document] * counts[place]
            matched[document] = True


@njit(cache=True, nogil=True, error_model="numpy")
def take_odds(found, share, odds):  # type: ignore[no-untyped-def]
    """Multiply ``odds`` by ``1 + found / share``, and clear ``found``."""
    scale = 1.0 / share
    for document in range(len(found)):
        odds[document] *= 1.0 + found[document] * scale
        found[document] = 0.0
