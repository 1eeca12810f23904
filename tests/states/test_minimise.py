import numpy as np
import pytest

from tests.states.builders import all_states, random_clauses
from wordsight.states import EXACT, ClauseSet, StateError
from wordsight.states.search.segments import minimise


@pytest.mark.slow
@pytest.mark.parametrize("reduce", [True, False], ids=["reduced", "as published"])
def test_exact_search_equals_enumeration(reduce):
    random = np.random.default_rng(3)
    for _ in range(300):
        clauses = random_clauses(random, 7, 24)
        weights = random.integers(0, 6, len(clauses)).astype(float)
        costs = clauses.violated(all_states(clauses.num_facts)) @ weights
        found = minimise(clauses, weights, reduce=reduce)
        assert found.proved
        assert found.cost == pytest.approx(costs.min())
        assert clauses.violated(found.state[None])[0] @ weights == pytest.approx(costs.min())


@pytest.mark.slow
@pytest.mark.parametrize("bound", [0, 1, 3, 10])
def test_a_bounded_search_gives_an_upper_bound_it_can_show(bound):
    random = np.random.default_rng(4)
    for _ in range(200):
        clauses = random_clauses(random, 7, 24)
        weights = random.random(len(clauses))
        best = minimise(clauses, weights)
        found = minimise(clauses, weights, bound=bound)
        shown = clauses.violated(found.state[None])[0] @ weights
        assert best.cost - 1e-9 <= shown <= found.cost + 1e-9
        if found.proved:
            assert found.cost == pytest.approx(best.cost)


@pytest.mark.slow
def test_the_cost_equals_that_of_an_exact_max_sat_solver():
    examples = pytest.importorskip("pysat.examples.rc2")
    formula = pytest.importorskip("pysat.formula")
    random = np.random.default_rng(5)
    for _ in range(60):
        clauses = random_clauses(random, 80, 120)
        weights = random.integers(1, 20, len(clauses))
        problem = formula.WCNF()
        for body, head, weight in zip(clauses.bodies, clauses.heads, weights, strict=True):
            literals = [-(fact + 1) for fact in body] + ([int(head) + 1] if head >= 0 else [])
            problem.append(literals, weight=int(weight))
        if any(not clause for clause in problem.soft):
            continue  # RC2 takes no empty clause
        with examples.RC2(problem) as solver:
            solver.compute()
            assert minimise(clauses, weights.astype(float)).cost == pytest.approx(solver.cost)


def test_states_of_more_than_one_word():
    chain = [((), 0), *(((k,), k + 1) for k in range(149)), ((149,), None)]
    clauses = ClauseSet.of(150, chain)
    weights = np.full(len(chain), 5.0)
    weights[100] = 1.0  # fact 99 no longer implies fact 100
    found = minimise(clauses, weights)
    assert found.cost == 1.0
    assert found.state.tolist() == [True] * 100 + [False] * 50


def test_an_empty_set_costs_nothing_and_an_empty_clause_its_weight():
    assert minimise(ClauseSet.of(0, []), []).cost == 0.0
    assert minimise(ClauseSet.of(1, [((), None), ((), 0)]), [2.0, 3.0]).cost == 2.0


@pytest.mark.parametrize("weights", [[-1.0], [np.inf], [1.0, 2.0], [np.nan]])
def test_weights_that_make_no_sense(weights):
    with pytest.raises(StateError, match="weights must be"):
        minimise(ClauseSet.of(1, [((), 0)]), weights, bound=EXACT)
