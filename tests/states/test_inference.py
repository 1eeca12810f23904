import numpy as np
import pytest

from tests.states.builders import HOLDING, all_states, carrying
from wordsight.states import (
    InferenceSettings,
    SegmentSearchSettings,
    StateError,
    ground,
    infer,
    parse_rules,
)
from wordsight.states.search.inference import best_path_between

RULES = parse_rules(
    """
    2: distance(X,Y) <= 8, speed(Y) >= 20, hand(X) -> attached(X,Y)
    1: speed(Y) <= 20, attached(X,Y) -> false
    0.7: still(Y) >= 0.2 -> grounded(Y)
    0.4: speed(Y) >= 10, grounded(Y) -> false
    hard: attached(X,Y), grounded(Y) -> false
    """
)


@pytest.fixture(scope="module")
def grounding():
    return ground(RULES, carrying(seed=3)[0], HOLDING)


@pytest.mark.parametrize("transition", [0.0, 1.0, 5.0, 50.0])
def test_search_and_written_out_states_cost_the_same(grounding, transition):
    costs = {
        method: infer(
            grounding, transition, InferenceSettings(method, search=SegmentSearchSettings(bound=-1))
        )[0]
        for method in ("auto", "states", "search")
    }
    assert costs["states"] == pytest.approx(costs["search"])
    assert costs["auto"] == pytest.approx(costs["search"])


@pytest.mark.slow
@pytest.mark.parametrize("per_fact", [0.3, 1.0])
def test_a_price_per_fact_is_exact_where_states_are_written_out(grounding, per_fact):
    cost, values = infer(grounding, 4.0, InferenceSettings(per_fact=per_fact))
    states = all_states(len(grounding.facts))
    differing = (states[:, None] != states[None]).sum(axis=2)
    price = 4.0 * ((1 - per_fact) * (differing > 0) + per_fact * differing)
    table = grounding.costs() @ grounding.clauses.violated(states).T.astype(float)
    assert cost == pytest.approx(best_path_between(table, price)[0])
    assert values.shape == (90, len(grounding.facts))


def test_a_price_per_fact_is_approximated_where_they_are_not(grounding):
    exact, _ = infer(grounding, 4.0, InferenceSettings(per_fact=1.0))
    rough, _ = infer(grounding, 4.0, InferenceSettings("search", per_fact=1.0))
    assert exact - 1e-9 <= rough <= 1.2 * exact


def test_other_weights_than_those_of_the_rules(grounding):
    weights = np.array([0.0, 1.0, 1.0, 0.0, np.inf])
    cost, values = infer(grounding, 1.0, weights=weights)
    assert cost == 0.0 and not values[:, :2].any()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "guess"}, "auto, search, states or merge"),
        ({"per_fact": 2.0}, "from 0 to 1"),
    ],
)
def test_settings_that_make_no_sense(options, message):
    with pytest.raises(StateError, match=message):
        InferenceSettings(**options)


def test_a_least_length_needs_the_search(grounding):
    settings = InferenceSettings("states", search=SegmentSearchSettings(least_frames=5))
    with pytest.raises(StateError, match="least length"):
        infer(grounding, 1.0, settings)
    _, values = infer(
        grounding, 0.5, InferenceSettings(search=SegmentSearchSettings(least_frames=5))
    )
    changes = np.flatnonzero((values[1:] != values[:-1]).any(axis=1)) + 1
    assert (np.diff([*changes, len(values)]) >= 5).all()
