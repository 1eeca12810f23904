"""Compiled loop of forward greedy merge."""

import numpy as np
from numba import njit

__all__ = ["merge"]

_ONE = np.uint64(1)


@njit(cache=True, nogil=True)
def _least_model(bodies, heads, active, state):  # type: ignore[no-untyped-def]
    """Fill ``state`` with the least model; return whether *false* cannot be derived."""
    state[:] = 0
    changed = True
    while changed:
        changed = False
        for row in range(len(heads)):
            head = heads[row]
            if not active[row] or (
                head >= 0 and (state[head >> 6] >> np.uint64(head & 63)) & _ONE != 0
            ):
                continue
            missing = np.uint64(0)
            for word in range(len(state)):
                missing |= bodies[row, word] & ~state[word]
            if missing != 0:
                continue
            if head < 0:
                return False
            state[head >> 6] |= _ONE << np.uint64(head & 63)
            changed = True
    return True


@njit(cache=True, nogil=True)
def merge(bodies, heads, active, patience):  # type: ignore[no-untyped-def]
    """Pool frames ``active (T, C)`` greedily; return the state of each, ``(T, W)`` words."""
    moments = len(active)
    states = np.zeros((moments, bodies.shape[1]), np.uint64)
    state, trial = np.zeros(bodies.shape[1], np.uint64), np.zeros(bodies.shape[1], np.uint64)
    pool = np.zeros(len(heads), np.bool_)
    start, skipped = 0, 0
    t = 0
    while t < moments:
        if patience > 0 and not _least_model(bodies, heads, active[t], trial):
            t += 1  # it contradicts itself and is skipped
            continue
        both = pool | active[t]
        if _least_model(bodies, heads, both, trial):
            pool[:] = both
            state[:] = trial
            skipped = 0
            t += 1
            continue
        fits_later = False
        if t > start:
            for ahead in range(t + 1, min(t + 1 + patience - skipped, moments)):
                if _least_model(bodies, heads, pool | active[ahead], trial):
                    fits_later = True
                    break
        if fits_later:
            skipped += 1
            t += 1
            continue
        if t == start and patience == 0:
            # It contradicts itself: its state is empty, and the next frame starts a new pool.
            pool[:] = False
            state[:] = 0
            states[t] = 0
            t += 1
            start = t
            continue
        states[start:t] = state
        start, skipped = t, 0
        pool[:] = False
        state[:] = 0
    states[start:moments] = state
    return states
