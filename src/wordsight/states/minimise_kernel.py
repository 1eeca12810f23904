"""The compiled search for the cheapest state of weighted Horn clauses, by what to give up.

A node is a set of clauses given up; the least model of the rest is tested by unit propagation, and
only clauses in the derivation of the conflict are worth giving up, because every satisfiable subset
lacks one of them. Each child keeps what its elder sisters gave up, so no set is met twice.
:mod:`wordsight.states.compiled` holds the entry points. Importing this module imports numba.
"""

import numpy as np
from numba import njit

from wordsight.states.horn_kernel import (
    active_clauses,
    derivation,
    has_bit,
    join_facts,
    member_of,
    propagate,
    put_bit,
    root_of,
)

__all__ = ["minimise_clauses"]

_ONE = np.uint64(1)
_EPSILON = 1e-9


@njit(nogil=True)
def _greedy(bodies, heads, weights, rows, removed, state, reasons, seen, found):  # type: ignore[no-untyped-def]
    """Give up the cheapest clause of each conflict until none is left, then take back in vain ones.

    Returns what was given up in all; ``removed`` and ``state`` hold the outcome.
    """
    order = np.empty(len(rows), np.int64)
    count, cost = 0, 0.0
    while True:
        failed = propagate(bodies, heads, rows, removed, state, reasons)
        if failed < 0:
            break
        size = derivation(bodies, failed, reasons, seen, found)
        best = found[0]
        for k in range(1, size):
            if weights[found[k]] < weights[best]:
                best = found[k]
        put_bit(removed, best)
        order[count] = best
        count += 1
        cost += weights[best]
    for k in range(count - 1):  # the last one is needed, or there would still be a conflict
        row = order[k]
        removed[row >> 6] &= ~(_ONE << np.uint64(row & 63))
        if propagate(bodies, heads, rows, removed, state, reasons) < 0:
            cost -= weights[row]
        else:
            put_bit(removed, row)
    propagate(bodies, heads, rows, removed, state, reasons)
    return cost


@njit(nogil=True)
def _push(heap, keys, size, node):  # type: ignore[no-untyped-def]
    at = size
    while at > 0:
        up = (at - 1) >> 1
        if keys[heap[up]] <= keys[node]:
            break
        heap[at] = heap[up]
        at = up
    heap[at] = node


@njit(nogil=True)
def _pop(heap, keys, size):  # type: ignore[no-untyped-def]
    """Remove and return the cheapest node; the heap then holds ``size - 1``."""
    top, last = heap[0], heap[size - 1]
    at, size = 0, size - 1
    while True:
        child = 2 * at + 1
        if child >= size:
            break
        if child + 1 < size and keys[heap[child + 1]] < keys[heap[child]]:
            child += 1
        if keys[heap[child]] >= keys[last]:
            break
        heap[at] = heap[child]
        at = child
    heap[at] = last
    return top


