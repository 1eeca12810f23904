"""Compiled kernels of chains: one small hidden Markov chain per track or pair, many at once.

Importing this module imports numba: import it where it is needed. All functions release the
interpreter lock, and the machine code is kept on disk after the first call.
"""

import numpy as np
from numba import njit

__all__ = [
    "add_counts",
    "add_rows",
    "backward_of_jumps",
    "best_of_jumps",
    "counts_of_chains",
    "counts_of_jumps",
    "forward_of_jumps",
    "forward_of_segments",
    "scores_of_chains",
]


@njit(cache=True, nogil=True)
def _forward(logs, chain, initial, transition, alpha, weights):  # type: ignore[no-untyped-def]
    """Fill ``alpha`` and ``weights``, both (T, I) and scaled per frame; return the log scale.

    Returns -inf where a frame has no possible state.
    """
    frames, _, states = logs.shape
    total = 0.0
    for t in range(frames):
        top = logs[t, chain, 0]
        for i in range(1, states):
            top = max(top, logs[t, chain, i])
        if top == -np.inf:
            return -np.inf
        mass = 0.0
        for i in range(states):
            weights[t, i] = np.exp(logs[t, chain, i] - top)
            value = initial[i]
            if t:
                value = 0.0
                for k in range(states):
                    value += alpha[t - 1, k] * transition[k, i]
            alpha[t, i] = value * weights[t, i]
            mass += alpha[t, i]
        if not mass > 0.0:
            return -np.inf
        for i in range(states):
            alpha[t, i] /= mass
        total += top + np.log(mass)
    return total


@njit(cache=True, nogil=True)
def _ended(last, final):  # type: ignore[no-untyped-def]
    mass = 0.0
    for i in range(len(final)):
        mass += last[i] * final[i]
    return mass


@njit(cache=True, nogil=True)
def scores_of_chains(logs, initial, transition, final, scores):  # type: ignore[no-untyped-def]
    """Fill ``scores`` (N,) with the log likelihood of each chain of ``logs`` (T, N, I)."""
    frames, chains, states = logs.shape
    alpha, weights = np.empty((frames, states)), np.empty((frames, states))
    for n in range(chains):
        total = _forward(logs, n, initial, transition, alpha, weights)
        mass = _ended(alpha[frames - 1], final) if total > -np.inf else 0.0
        scores[n] = total + np.log(mass) if mass > 0.0 else -np.inf


@njit(cache=True, nogil=True)
def _backward(transition, weights, final, beta):  # type: ignore[no-untyped-def]
    """Fill ``beta`` (T, I), each frame scaled to sum to one."""
    frames, states = beta.shape
    beta[frames - 1] = final
    for t in range(frames - 2, -1, -1):
        mass = 0.0
        for i in range(states):
            value = 0.0
            for k in range(states):
                value += transition[i, k] * weights[t + 1, k] * beta[t + 1, k]
            beta[t, i] = value
            mass += value
        for i in range(states):
            beta[t, i] /= mass


@njit(cache=True, nogil=True)
def _add_steps(alpha, beta, weights, transition, share, steps):  # type: ignore[no-untyped-def]
    """Add the expected steps of one chain, times ``share``, to ``steps`` (I, I)."""
    frames, states = alpha.shape
    for t in range(1, frames):
        mass = 0.0
        for i in range(states):
            for k in range(states):
                mass += alpha[t - 1, i] * transition[i, k] * weights[t, k] * beta[t, k]
        factor = share / mass
        for i in range(states):
            for k in range(states):
                step = alpha[t - 1, i] * transition[i, k] * weights[t, k] * beta[t, k]
                steps[i, k] += factor * step


@njit(cache=True, nogil=True)
def counts_of_chains(  # type: ignore[no-untyped-def]
    logs, initial, transition, final, shares, posteriors, steps
):
    """Fill ``posteriors`` (T, N, I) with shares of states and add shares of steps to ``steps``."""
    frames, chains, states = logs.shape
    alpha, beta = np.empty((frames, states)), np.empty((frames, states))
    weights = np.empty((frames, states))
    for n in range(chains):
        posteriors[:, n] = 0.0
        share = shares[n]
        if share == 0.0:
            continue
        total = _forward(logs, n, initial, transition, alpha, weights)
        if total == -np.inf or not _ended(alpha[frames - 1], final) > 0.0:
            continue
        _backward(transition, weights, final, beta)
        for t in range(frames):
            mass = _ended(alpha[t], beta[t])
            for i in range(states):
                posteriors[t, n, i] = share * alpha[t, i] * beta[t, i] / mass
        _add_steps(alpha, beta, weights, transition, share, steps)


# The compiled chain of places in a row, moved along by jumps of a few places.
#
# Importing this module imports numba: import it where it is needed. Everything is in logarithms,
# because a forced end far from what was seen would be lost below the smallest number otherwise.


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


# The compiled semi-Markov chain: stretches of time with durations, one state each.
#
# Importing this module imports numba: import it where it is needed. What a stretch emits is a
# difference of two cumulative sums, so the sum over all beginnings of a stretch is one row of
# products; only the ends need a logarithm.

_RISE = 40.0  # nats by which weights may grow before they are scaled again


@njit(cache=True, nogil=True)
def _entered(arrivals, transition, sources, edge, k):  # type: ignore[no-untyped-def]
    """Return the log weight of beginning state ``k`` where stretches of its sources end."""
    top = -np.inf
    for place in range(sources.shape[1]):
        before = sources[k, place]
        if before >= 0:
            top = max(top, arrivals[before] + transition[before, k])
    if top == -np.inf:
        return top
    mass = 0.0
    for place in range(sources.shape[1]):
        before = sources[k, place]
        if before >= 0:
            mass += np.exp(arrivals[before] + transition[before, k] - top)
    return top + np.log(mass) + edge


@njit(cache=True, nogil=True)
def forward_of_segments(  # type: ignore[no-untyped-def]
    cumulative, ticks, durations, edges, transition, sources, initial, first, starts, ends
):
    """Fill ``starts`` and ``ends``, both (K, E), with log weights of all ways to get there.

    ``starts[k, e]`` is the weight of all ways to begin state ``k`` at edge ``e``; ``ends`` of all
    ways that end it there. ``first[e]`` is the earliest edge from which a stretch may reach ``e``;
    ``sources`` (K, P) lists the states that may come before each one, filled up with -1.
    """
    states, count = cumulative.shape
    weights, scale = np.zeros((states, count)), np.full(states, -np.inf)
    for k in range(states):
        for e in range(count):
            starts[k, e] = -np.inf
            ends[k, e] = -np.inf
    for e in range(count):
        for k in range(states):
            if e:
                mass = 0.0
                for i in range(first[e], e):
                    mass += weights[k, i] * durations[k, ticks[e] - ticks[i]]
                if mass > 0.0:
                    ends[k, e] = np.log(mass) + scale[k] + cumulative[k, e]
        for k in range(states):
            entry = initial[k]
            if e:
                entry = _entered(ends[:, e], transition, sources, edges[e], k)
            starts[k, e] = entry
            if entry == -np.inf:
                continue
            value = entry - cumulative[k, e]
            if value > scale[k] + _RISE:
                shrink = np.exp(scale[k] - value)
                for i in range(first[e], e):
                    weights[k, i] *= shrink
                scale[k] = value
            weights[k, e] = np.exp(value - scale[k])


# The compiled look-ups: sums of table rows named by indices, and the counts that undo them.
#
# Importing this module imports numba: import it where it is needed.


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
