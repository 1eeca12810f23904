"""Compiled random walk of WalkMaxSAT; importing this module imports numba."""

import numpy as np
from numba import njit

__all__ = ["anneal", "walk"]


@njit(cache=True, nogil=True)
def _broken(bodies, starts, heads, state, clause):  # type: ignore[no-untyped-def]
    for k in range(starts[clause], starts[clause + 1]):
        if not state[bodies[k]]:
            return False
    return heads[clause] < 0 or not state[heads[clause]]


@njit(cache=True, nogil=True)
def _change(rules, costs, transition, states, t, fact):  # type: ignore[no-untyped-def]
    """Return how much the cost rises if a fact of a moment is turned round."""
    bodies, starts, heads, uses, use_starts = rules
    state, moments = states[t], len(states)
    rise = 0.0
    for k in range(use_starts[fact], use_starts[fact + 1]):
        clause = uses[k]
        weight = costs[t, clause]
        if weight > 0.0:
            before = _broken(bodies, starts, heads, state, clause)
            state[fact] = not state[fact]
            after = _broken(bodies, starts, heads, state, clause)
            state[fact] = not state[fact]
            rise += weight * (int(after) - int(before))
    if t > 0:
        rise += transition if states[t - 1, fact] == state[fact] else -transition
    if t + 1 < moments:
        rise += transition if states[t + 1, fact] == state[fact] else -transition
    return rise


@njit(cache=True, nogil=True)
def _mark(broken, place, count, item, is_broken):  # type: ignore[no-untyped-def]
    """Add or remove an item of the list of broken clauses; return its new length."""
    at = place[item]
    if is_broken and at < 0:
        broken[count] = item
        place[item] = count
        return count + 1
    if not is_broken and at >= 0:
        last = broken[count - 1]
        broken[at] = last
        place[last] = at
        place[item] = -1
        return count - 1
    return count


@njit(cache=True, nogil=True)
def _mark_all(rules, costs, transition, states, broken, place):  # type: ignore[no-untyped-def]
    """List everything that is broken; return how much that is and what it costs."""
    bodies, starts, heads, _, _ = rules
    (moments, facts), clauses = states.shape, len(heads)
    count, cost = 0, 0.0
    for t in range(moments):
        for clause in range(clauses):
            if costs[t, clause] > 0.0 and _broken(bodies, starts, heads, states[t], clause):
                count = _mark(broken, place, count, t * clauses + clause, True)
                cost += costs[t, clause]
        if t > 0 and transition > 0.0:
            for fact in range(facts):
                if states[t, fact] != states[t - 1, fact]:
                    item = moments * clauses + t * facts + fact
                    count = _mark(broken, place, count, item, True)
                    cost += transition
    return count, cost


@njit(cache=True, nogil=True)
def _mark_around(rules, costs, transition, states, broken, place, count, t, fact):  # type: ignore[no-untyped-def]
    """Bring the list up to date after a fact of a moment was turned; return its new length."""
    bodies, starts, heads, uses, use_starts = rules
    (moments, facts), clauses = states.shape, len(heads)
    for k in range(use_starts[fact], use_starts[fact + 1]):
        clause = uses[k]
        if costs[t, clause] > 0.0:
            bad = _broken(bodies, starts, heads, states[t], clause)
            count = _mark(broken, place, count, t * clauses + clause, bad)
    if transition > 0.0:
        for later in range(max(t, 1), min(t + 2, moments)):
            bad = states[later, fact] != states[later - 1, fact]
            item = moments * clauses + later * facts + fact
            count = _mark(broken, place, count, item, bad)
    return count


@njit(cache=True, nogil=True)
def _turn_in_clause(rules, costs, transition, states, t, clause, noise, random):  # type: ignore[no-untyped-def]
    """Choose the fact of a broken clause to turn, the cheapest or any; return it and the rise."""
    bodies, starts, heads, _, _ = rules
    options = starts[clause + 1] - starts[clause] + (heads[clause] >= 0)
    pick = int(random.random() * options) if random.random() < noise else -1
    chosen, rise = -1, np.inf
    for k in range(options):
        at = starts[clause] + k
        fact = bodies[at] if at < starts[clause + 1] else heads[clause]
        if pick >= 0 and k != pick:
            continue
        here = _change(rules, costs, transition, states, t, fact)
        if here < rise:
            chosen, rise = fact, here
    return chosen, rise


@njit(cache=True, nogil=True)
def _turn_in_time(rules, costs, transition, states, t, fact, noise, random):  # type: ignore[no-untyped-def]
    """Choose at which of two neighbouring moments to turn a fact that differs between them."""
    earlier = _change(rules, costs, transition, states, t - 1, fact)
    rise = _change(rules, costs, transition, states, t, fact)
    back = random.random() < 0.5 if random.random() < noise else earlier < rise
    return (t - 1, earlier) if back else (t, rise)


@njit(cache=True, nogil=True)
def walk(bodies, starts, heads, uses, use_starts, costs, transition, first, flips, noise, random):  # type: ignore[no-untyped-def]
    """Walk from states ``first (T, F)``; return the least cost met and the states there.

    Clauses are numbered ``t * C + c``; behind them come the transitions ``t * F + f`` from t - 1.
    """
    rules = (bodies, starts, heads, uses, use_starts)
    (moments, facts), clauses = first.shape, len(heads)
    offset = moments * clauses
    states = first.copy()
    broken = np.empty(offset + moments * facts, np.int64)
    place = np.full(offset + moments * facts, -1, np.int64)
    count, cost = _mark_all(rules, costs, transition, states, broken, place)
    best, best_states = cost, states.copy()
    for _ in range(flips):
        if count == 0:
            break
        item = broken[int(random.random() * count)]
        if item >= offset:
            t, fact = (item - offset) // facts, (item - offset) % facts
            t, rise = _turn_in_time(rules, costs, transition, states, t, fact, noise, random)
        else:
            t, clause = item // clauses, item % clauses
            fact, rise = _turn_in_clause(rules, costs, transition, states, t, clause, noise, random)
        states[t, fact] = not states[t, fact]
        cost += rise
        count = _mark_around(rules, costs, transition, states, broken, place, count, t, fact)
        if cost < best - 1e-9:
            best = cost
            best_states[:] = states
    return best, best_states


@njit(cache=True, nogil=True)
def anneal(bodies, starts, heads, uses, use_starts, costs, transition, first, heats, random):  # type: ignore[no-untyped-def]
    """Sample every fact of every moment in turn, once per temperature, from states ``first``.

    Returns the least cost met and the states there.
    """
    rules = (bodies, starts, heads, uses, use_starts)
    moments, facts = first.shape
    states = first.copy()
    cost, best, best_states = 0.0, 0.0, first.copy()  # costs beyond that of the first states
    for heat in heats:
        for t in range(moments):
            for fact in range(facts):
                rise = _change(rules, costs, transition, states, t, fact)
                if random.random() * (1.0 + np.exp(min(rise / heat, 700.0))) < 1.0:
                    states[t, fact] = not states[t, fact]
                    cost += rise
        if cost < best - 1e-9:
            best = cost
            best_states[:] = states
    return best, best_states
