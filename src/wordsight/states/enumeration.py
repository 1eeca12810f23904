"""Few facts: write all states out and use the ordinary dynamic program over them.

Hard rules leave so few states of a handful of objects that writing them out is exact and faster
than searching. The same table makes costs of transitions possible that depend on the states.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wordsight.states.clauses import ClauseSet
from wordsight.states.errors import StateError

__all__ = ["best_path", "best_path_between", "consistent_states"]

Array = NDArray[np.float64]


def consistent_states(
    clauses: ClauseSet, hard: NDArray[np.bool_], limit: int = 4096
) -> NDArray[np.bool_] | None:
    """Return ``(S, F)`` all states that can be derived and break no hard clause.

    Facts that no clause asserts stay false: no cheapest state needs them.

    Args:
        clauses: The C clauses.
        hard: ``(C,)`` which may not be broken.
        limit: Most states to write out.

    Returns:
        The states, or ``None`` if there are more than the limit.
    """
    free = sorted(set(clauses.heads[clauses.heads >= 0].tolist()))
    states = np.zeros((1, clauses.num_facts), dtype=np.bool_)
    place = {fact: k for k, fact in enumerate(free)}
    due = _due(clauses, hard, place)
    for k, fact in enumerate(free):
        raised = states.copy()
        raised[:, fact] = True
        states = np.concatenate([states, raised])
        rows = due.get(k, [])
        if rows:
            part = ClauseSet(
                clauses.num_facts, tuple(clauses.bodies[r] for r in rows), clauses.heads[rows]
            )
            states = states[~part.violated(states).any(axis=1)]
        if len(states) > limit:
            return None
    return states


def _due(
    clauses: ClauseSet, hard: NDArray[np.bool_], place: dict[int, int]
) -> dict[int, list[int]]:
    """Return the hard clauses that can be judged once the k-th free fact is decided."""
    due: dict[int, list[int]] = {}
    for row in np.flatnonzero(hard).tolist():
        body, head = clauses.bodies[row], int(clauses.heads[row])
        used = [*body, *([head] if head >= 0 else [])]
        if used and all(fact in place for fact in used):
            due.setdefault(max(place[fact] for fact in used), []).append(row)
    return due


def best_path(costs: Array, transition_cost: float) -> tuple[float, NDArray[np.int64]]:
    """Return the cheapest path through ``(T, S)`` costs when every change costs the same.

    Returns:
        Its cost and ``(T,)`` states.
    """
    from wordsight.states.path_kernel import uniform_path

    return _checked(uniform_path, costs, float(transition_cost))


def best_path_between(costs: Array, transitions: Array) -> tuple[float, NDArray[np.int64]]:
    """Return the cheapest path when a change from state i to k costs ``transitions[i, k]``."""
    from wordsight.states.path_kernel import general_path

    if transitions.shape != (costs.shape[1],) * 2:
        raise StateError(f"transitions must be (S, S), got {transitions.shape}.")
    return _checked(general_path, costs, np.ascontiguousarray(transitions, dtype=np.float64))


def _checked(
    kernel: Callable[..., float], costs: Array, transition: Any
) -> tuple[float, NDArray[np.int64]]:
    if not len(costs):
        return 0.0, np.zeros(0, dtype=np.int64)
    path = np.zeros(len(costs), dtype=np.int64)
    total = kernel(np.ascontiguousarray(costs, dtype=np.float64), transition, path)
    return float(total), path