@njit(nogil=True)
def _search(bodies, heads, weights, rows, limit, state, reasons, seen, found):  # type: ignore[no-untyped-def]
    """Return the least weight to give up among ``rows``, and whether that is proved.

    At most ``limit`` nodes are expanded, any number if it is negative; ``state`` is filled with the
    least model of what is kept.
    """
    words = (len(heads) + 63) >> 6
    best = np.zeros(words, np.uint64)
    bound = _greedy(bodies, heads, weights, rows, best, state, reasons, seen, found)
    if limit == 0:
        return bound, False
    capacity = 64
    sets = np.zeros((capacity, 2, words), np.uint64)  # given up, kept
    keys, heap = np.zeros(capacity), np.zeros(capacity, np.int64)
    nodes, size, expanded = 1, 1, 0
    kept = np.zeros(words, np.uint64)
    trial = np.zeros_like(state)
    while size > 0:
        node = _pop(heap, keys, size)
        size -= 1
        if keys[node] >= bound - _EPSILON:
            return bound, True
        failed = propagate(bodies, heads, rows, sets[node, 0], trial, reasons)
        if failed < 0:
            state[:] = trial
            return keys[node], True
        if expanded == limit:
            return bound, False
        expanded += 1
        count = derivation(bodies, failed, reasons, seen, found)
        if nodes + count > capacity:
            capacity = 2 * (nodes + count)
            grown = np.zeros((capacity, 2, words), np.uint64)
            grown[:nodes] = sets[:nodes]
            sets = grown
            more_keys, more_heap = np.zeros(capacity), np.zeros(capacity, np.int64)
            more_keys[:nodes], more_heap[:size] = keys[:nodes], heap[:size]
            keys, heap = more_keys, more_heap
        kept[:] = sets[node, 1]
        for k in range(count):
            row = found[k]
            key = keys[node] + weights[row]
            if has_bit(kept, row):
                continue
            if key < bound - _EPSILON:
                sets[nodes, 0] = sets[node, 0]
                sets[nodes, 1] = kept
                put_bit(sets[nodes, 0], row)
                keys[nodes] = key
                _push(heap, keys, size, nodes)
                nodes += 1
                size += 1
            put_bit(kept, row)
    return bound, True


@njit(nogil=True)
def _cancel(weights, units, rest):  # type: ignore[no-untyped-def]
    """Set off clauses that assert a fact against those that forbid it; return what it costs."""
    cost = 0.0
    rest[:] = weights
    for fact in range(len(units)):
        for_, against = units[fact]
        if for_ >= 0 and against >= 0:
            least = min(rest[for_], rest[against])
            if least > 0.0:
                cost += least
                rest[for_] -= least
                rest[against] -= least
    return cost


@njit(nogil=True)
def minimise_clauses(bodies, heads, weights, units, limit, reduce, enough, state):  # type: ignore[no-untyped-def]
    """Find the state of least violated weight.

    Args:
        bodies: ``(C, W)`` bit sets.
        heads: ``(C,)`` facts, -1 for *false*.
        weights: ``(C,)`` not negative.
        units: ``(F, 2)`` from ``ClauseSet.units``.
        limit: How many nodes to expand; 0 for greed alone, negative for as many as needed.
        reduce: Whether to set off opposite unit clauses and to search unconnected parts apart.
        enough: Stop once the cost is known to reach this.
        state: ``(W,)`` filled with the state found.

    Returns:
        The weight given up, and whether it is the least possible.
    """
    rest = weights.copy()
    cost = _cancel(weights, units, rest) if reduce else 0.0
    if cost >= enough:
        return cost, True
    rows = np.empty(len(heads), np.int64)
    count, conflict = active_clauses(bodies, heads, rest, state, rows)
    if not conflict:
        return cost, True
    rows = rows[:count]
    words = bodies.shape[1]
    reasons = np.zeros(words * 64, np.int64)
    seen, found = np.zeros(words, np.uint64), np.empty(words * 64 + 1, np.int64)
    if not reduce:
        removed, exact = _search(bodies, heads, rest, rows, limit, state, reasons, seen, found)
        return removed, exact
    parents = np.empty(words * 64, np.int64)
    join_facts(bodies, heads, rows, parents)
    part, proved, labels = np.zeros(words, np.uint64), True, np.empty(count, np.int64)
    for k in range(count):
        fact = member_of(bodies[rows[k]], heads[rows[k]])
        labels[k] = -1 if fact < 0 else root_of(parents, fact)
    state[:] = 0
    for k in range(count):
        if labels[k] == -2:
            continue
        label = labels[k]
        mine = rows[labels == label]
        labels[labels == label] = -2
        removed, exact = _search(bodies, heads, rest, mine, limit, part, reasons, seen, found)
        cost += removed
        proved &= exact
        for word in range(words):
            state[word] |= part[word]
        if cost >= enough:
            return cost, proved
    return cost, proved
