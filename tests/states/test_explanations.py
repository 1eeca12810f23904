"""Explanations add up to the cost that inference minimises, and say what was measured."""

import numpy as np
import pytest

from wordsight.states import (
    Predicate,
    StateError,
    StateModel,
    StateObservations,
    StateVocabulary,
    TrackedObject,
    parse_fact,
    parse_rules,
)
from wordsight.states.explanations import explain

WORDS = StateVocabulary((Predicate("moves", ("thing",)), Predicate("held", ("thing",))))
RULES = parse_rules(
    "2: speed(X) >= 20 -> moves(X)\n"
    "1: moves(X) -> false\n"
    "0.5: moves(X) -> held(X)\n"
    "hard: held(X), held(Y) -> false\n"
)


@pytest.fixture(scope="module")
def seen():
    boxes = np.tile([0.0, 0.0, 10.0, 10.0], (20, 2, 1))
    boxes[10:, 0, [0, 2]] += 9 * np.arange(10)[:, None]
    boxes[:, 1] += 200
    return StateObservations.from_boxes(
        "film", np.arange(20) / 10, [TrackedObject("cup"), TrackedObject("jar")], boxes
    )


@pytest.fixture(scope="module")
def model():
    return StateModel(RULES, 1.0, WORDS)


def test_the_moment_asked_for_is_explained(model, seen):
    found = explain(model, seen, 1.56)
    assert found.time == 1.5
    assert set(found.facts) == {parse_fact("moves(cup)"), parse_fact("held(cup)")}
    assert [use.text for use in found.violated] == ["moves(cup) -> false"]
    assert found.cost == 1.0
    assert found.changes == 1
    fired = [use for use in found.kept if use.text.startswith("speed(cup) >= 20 [90]")]
    assert fired[0].spared == 2.0


def test_costs_of_all_moments_and_changes_are_the_cost_of_the_video(model, seen):
    explained = [explain(model, seen, float(time)) for time in seen.times]
    total = sum(one.cost for one in explained) + explained[0].changes * model.transition_cost_
    grounding = model.ground(seen)
    values = model.predict(seen).table(grounding.facts)
    weights = np.array([1e6 if rule.hard else rule.weight for rule in RULES])
    assert total == pytest.approx(grounding.violations(values) @ weights + 1.0)


def test_other_states_than_the_inferred_ones_can_be_explained(model, seen):
    told = model.predict(seen)
    none = type(told)("film", told.times, told.facts, np.zeros_like(told.values))
    found = explain(model, seen, 1.5, none)
    assert found.facts == ()
    assert [use.cost for use in found.violated] == [2.0]


@pytest.mark.parametrize("time", [-1.0, 2.5, float("nan")])
def test_a_moment_outside_the_video_is_refused(model, seen, time):
    with pytest.raises(StateError, match=r"runs from 0 to 2 s"):
        explain(model, seen, time)
