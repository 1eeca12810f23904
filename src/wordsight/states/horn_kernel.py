"""Compiled work on Horn clauses as bit sets: least models, derivations, unconnected parts.

Not kept on disk by themselves: :mod:`wordsight.states.compiled` holds the entry points. Importing
this module imports numba.
"""

import numpy as np
from numba import njit

__all__ = [
    "active_clauses",
    "derivation",
    "has_bit",
    "holds",
    "join_facts",
    "member_of",
    "propagate",
    "put_bit",
    "root_of",
]

_ONE = np.uint64(1)


@njit(nogil=True)
def has_bit(bits, index):  # type: ignore[no-untyped-def]
    """Whether a bit is set."""
    return (bits[index >> 6] >> np.uint64(index & 63)) & _ONE != 0


@njit(nogil=True)
def put_bit(bits, index):  # type: ignore[no-untyped-def]
    """Set a bit."""
    bits[index >> 6] |= _ONE << np.uint64(index & 63)


@njit(nogil=True)
def holds(state, body):  # type: ignore[no-untyped-def]
    """Whether a state holds all facts of a body."""
    missing = np.uint64(0)
    for word in range(len(body)):
        missing |= body[word] & ~state[word]
    return missing == 0


@njit(nogil=True)
def propagate(bodies, heads, rows, removed, state, reasons):  # type: ignore[no-untyped-def]
    """Fill ``state`` with the least model; return the clause that derives *false*, or -1."""
    state[:] = 0
    changed = True
    while changed:
        changed = False
        for row in rows:
            head = heads[row]
            if head >= 0 and has_bit(state, head):
                continue
            if has_bit(removed, row) or not holds(state, bodies[row]):
                continue
            if head < 0:
                return row
            put_bit(state, head)
            reasons[head] = row
            changed = True
    return -1


@njit(nogil=True)
def derivation(bodies, failed, reasons, seen, found):  # type: ignore[no-untyped-def]
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
def active_clauses(bodies, heads, weights, state, rows):  # type: ignore[no-untyped-def]
    """Fill ``state`` with all that can be derived, ``rows`` with the clauses that can apply.

    Returns their number and whether *false* can be derived.
    """
    state[:] = 0
    changed = True
    while changed:
        changed = False
        for row in range(len(heads)):
            head = heads[row]
            if weights[row] <= 0.0 or head < 0 or has_bit(state, head):
                continue
            if holds(state, bodies[row]):
                put_bit(state, head)
                changed = True
    count, conflict = 0, False
    for row in range(len(heads)):
        if weights[row] > 0.0 and holds(state, bodies[row]):
            rows[count] = row
            count += 1
            conflict |= heads[row] < 0
    return count, conflict


@njit(nogil=True)
def root_of(parents, fact):  # type: ignore[no-untyped-def]
    """Return the fact that stands for all those joined with this one."""
    while parents[fact] != fact:
        parents[fact] = parents[parents[fact]]
        fact = parents[fact]
    return fact


@njit(nogil=True)
def member_of(body, head):  # type: ignore[no-untyped-def]
    """Return any fact of a clause, or -1."""
    if head >= 0:
        return head
    for word in range(len(body)):
        for bit in range(64):
            if (body[word] >> np.uint64(bit)) & _ONE:
                return word * 64 + bit
    return -1


@njit(nogil=True)
def join_facts(bodies, heads, rows, parents):  # type: ignore[no-untyped-def]
    """Join the facts that clauses tie together."""
    for fact in range(len(parents)):
        parents[fact] = fact
    for row in rows:
        first = member_of(bodies[row], heads[row])
        for word in range(bodies.shape[1]):
            rest = bodies[row, word]
            for bit in range(64):
                if rest >> np.uint64(bit) == 0:
                    break
                if (rest >> np.uint64(bit)) & _ONE:
                    parents[root_of(parents, word * 64 + bit)] = root_of(parents, first)
