"""Compiled loops over very many documents.

Importing this module imports numba: import it where it is needed.
"""

import numpy as np
from numba import njit

__all__ = [
    "SAMPLES_AT_ONCE",
    "add_counts",
    "add_unit_counts",
    "most_of_blocks",
    "most_of_units",
    "sum_codes",
    "take_odds",
]

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
def most_of_blocks(texts, counts, size, most):  # type: ignore[no-untyped-def]
    """Raise ``most (B,)`` to the largest count of a term in each block of documents.

    Args:
        texts: ``(P,)`` the documents with the term, ascending.
        counts: ``(P,)`` how often it occurs there.
        size: The number of documents of a block.
        most: ``(B,)``.
    """
    block, end = 0, size
    for place in range(len(texts)):
        if texts[place] >= end:  # most are in the block of the one before: a division takes longer
            block = texts[place] // size
            end = (block + 1) * size
        if counts[place] > most[block]:
            most[block] = counts[place]


@njit(cache=True, nogil=True)
def most_of_units(every, units, first, most):  # type: ignore[no-untyped-def]
    """Set ``most (B,)`` to the largest count of a term in a unit of each block.

    Args:
        every: ``(U,)`` how often the term occurs in every unit.
        units: ``(M,)`` the units of all blocks, block by block.
        first: ``(B + 1,)`` where each block starts among them, and their end.
        most: ``(B,)``.
    """
    for block in range(len(most)):
        largest = 0
        for place in range(first[block], first[block + 1]):
            largest = max(largest, every[units[place]])
        most[block] = largest


@njit(cache=True, nogil=True)
def add_counts(texts, counts, blocks, size, rates, found, matched):  # type: ignore[no-untyped-def]
    """Add the counts of a term in documents to what is found in those of some blocks.

    Args:
        texts: ``(P,)`` the documents with the term, ascending.
        counts: ``(P,)`` how often it occurs there.
        blocks: ``(b,)`` numbers of blocks, ascending.
        size: The number of documents of a block.
        rates: ``(N,)`` what an occurrence counts in each document.
        found: ``(b * size,)`` to add to, or as many as there are documents in these blocks.
        matched: As many, set where the term occurs.
    """
    low, entries = 0, len(texts)
    for number in range(len(blocks)):
        first = blocks[number] * size
        high = entries
        while low < high:
            middle = (low + high) // 2
            if texts[middle] < first:
                low = middle + 1
            else:
                high = middle
        while low < entries and texts[low] < first + size:
            document = texts[low]
            at = number * size + document - first
            found[at] += rates[document] * counts[low]
            matched[at] = True
            low += 1


@njit(cache=True, nogil=True)
def add_unit_counts(every, owner, blocks, size, rates, found, matched):  # type: ignore[no-untyped-def]
    """Add the counts of a term in units to what is found in the documents of some blocks.

    Args:
        every: ``(U,)`` how often the term occurs in every unit.
        owner: ``(N,)`` the unit of each document.
        blocks: ``(b,)`` numbers of blocks, ascending.
        size: The number of documents of a block.
        rates: ``(N,)`` what an occurrence in its unit counts in each document.
        found: ``(b * size,)`` to add to, or as many as there are documents in these blocks.
        matched: As many, set where the term occurs.
    """
    at = 0
    for number in range(len(blocks)):
        first = blocks[number] * size
        for document in range(first, min(first + size, len(owner))):
            count = every[owner[document]]
            if count:
                found[at] += rates[document] * count
                matched[at] = True
            at += 1


@njit(cache=True, nogil=True, error_model="numpy")
def take_odds(found, share, odds):  # type: ignore[no-untyped-def]
    """Multiply ``odds`` by ``1 + found / share``, and clear ``found``."""
    scale = 1.0 / share
    for document in range(len(found)):
        odds[document] *= 1.0 + found[document] * scale
        found[document] = 0.0
