"""Compiled search for the cheapest state of weighted Horn clauses, and for a sequence of them.

A node of the search is a set of clauses given up. The least model of the rest is tested by unit
propagation, and only clauses in the derivation of a conflict are worth giving up, because every
satisfiable subset lacks one of them. Each child keeps what its elder siblings gave up, so no set is
visited twice. The dynamic program over segments keeps, for each candidate start of the last
segment, the clause weights accumulated since, so frames can be fed one by one.

All functions are in this one file because numba checks only the file of an entry point when it
decides whether compiled code on disk is still valid.
"""

import numpy as np
from numba import njit

__all__ = ["advance", "minimise_clauses"]

_ONE = np.uint64(1)
_EPSILON = 1e-9
_NEVER = np.iinfo(np.int64).max


@njit(nogil=True)
def _has_bit(bits, index):  # type: ignore[no-untyped-def]
    """Whether a bit is set."""
    return (bits[index >> 6] >> np.uint64(index & 63)) & _ONE != 0


@njit(nogil=True)
def _put_bit(bits, index):  # type: ignore[no-untyped-def]
    """Set a bit."""
    bits[index >> 6] |= _ONE << np.uint64(index & 63)


@njit(nogil=True)
def _holds(state, body):  # type: ignore[no-untyped-def]
    """Whether a state holds all facts of a body."""
    missing = np.uint64(0)
    for word in range(len(body)):
        missing |= body[word] & ~state[word]
    return missing == 0


@njit(nogil=True)
def _propagate(bodies, heads, rows, removed, state, reasons):  # type: ignore[no-untyped-def]
    """Fill ``state`` with the least model; return the clause that derives *false*, or -1."""
    state[:] = 0
    changed = True
    while changed:
        changed = False
        for row in rows:
            head = heads[row]
            if head >= 0 and _has_bit(state, head):
                continue
            if _has_bit(removed, row) or not _holds(state, bodies[row]):
                continue
            if head < 0:
                return row
            _put_bit(state, head)
            reasons[head] = row
            changed = True
    return -1


@njit(nogil=True)
def _derivation(bodies, failed, reasons, seen, found):  # type: ignore[no-untyped-def]
    """Fill ``found`` with the clauses in the derivation of *false*; return how many."""
    seen[:] = 0
    found[0], count, at = failed, 1, 0
    while at < count:
        body = bodies[found[at]]
        at += 1
        for word in range(len(body)):
            rest = body[word] & ~seen[word]
            seen[word] |= rest
            for bit in range(64):
                if rest >> np.uint64(bit) == 0:
                    break
                if (rest >> np.uint64(bit)) & _ONE:
                    found[count] = reasons[word * 64 + bit]
                    count += 1
    return count


@njit(nogil=True)
def _active_clauses(bodies, heads, weights, state, rows):  # type: ignore[no-untyped-def]
    """Fill ``state`` with all derivable facts, ``rows`` with the clauses that can apply.

    Returns their number and whether *false* can be derived.
    """
    state[:] = 0
    changed = True
    while changed:
        changed = False
        for row in range(len(heads)):
            head = heads[row]
            if weights[row] <= 0.0 or head < 0 or _has_bit(state, head):
                continue
            if _holds(state, bodies[row]):
                _put_bit(state, head)
                changed = True
    count, conflict = 0, False
    for row in range(len(heads)):
        if weights[row] > 0.0 and _holds(state, bodies[row]):
            rows[count] = row
            count += 1
            conflict |= heads[row] < 0
    return count, conflict


@njit(nogil=True)
def _root_of(parents, fact):  # type: ignore[no-untyped-def]
    """Return the representative of the facts joined with this one."""
    while parents[fact] != fact:
        parents[fact] = parents[parents[fact]]
        fact = parents[fact]
    return fact


@njit(nogil=True)
def _member_of(body, head):  # type: ignore[no-untyped-def]
    """Return any fact of a clause, or -1."""
    if head >= 0:
        return head
    for word in range(len(body)):
        for bit in range(64):
            if (body[word] >> np.uint64(bit)) & _ONE:
                return word * 64 + bit
    return -1


@njit(nogil=True)
def _join_facts(bodies, heads, rows, parents):  # type: ignore[no-untyped-def]
    """Join the facts that occur in the same clause."""
    for fact in range(len(parents)):
        parents[fact] = fact
    for row in rows:
        first = _member_of(bodies[row], heads[row])
        for word in range(bodies.shape[1]):
            rest = bodies[row, word]
            for bit in range(64):
                if rest >> np.uint64(bit) == 0:
                    break
                if (rest >> np.uint64(bit)) & _ONE:
                    parents[_root_of(parents, word * 64 + bit)] = _root_of(parents, first)


