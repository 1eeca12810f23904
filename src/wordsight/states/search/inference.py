"""Inference of the states of a grounded video: by enumeration where they are few, else by search.

Hard rules leave so few states of a handful of objects that enumerating them is exact and faster
than searching. Enumeration also allows transition costs that depend on the states.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from wordsight.errors import StateError
from wordsight.states.grounding.clauses import ClauseSet, unpack_bits
from wordsight.states.grounding.grounder import Grounding
from wordsight.states.search.segments import SegmentSearchSettings, decode, minimise

__all__ = [
    "InferenceSettings",
    "affordable_states",
    "best_path",
    "best_path_between",
    "consistent_states",
    "greedy_merge",
    "infer",
    "kept",
]

Array = NDArray[np.float64]


def consistent_states(
    clauses: ClauseSet, hard: NDArray[np.bool_], limit: int = 4096
) -> NDArray[np.bool_] | None:
    """Return ``(S, F)`` all states that can be derived and violate no hard clause.

    Facts that no clause asserts stay false: no cheapest state needs them.

    Args:
        clauses: The C clauses.
        hard: ``(C,)`` which may not be violated.
        limit: Most states to enumerate.

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
    """Return the hard clauses that can be checked once the k-th free fact is decided."""
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
    from wordsight.states.kernels.loops import uniform_path

    return _checked(uniform_path, costs, float(transition_cost))


def best_path_between(costs: Array, transitions: Array) -> tuple[float, NDArray[np.int64]]:
    """Return the cheapest path when a change from state i to k costs ``transitions[i, k]``."""
    from wordsight.states.kernels.loops import general_path

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


_TIE = 1e-4  # weight of a fact that persists; far less than that of any rule
_MOST_ENTRIES = 20_000_000  # of a table of states over time, 160 MB; longer videos are searched


@dataclass(frozen=True)
class InferenceSettings:
    """How states are inferred.

    Attributes:
        method: ``search`` for the dynamic program over segments, ``states`` for the one over all
            consistent states, ``auto`` for the latter where there are few; ``merge`` for forward
            greedy merge, which believes every rule.
        most_states: Most states that ``auto`` enumerates.
        search: Settings of the search; a least length of segments is supported by the search only.
        per_fact: Share of K that each changed fact costs; a change of state costs the rest,
            ``1 - per_fact``. Where states are too many to enumerate this is approximate: only
            states of the solution with ``per_fact=0`` are then considered.
        keep: Whether, of equally cheap states, one is taken that keeps most facts of the state
            before. Facts of which nothing is seen for a while then persist, instead of ceasing
            with the next change of state.
        patience: Of ``merge``: most frames in a row that sequence cleaning skips, 0 for none.
    """

    method: Literal["auto", "search", "states", "merge"] = "auto"
    most_states: int = 4096
    search: SegmentSearchSettings = field(default_factory=SegmentSearchSettings)
    per_fact: float = 0.0
    keep: bool = False
    patience: int = 0

    def __post_init__(self) -> None:
        if self.method not in ("auto", "search", "states", "merge"):
            raise StateError(f"method must be auto, search, states or merge, got {self.method!r}.")
        if not 0.0 <= self.per_fact <= 1.0:
            raise StateError(f"per_fact must be from 0 to 1, got {self.per_fact}.")


def infer(
    grounding: Grounding,
    transition_cost: float,
    settings: InferenceSettings | None = None,
    *,
    weights: NDArray[np.float64] | None = None,
) -> tuple[float, NDArray[np.bool_]]:
    """Find the cheapest states of a video.

    Args:
        grounding: The video with its rules.
        transition_cost: K.
        settings: How to infer.
        weights: ``(R,)`` weights to use instead of those of the rules.

    Returns:
        The cost, and ``(T, F)`` which facts hold at which frame.
    """
    chosen = settings or InferenceSettings()
    costs = grounding.costs(weights)
    if chosen.method == "merge":
        merged = greedy_merge(grounding, patience=chosen.patience)
        changes = int((merged[1:] != merged[:-1]).any(axis=1).sum())
        broken = float((costs * grounding.clauses.violated(merged)).sum())
        return broken + transition_cost * changes, merged
    states = None
    if chosen.method != "search" and chosen.search.least_frames == 1:
        if chosen.method == "auto":
            states = affordable_states(grounding, chosen.most_states)
        else:
            states = consistent_states(grounding.clauses, grounding.hard_clauses(), 2**20)
    if states is None and chosen.method == "states":
        raise StateError(
            "there are too many states to enumerate, or segments have a least length; use the "
            "method search."
        )
    if states is None:
        decoded = decode(grounding.clauses, costs, transition_cost, chosen.search)
        if chosen.per_fact == 0.0:
            return decoded.cost, kept(grounding.clauses, costs, decoded.values, chosen)
        states = np.unique(np.concatenate([decoded.values, decoded.online]), axis=0)
    table = costs @ grounding.clauses.violated(states).T.astype(np.float64)
    if chosen.per_fact == 0.0:
        cost, path = best_path(table, transition_cost)
    else:
        between = _changes(states, transition_cost, chosen.per_fact)
        cost, path = best_path_between(table, between)
    return cost, kept(grounding.clauses, costs, states[path], chosen)


