"""Single-state minimisation: the cheapest state of weighted ground Horn clauses."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wordsight.states.clauses import ClauseSet, unpack_bits
from wordsight.states.errors import StateError

__all__ = ["EXACT", "Minimum", "minimise"]

EXACT = -1
"""As the bound of a search: expand as many nodes as it takes to be sure."""


@dataclass(frozen=True, eq=False)
class Minimum:
    """The cheapest state found.

    Attributes:
        cost: Weight of the clauses it violates.
        state: ``(F,)`` truth values.
        proved: Whether no state is cheaper.
    """

    cost: float
    state: NDArray[np.bool_]
    proved: bool


def minimise(
    clauses: ClauseSet, weights: ArrayLike, *, bound: int = EXACT, reduce: bool = True
) -> Minimum:
    r"""Find a state of least cost, :math:`\sigma = \min_s \sum_c w_c [s \not\models c]`.

    Best-first search over sets of clauses to give up, tested by unit propagation, branching only on
    clauses in the derivation of the conflict; past the bound, the best that greed found.

    Args:
        clauses: C ground clauses.
        weights: ``(C,)`` what violating each costs, not negative.
        bound: How many nodes to expand; 0 for greed alone, :data:`EXACT` for as many as needed.
        reduce: Whether to set off opposite unit clauses first and to search unconnected parts one
            by one. Both keep the result exact; without them the search is as published.

    Examples:
        >>> either = ClauseSet.of(2, [((), 0), ((), 1), ((0, 1), None)])
        >>> minimise(either, [1.0, 2.0, 9.0]).cost
        1.0
    """
    from wordsight.states.compiled import minimise_clauses

    array = np.asarray(weights, dtype=np.float64)
    if array.shape != (len(clauses),) or not (array >= 0).all() or not np.isfinite(array).all():
        raise StateError(
            f"weights must be {len(clauses)} finite numbers of 0 or more, got {array.shape}."
        )
    state = np.zeros(clauses.body_words.shape[1], dtype=np.uint64)
    cost, proved = minimise_clauses(
        clauses.body_words,
        clauses.heads,
        array,
        clauses.units,
        bound,
        reduce,
        np.inf,
        state,
    )
    return Minimum(float(cost), unpack_bits(state, clauses.num_facts), bool(proved))
