"""States of a grounded video: written out where they are few, else searched segment by segment."""

from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from wordsight.states.enumeration import best_path, best_path_between, consistent_states
from wordsight.states.errors import StateError
from wordsight.states.grounding import Grounding
from wordsight.states.sequence import SearchSettings, decode

__all__ = ["Inference", "infer"]

_MOST_ENTRIES = 20_000_000  # of a table of states over time, 160 MB; longer videos are searched


@dataclass(frozen=True)
class Inference:
    """How states are inferred.

    Attributes:
        method: ``search`` for the dynamic program over segments with the dual search, ``states``
            for the one over all consistent states, ``auto`` for the latter where they are few.
        most_states: How many states count as few.
        search: Settings of the search; its least length of a segment needs the search.
        per_fact: Share of K that each fact that changes costs besides: 0 charges every change of
            state alike, the rest of K being ``1 - per_fact``. Where states are too many to write
            out this is approximate: only states of the uniform solution are then considered.
    """

    method: Literal["auto", "search", "states"] = "auto"
    most_states: int = 4096
    search: SearchSettings = field(default_factory=SearchSettings)
    per_fact: float = 0.0

    def __post_init__(self) -> None:
        if self.method not in ("auto", "search", "states"):
            raise StateError(f"method must be auto, search or states, got {self.method!r}.")
        if not 0.0 <= self.per_fact <= 1.0:
            raise StateError(f"per_fact must be from 0 to 1, got {self.per_fact}.")


def infer(
    grounding: Grounding,
    transition_cost: float,
    settings: Inference | None = None,
    *,
    weights: NDArray[np.float64] | None = None,
) -> tuple[float, NDArray[np.bool_]]:
    """Find the cheapest states of a video.

    Args:
        grounding: The video with its rules.
        transition_cost: K.
        settings: How to infer.
        weights: ``(R,)`` other weights than those of the rules.

    Returns:
        The cost, and ``(T, F)`` which facts hold when.
    """
    chosen = settings or Inference()
    costs = grounding.costs(weights)
    states = None
    if chosen.method != "search" and chosen.search.least_frames == 1:
        affordable = _MOST_ENTRIES // max(1, len(costs))
        limit = min(chosen.most_states, affordable) if chosen.method == "auto" else 2**20
        states = consistent_states(grounding.clauses, grounding.hard_clauses(), limit)
    if states is None and chosen.method == "states":
        raise StateError(
            "the states are too many to write out, or segments have a least length; use the "
            "method search."
        )
    if states is None:
        found = decode(grounding.clauses, costs, transition_cost, chosen.search)
        if chosen.per_fact == 0.0:
            return found.cost, found.values
        states = np.unique(np.concatenate([found.values, found.online]), axis=0)
    table = costs @ grounding.clauses.violated(states).T.astype(np.float64)
    if chosen.per_fact == 0.0:
        cost, path = best_path(table, transition_cost)
    else:
        between = _changes(states, transition_cost, chosen.per_fact)
        cost, path = best_path_between(table, between)
    return cost, states[path]


def _changes(states: NDArray[np.bool_], whole: float, per_fact: float) -> NDArray[np.float64]:
    """Return ``(S, S)`` costs of changes: a part per change, a part per fact that changes."""
    bits = states.astype(np.float64)
    differing = bits @ (1 - bits).T + (1 - bits) @ bits.T
    charged: NDArray[np.float64] = whole * ((1 - per_fact) * (differing > 0) + per_fact * differing)
    return charged