@njit(nogil=True)
def _greedy(bodies, heads, weights, rows, removed, state, reasons, seen, found):  # type: ignore[no-untyped-def]
    """Give up the cheapest clause of each conflict, then restore those given up in vain.

    Returns the total weight given up; ``removed`` and ``state`` are filled with the result.
    """
    order = np.empty(len(rows), np.int64)
    count, cost = 0, 0.0
    while True:
        failed = _propagate(bodies, heads, rows, removed, state, reasons)
        if failed < 0:
            break
        size = _derivation(bodies, failed, reasons, seen, found)
        best = found[0]
        for k in range(1, size):
            if weights[found[k]] < weights[best]:
                best = found[k]
        _put_bit(removed, best)
        order[count] = best
        count += 1
        cost += weights[best]
    for k in range(count - 1):  # the last one is needed, or there would still be a conflict
        row = order[k]
        removed[row >> 6] &= ~(_ONE << np.uint64(row & 63))
        if _propagate(bodies, heads, rows, removed, state, reasons) < 0:
            cost -= weights[row]
        else:
            _put_bit(removed, row)
    _propagate(bodies, heads, rows, removed, state, reasons)
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
        failed = _propagate(bodies, heads, rows, sets[node, 0], trial, reasons)
        if failed < 0:
            state[:] = trial
            return keys[node], True
        if expanded == limit:
            return bound, False
        expanded += 1
        count = _derivation(bodies, failed, reasons, seen, found)
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
            if _has_bit(kept, row):
                continue
            if key < bound - _EPSILON:
                sets[nodes, 0] = sets[node, 0]
                sets[nodes, 1] = kept
                _put_bit(sets[nodes, 0], row)
                keys[nodes] = key
                _push(heap, keys, size, nodes)
                nodes += 1
                size += 1
            _put_bit(kept, row)
    return bound, True


@njit(nogil=True)
def _cancel(weights, units, rest):  # type: ignore[no-untyped-def]
    """Cancel clauses that assert a fact against those that forbid it; return the cost."""
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


@njit(cache=True, nogil=True)
def minimise_clauses(bodies, heads, weights, units, limit, reduce, enough, state):  # type: ignore[no-untyped-def]
    """Find the state of least violated weight.

    Args:
        bodies: ``(C, W)`` bit sets.
        heads: ``(C,)`` facts, -1 for *false*.
        weights: ``(C,)`` not negative.
        units: ``(F, 2)`` from ``ClauseSet.units``.
        limit: Most nodes to expand; 0 for greedy search only, negative for no limit.
        reduce: Whether to cancel opposite unit clauses and to search unconnected parts one by one.
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
    count, conflict = _active_clauses(bodies, heads, rest, state, rows)
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
    _join_facts(bodies, heads, rows, parents)
    part, proved, labels = np.zeros(words, np.uint64), True, np.empty(count, np.int64)
    for k in range(count):
        fact = _member_of(bodies[rows[k]], heads[rows[k]])
        labels[k] = -1 if fact < 0 else _root_of(parents, fact)
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


@njit(nogil=True)
def _drop(now, starts, bases, gathered, ends, count, favourite):  # type: ignore[no-untyped-def]
    """Move remaining candidates to the front; return their number and the favourite's place."""
    kept, place = 0, 0
    for k in range(count):
        if ends[k] > now:
            if k == favourite:
                place = kept
            if kept < k:
                starts[kept], bases[kept], ends[kept] = starts[k], bases[k], ends[k]
                gathered[kept] = gathered[k]
            kept += 1
    return kept, place


@njit(cache=True, nogil=True)
def advance(  # type: ignore[no-untyped-def]
    bodies,
    heads,
    units,
    costs,
    first,
    before,
    transition,
    least,
    limit,
    reduce,
    prune,
    starts,
    bases,
    gathered,
    ends,
    count,
    best,
    froms,
    states,
):
    """Process more frames.

    The rule for dropping a start j is sound: a sequence that ends at k and begins a new segment
    costs K more than it did, and the first segment, which pays no K itself, must be worse by that
    K. It needs costs of segments to grow at least additively, which those of exact searches do.

    Args:
        bodies: ``(C, W)`` bodies of the clauses.
        heads: ``(C,)`` their heads.
        units: ``(F, 2)`` unit clauses of each fact.
        costs: ``(T, C)`` weights of the clauses at the new frames.
        first: Number of the first of them.
        before: Cost of the best sequence of all earlier frames.
        transition: K, the cost of a change of state.
        least: Least number of frames of a segment other than the first.
        limit: Bound of the search for one state.
        reduce: Whether the search simplifies first.
        prune: Whether starts that can no longer be optimal are dropped.
        starts: ``(N,)`` candidate starts of the last segment.
        bases: ``(N,)`` cost before each, including K.
        gathered: ``(N, C)`` clause weights since each start.
        ends: ``(N,)`` the frame from which each is dropped.
        count: Number of candidates.
        best: ``(T,)`` filled with the cost of the best sequence up to each frame.
        froms: ``(T,)`` filled with the start of its last segment.
        states: ``(T, W)`` filled with the state of its last segment.

    Returns:
        The numbers of candidates, of searches, and of searches that reached the bound.
    """
    trial = np.zeros(bodies.shape[1], np.uint64)
    searches, unproved, favourite = 0, 0, 0
    for t in range(len(costs)):
        now = first + t
        starts[count], bases[count] = now, before + transition if now else 0.0
        gathered[count], ends[count] = 0.0, _NEVER
        count += 1
        best[t] = np.inf
        for turn in range(count):
            k = favourite if turn == 0 else (turn - 1 if turn <= favourite else turn)
            gathered[k] += costs[t]
            if starts[k] and now - starts[k] + 1 < least:
                continue
            enough = best[t] - bases[k]
            cost, proved = minimise_clauses(
                bodies, heads, gathered[k], units, limit, reduce, enough, trial
            )
            searches += 1
            unproved += not proved
            if cost < enough:
                best[t], froms[t], states[t] = bases[k] + cost, starts[k], trial
                winner = k
            if prune and ends[k] == _NEVER and cost >= best[t] - bases[k] + transition:
                ends[k] = now + least
        before = best[t]
        count, favourite = _drop(now + 1, starts, bases, gathered, ends, count, winner)
    return count, searches, unproved
