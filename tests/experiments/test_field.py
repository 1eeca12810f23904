"""The fair field on problems small enough to enumerate."""

from itertools import product

import numpy as np
import pytest

from experiments.baselines.field import (
    FieldFilm,
    completed,
    field_results,
    propagated,
    sampled,
    set_off,
    solved,
    walked,
)
from tests.states.builders import HOLDING, all_states, carrying, random_clauses
from wordsight.states import StateModel, parse_rules

RULES = parse_rules(
    """
    2: distance(X,Y) <= 8, speed(Y) >= 20, hand(X) -> attached(X,Y)
    1: speed(Y) <= 20, attached(X,Y) -> false
    0.7: still(Y) >= 0.2 -> grounded(Y)
    0.4: speed(Y) >= 10, grounded(Y) -> false
    3: attached(X,Y), grounded(Y) -> false
    """
)


def cost_of(clauses, costs, transition, values):
    broken = (costs * clauses.violated(values)).sum()
    return broken + transition * (values[1:] != values[:-1]).sum()


@pytest.mark.parametrize("way", [walked, sampled, solved])
def test_small_problems_are_solved_exactly(way):
    if way is solved:
        pytest.importorskip("pysat", reason="python-sat is not installed")
    random = np.random.default_rng(2)
    for _ in range(6):
        clauses = random_clauses(random, most_facts=2, most_clauses=5)
        costs = set_off(clauses, random.uniform(0.1, 3.0, (3, len(clauses))))
        states = all_states(clauses.num_facts)
        least = min(
            cost_of(clauses, costs, 0.7, states[list(path)])
            for path in product(range(len(states)), repeat=3)
        )
        found = way(clauses, costs, 0.7)
        assert cost_of(clauses, costs, 0.7, found) == pytest.approx(least, abs=0.02)


def test_setting_off_units_changes_no_difference_of_costs():
    random = np.random.default_rng(0)
    clauses = random_clauses(random)
    costs = random.uniform(0.1, 3.0, (4, len(clauses)))
    states = all_states(clauses.num_facts)
    before = costs @ clauses.violated(states).T
    after = set_off(clauses, costs) @ clauses.violated(states).T
    np.testing.assert_allclose(np.ptp(before - after, axis=1), 0.0, atol=1e-9)


def test_beliefs_that_propagate_are_exact_on_a_chain():
    from wordsight.states import ClauseSet

    clauses = ClauseSet.of(1, [((), 0), ((0,), None)])
    costs = set_off(clauses, np.array([[2.0, 0.0], [0.0, 0.4], [2.0, 0.0]]))
    assert propagated(clauses, costs, 3.0).tolist() == [[True], [True], [True]]
    assert propagated(clauses, costs, 0.1).tolist() == [[True], [False], [True]]


def test_facts_that_follow_from_others_are_completed_at_each_frame():
    from wordsight.states import ClauseSet

    # 1 holds by default, unless 0 does.
    clauses = ClauseSet.of(2, [((), 1), ((0, 1), None)])
    costs = np.tile([0.01, 100.0], (3, 1))
    values = np.array([[False, False], [True, True], [False, False]])
    assert completed(clauses, costs, values, [1]).tolist() == [[0, 1], [1, 0], [0, 1]]


def test_all_are_judged_by_length():
    model = StateModel(RULES, 6.0, HOLDING)
    films = [FieldFilm(*carrying(f"f{k}", seed=k, frames=60 + 15 * k), model) for k in range(3)]
    found = field_results(films)
    assert {"walkmaxsat_fair", "rc2", "bp", "gibbs", "by_length"} <= found.keys()
    assert [row["frames"] for row in found["by_length"]] == [[60, 60], [75, 75], [90, 90]]
    assert found["walkmaxsat_fair"] is not None and found["gibbs"] is not None
