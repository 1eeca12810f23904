"""The compiled dynamic program over segments: cheapest explanation of a video by lasting states.

Each candidate start of the last segment carries the clause weights gathered since, so that frames
can be fed one after the other and nothing else of the past is needed.
:mod:`wordsight.states.compiled` holds the entry point. Importing this module imports numba.
"""

import numpy as np
from numba import njit

from wordsight.states.minimise_kernel import minimise_clauses

__all__ = ["NEVER", "advance"]

NEVER = np.iinfo(np.int64).max


@njit(nogil=True)
def _drop(now, starts, bases, gathered, ends, count, favourite):  # type: ignore[no-untyped-def]
    """Move candidates that go on to the front; return their number and the favourite's place."""
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


@njit(nogil=True)
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
    """Take in more frames.

    The rule for dropping a start j is sound: an explanation that ends at k and begins anew costs K
    more than it did, and the first segment, which pays no K itself, must be worse by that K. It
    needs costs of segments to grow at least additively, which those of exact searches do.

    Args:
        bodies: ``(C, W)`` bodies of the clauses.
        heads: ``(C,)`` their heads.
        units: ``(F, 2)`` unit clauses of each fact.
        costs: ``(T, C)`` weights of the clauses at the new frames.
        first: Number of the first of them.
        before: Cost of the best explanation of all earlier frames.
        transition: What a change of state costs, K.
        least: Least number of frames of a segment other than the first.
        limit: Bound of the search for one state.
        reduce: Whether the search simplifies first.
        prune: Whether starts that cannot win any more are dropped.
        starts: ``(N,)`` candidate starts of the last segment.
        bases: ``(N,)`` what comes before each costs, K included.
        gathered: ``(N, C)`` clause weights since each start.
        ends: ``(N,)`` from which frame on each is out of the race.
        count: How many candidates there are.
        best: ``(T,)`` filled with the cost of the best explanation up to each frame.
        froms: ``(T,)`` filled with the start of its last segment.
        states: ``(T, W)`` filled with the state of its last segment.

    Returns:
        The number of candidates, of searches, and of searches that ran into the bound.
    """
    trial = np.zeros(bodies.shape[1], np.uint64)
    searches, unproved, favourite = 0, 0, 0
    for t in range(len(costs)):
        now = first + t
        starts[count], bases[count] = now, before + transition if now else 0.0
        gathered[count], ends[count] = 0.0, NEVER
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
            if prune and ends[k] == NEVER and cost >= best[t] - bases[k] + transition:
                ends[k] = now + least
        before = best[t]
        count, favourite = _drop(now + 1, starts, bases, gathered, ends, count, winner)
    return count, searches, unproved