def kept(
    clauses: ClauseSet, costs: Array, values: NDArray[np.bool_], settings: InferenceSettings
) -> NDArray[np.bool_]:
    """Return inferred states ``(T, F)`` in which facts persist if ``settings.keep``.

    Every segment gets, of its cheapest states, one that keeps most facts of the segment before:
    each of those is asserted by a clause of so little weight that it decides between equals only.
    Facts that rules conclude from other facts do not persist by themselves, but with those.

    Args:
        clauses: The C clauses.
        costs: ``(T, C)`` their weights.
        values: The cheapest states.
        settings: How to infer.
    """
    if not settings.keep or not len(values):
        return values
    known = {(body, int(head)) for body, head in zip(clauses.bodies, clauses.heads, strict=True)}
    facts = [fact for fact in range(clauses.num_facts) if ((), fact) not in known]
    wider = ClauseSet(
        clauses.num_facts,
        (*clauses.bodies, *(() for _ in facts)),
        np.concatenate([clauses.heads, np.array(facts, dtype=np.int64)]),
    )
    unit = {fact: int(wider.units[fact, 0]) for fact in range(clauses.num_facts)}
    derived = np.zeros(clauses.num_facts, dtype=np.bool_)
    in_force = np.asarray((costs > 0).any(axis=0), dtype=np.bool_)
    derived[[h for b, h, here in zip(clauses.bodies, clauses.heads, in_force, strict=True)
             if b and h >= 0 and here]] = True  # fmt: skip
    changed = np.flatnonzero((values[1:] != values[:-1]).any(axis=1)) + 1
    out, before = values.copy(), values[0]
    ends = [*changed[1:], len(values)] if len(changed) else []
    for start, end in zip(changed, ends, strict=True):
        weights = np.append(costs[start:end].sum(axis=0), np.zeros(len(facts)))
        for fact in np.flatnonzero(before & ~derived).tolist():
            weights[unit[fact]] += _TIE
        before = minimise(wider, weights, bound=settings.search.bound).state
        out[start:end] = before
    return out


def greedy_merge(grounding: Grounding, *, patience: int = 0) -> NDArray[np.bool_]:
    """Infer states by pooling frames as long as their constraints are consistent.

    Args:
        grounding: A video with its rules; their weights are ignored.
        patience: Sequence cleaning: frames that contradict themselves are skipped, and so are up to
            this many in a row that contradict the pool, if the frame after them is consistent
            again. 0 for no cleaning.

    Returns:
        ``(T, F)`` which facts hold at which frame; skipped frames have the state of their pool.
    """
    from wordsight.states.kernels.loops import merge

    clauses = grounding.clauses
    active = np.zeros((len(grounding.observations), len(clauses)), dtype=np.bool_)
    for instance, clause in enumerate(grounding.clause_of):
        active[:, clause] |= grounding.fired[:, instance]
    words = merge(clauses.body_words, clauses.heads, active, patience)
    return unpack_bits(words, clauses.num_facts)


def affordable_states(grounding: Grounding, most: int) -> NDArray[np.bool_] | None:
    """Return ``(S, F)`` the consistent states of a video, ``None`` if they are too many."""
    affordable = _MOST_ENTRIES // max(1, len(grounding.fired))
    return consistent_states(grounding.clauses, grounding.hard_clauses(), min(most, affordable))


def _changes(states: NDArray[np.bool_], whole: float, per_fact: float) -> NDArray[np.float64]:
    """Return ``(S, S)`` costs of changes: a part per change, a part per changed fact."""
    bits = states.astype(np.float64)
    differing = bits @ (1 - bits).T + (1 - bits) @ bits.T
    charged: NDArray[np.float64] = whole * ((1 - per_fact) * (differing > 0) + per_fact * differing)
    return charged
