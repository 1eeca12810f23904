"""The compiled chain of places in a row, moved along by jumps of a few places.

Importing this module imports numba: import it where it is needed. Everything is in logarithms,
because a forced end far from what was seen would be lost below the smallest number otherwise.
"""

import numpy as np
from numba import njit

__all__ = ["backward_of_jumps", "best_of_jumps", "counts_of_jumps", "forward_of_jumps"]


@njit(cache=True, nogil=True)
def forward_of_jumps(logs, offsets, jumps, initial, alpha):  # type: ignore[no-untyped-def]
    """Fill ``alpha`` (T, N): log weight of all ways to be at a place after a chunk."""
    chunks, places = logs.shape
    for n in range(places):
        alpha[0, n] = initial[n] + logs[0, n]
    for t in range(1, chunks):
        for n in range(places):
            top = -np.inf
            for d in range(len(offsets)):
                m = n - offsets[d]
                if 0 <= m < places:
                    top = max(top, alpha[t - 1, m] + jumps[d])
            if top == -np.inf:
                alpha[t, n] = -np.inf
                continue
            mass = 0.0
            for d in range(len(offsets)):
                m = n - offsets[d]
                if 0 <= m < places:
                    mass += np.exp(alpha[t - 1, m] + jumps[d] - top)
            alpha[t, n] = top + np.log(mass) + logs[t, n]


@njit(cache=True, nogil=True)
def backward_of_jumps(logs, offsets, jumps, final, beta):  # type: ignore[no-untyped-def]
    """Fill ``beta`` (T, N): log weight of all ways to go on from a place after a chunk."""
    chunks, places = logs.shape
    for n in range(places):
        beta[chunks - 1, n] = final[n]
    for t in range(chunks - 2, -1, -1):
        for n in range(places):
            top = -np.inf
            for d in range(len(offsets)):
                m = n + offsets[d]
                if 0 <= m < places:
                    top = max(top, jumps[d] + logs[t + 1, m] + beta[t + 1, m])
            if top == -np.inf:
                beta[t, n] = -np.inf
                continue
            mass = 0.0
            for d in range(len(offsets)):
                m = n + offsets[d]
                if 0 <= m < places:
                    mass += np.exp(jumps[d] + logs[t + 1, m] + beta[t + 1, m] - top)
            beta[t, n] = top + np.log(mass)


@njit(cache=True, nogil=True)
def counts_of_jumps(  # type: ignore[no-untyped-def]
    logs, offsets, jumps, alpha, beta, total, states, counts
):
    """Fill ``states`` (T, N) with posteriors and add expected jumps to ``counts`` (D,)."""
    chunks, places = logs.shape
    for t in range(chunks):
        for n in range(places):
            states[t, n] = np.exp(alpha[t, n] + beta[t, n] - total)
    for t in range(1, chunks):
        for n in range(places):
            after = logs[t, n] + beta[t, n] - total
            if states[t, n] == 0.0:
                continue
            for d in range(len(offsets)):
                m = n - offsets[d]
                if 0 <= m < places:
                    counts[d] += np.exp(alpha[t - 1, m] + jumps[d] + after)


@njit(cache=True, nogil=True)
def best_of_jumps(logs, offsets, jumps, initial, final, path):  # type: ignore[no-untyped-def]
    """Fill ``path`` (T,) with the best places and return their log weight, -inf if none."""
    chunks, places = logs.shape
    score, before = np.empty(places), np.empty(places)
    back = np.zeros((chunks, places), dtype=np.int8)
    for n in range(places):
        score[n] = initial[n] + logs[0, n]
    for t in range(1, chunks):
        before[:] = score
        for n in range(places):
            top, way = -np.inf, 0
            for d in range(len(offsets)):
                m = n - offsets[d]
                if 0 <= m < places and before[m] + jumps[d] > top:
                    top, way = before[m] + jumps[d], d
            score[n] = top + logs[t, n]
            back[t, n] = way
    best, place = -np.inf, 0
    for n in range(places):
        if score[n] + final[n] > best:
            best, place = score[n] + final[n], n
    for t in range(chunks - 1, -1, -1):
        path[t] = place
        place -= offsets[back[t, place]]
    return best
