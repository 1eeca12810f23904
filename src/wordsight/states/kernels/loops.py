"""Compiled loops over time and samples: shortest paths, greedy merge, and best conditions."""

import numpy as np
from numba import njit

__all__ = [
    "best_condition",
    "draw_paths",
    "forward_backward",
    "general_path",
    "merge",
    "order_path",
    "uniform_path",
]

_ONE = np.uint64(1)


@njit(cache=True, nogil=True)
def uniform_path(costs, transition, path):  # type: ignore[no-untyped-def]
    """Fill ``path`` (T,) through ``costs`` (T, S) where every change costs ``transition``."""
    frames, states = costs.shape
    total = costs[0].copy()
    came = np.zeros((frames, states), np.bool_)
    tops = np.zeros(frames, np.int64)
    for t in range(1, frames):
        top = np.argmin(total)
        tops[t], other = top, total[top] + transition
        for s in range(states):
            if other < total[s]:
                total[s] = other
                came[t, s] = True
            total[s] += costs[t, s]
    here = np.argmin(total)
    cost = total[here]
    for t in range(frames - 1, -1, -1):
        path[t] = here
        if came[t, here]:
            here = tops[t]
    return cost


@njit(cache=True, nogil=True)
def general_path(costs, transitions, path):  # type: ignore[no-untyped-def]
    """Fill ``path`` (T,) through ``costs`` (T, S) where i to k costs ``transitions[i, k]``."""
    frames, states = costs.shape
    total = costs[0].copy()
    came = np.zeros((frames, states), np.int64)
    for t in range(1, frames):
        fresh = np.empty(states)
        for s in range(states):
            best = 0
            for k in range(1, states):
                if total[k] + transitions[k, s] < total[best] + transitions[best, s]:
                    best = k
            came[t, s] = best
            fresh[s] = total[best] + transitions[best, s] + costs[t, s]
        total = fresh
    here = np.argmin(total)
    cost = total[here]
    for t in range(frames - 1, -1, -1):
        path[t] = here
        here = came[t, here]
    return cost


@njit(cache=True, nogil=True)
def order_path(costs, path):  # type: ignore[no-untyped-def]
    """Fill ``path`` (T,) through the steps of ``costs`` (T, N) in order, each at least one frame.

    Returns the cost, infinity where there are fewer frames than steps.
    """
    frames, steps = costs.shape
    total = np.full(steps, np.inf)
    total[0] = costs[0, 0]
    came = np.zeros((frames, steps), np.bool_)
    for t in range(1, frames):
        for n in range(steps - 1, -1, -1):
            if n > 0 and total[n - 1] < total[n]:
                total[n] = total[n - 1]
                came[t, n] = True
            total[n] += costs[t, n]
    here = steps - 1
    for t in range(frames - 1, -1, -1):
        path[t] = here
        if came[t, here]:
            here -= 1
    return total[steps - 1]


@njit(cache=True, nogil=True)
def forward_backward(evidence, change, forward, shares):  # type: ignore[no-untyped-def]
    """Fill ``forward`` (T, S) and posterior ``shares`` (T, S) of states from their ``evidence``.

    Evidence is relative likelihood, at most 1 and 1 somewhere in each row; a change to any other
    state weighs ``change``, staying 1. Every row of both results sums to 1.
    """
    frames, states = evidence.shape
    for t in range(frames):
        total = 0.0
        for s in range(states):
            came = 1.0 if t == 0 else (1.0 - change) * forward[t - 1, s] + change
            forward[t, s] = evidence[t, s] * came
            total += forward[t, s]
        for s in range(states):
            forward[t, s] /= total
    later = np.ones(states)
    for t in range(frames - 1, -1, -1):
        total = 0.0
        for s in range(states):
            shares[t, s] = forward[t, s] * later[s]
            total += shares[t, s]
        for s in range(states):
            shares[t, s] /= total
        weighed = 0.0
        for s in range(states):
            later[s] *= evidence[t, s]
            weighed += later[s]
        for s in range(states):
            later[s] = (1.0 - change) * later[s] / weighed + change


@njit(cache=True, nogil=True)
def draw_paths(forward, change, uniform, paths):  # type: ignore[no-untyped-def]
    """Fill ``paths`` (N, T) with draws from the posterior, by uniform numbers (N, T)."""
    frames, states = forward.shape
    for n in range(len(paths)):
        after = -1
        for t in range(frames - 1, -1, -1):
            total = 0.0
            for s in range(states):
                total += forward[t, s] * (1.0 if after < 0 or s == after else change)
            left = uniform[n, t] * total
            here = states - 1
            for s in range(states):
                left -= forward[t, s] * (1.0 if after < 0 or s == after else change)
                if left <= 0.0:
                    here = s
                    break
            paths[n, t] = here
            after = here


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


@njit(cache=True, nogil=True)
def best_condition(bins, rows, gradients, curvatures, levels, ridge, least, sign):  # type: ignore[no-untyped-def]
    """Find the condition whose rows a constant step explains best.

    Args:
        bins: ``(D, N)`` number of thresholds below each value, 255 where it is missing.
        rows: The rows to use.
        gradients: ``(N,)`` truth minus probability.
        curvatures: ``(N,)`` variance of the truth under the model.
        levels: ``(D,)`` number of thresholds of each feature.
        ridge: Added to the curvature, so that small groups do not get large steps.
        least: Least curvature that the rows must have together.
        sign: 1 for steps up, -1 for steps down, 0 for either.

    Returns:
        The gain, the feature, the threshold, and whether values must lie above it.
    """
    best, feature, level, above = 0.0, -1, -1, False
    up, curve = np.empty(256), np.empty(256)
    for d in range(len(bins)):
        up[: levels[d] + 1] = 0.0
        curve[: levels[d] + 1] = 0.0
        values = bins[d]
        total, whole = 0.0, 0.0
        for row in rows:
            value = values[row]
            if value != 255:
                up[value] += gradients[row]
                curve[value] += curvatures[row]
        for k in range(levels[d] + 1):
            total += up[k]
            whole += curve[k]
        low, below = 0.0, 0.0
        for k in range(levels[d]):
            low += up[k]
            below += curve[k]
            for side in range(2):
                push = low if side == 0 else total - low
                weight = below if side == 0 else whole - below
                if weight < least or push * sign < 0.0:
                    continue
                gain = push * push / (weight + ridge)
                if gain > best:
                    best, feature, level, above = gain, d, k, side == 1
    return best, feature, level, above
