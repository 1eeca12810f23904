"""The compiled semi-Markov chain: stretches of time with durations, one state each.

Importing this module imports numba: import it where it is needed. What a stretch emits is a
difference of two cumulative sums, so the sum over all beginnings of a stretch is one row of
products; only the ends need a logarithm.
"""

import numpy as np
from numba import njit

__all__ = ["forward_of_segments"]

_RISE = 40.0  # nats by which weights may grow before they are scaled anew


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
