import itertools

import numpy as np
import pytest

from tests.states.builders import HOLDING, carrying
from wordsight.states import (
    Fact,
    FeatureTerm,
    Grounding,
    StateError,
    StateObservations,
    TrackedObject,
    ground,
    parse_rules,
)
from wordsight.states.grounding.grounder import HARD_WEIGHT

RULES = parse_rules(
    """
    2: distance(X,Y) <= 8, speed(Y) >= 20 -> attached(X,Y)
    0.5: speed(Y) <= 20, attached(X,Y) -> false
    1: block(Y) -> grounded(Y)
    hard: attached(X,Y), grounded(Y) -> false
    hard: attached(X,Y), attached(X,Z) -> false
    3: speed(X) <= speed(Y), distance_rank(X,Y) = 0 -> attached(X,Y)
    4: speed_rank(Y) = speed_rank(Z), elevation(Y) >= elevation(Z), grounded(Y) -> grounded(Z)
    """
)


def brute_force_violations(rules, seen, values, facts):
    """Count violations rule by rule, frame by frame, straight from the definition."""
    place = {thing.name: k for k, thing in enumerate(seen.objects)}
    where = {fact: k for k, fact in enumerate(facts)}
    counts = np.zeros(len(rules), int)
    for number, rule in enumerate(rules):
        names = [thing.name for thing in seen.objects]
        for chosen in itertools.permutations(names, len(rule.variables)):
            bound = dict(zip(rule.variables, chosen, strict=True))
            for t in range(len(seen)):
                counts[number] += broken(rule, bound, t, seen, values, place, where)
    return counts


def broken(rule, bound, t, seen, values, place, where):
    for part in rule.body:
        arguments = tuple(bound[v] for v in part.arguments)
        if hasattr(part, "value"):
            index = (t, *(place[name] for name in arguments))
            value = seen.features[part.feature][index]
            other = part.value
            if isinstance(other, FeatureTerm):
                index = (t, *(place[bound[v]] for v in other.arguments))
                other = seen.features[part.value.feature][index]
            holds = {"<=": value <= other, ">=": value >= other, "=": abs(value - other) <= 1e-6}
            holds = holds[part.operator]
        elif part.predicate == "block":
            holds = seen.objects[place[arguments[0]]].kind == "block"
        else:
            fact = Fact(part.predicate, arguments)
            holds = fact in where and values[t, where[fact]]
        if not holds:
            return False
    if rule.head is None:
        return True
    fact = Fact(rule.head.predicate, tuple(bound[v] for v in rule.head.arguments))
    return fact in where and not values[t, where[fact]]


def test_violations_and_costs_equal_the_definition():
    seen, _ = carrying(frames=30)
    made = ground(RULES, seen, HOLDING)
    random = np.random.default_rng(0)
    values = random.random((30, len(made.facts))) < 0.5
    counts = made.violations(values)
    assert counts.tolist() == brute_force_violations(RULES, seen, values, made.facts).tolist()
    total = (made.costs() * made.clauses.violated(values)).sum()
    weights = np.array([HARD_WEIGHT if rule.hard else rule.weight for rule in RULES])
    assert total == pytest.approx(counts @ weights)


def test_instances_that_never_apply_are_pruned_and_equal_clauses_merged():
    seen, _ = carrying()
    rules = parse_rules(
        "1: speed(Y) >= 1e9, hand(X) -> attached(X,Y)\n"
        "1: speed(Y) >= 0, hand(X) -> attached(X,Y)\n2: hand(X), block(Y) -> attached(X,Y)"
    )
    made = ground(rules, seen, HOLDING)
    assert 0 not in made.rule_of
    assert len(made.clauses) == 2  # one per block, from two rules
    assert made.costs().max() == pytest.approx(3.0)


def test_a_rule_may_name_objects():
    seen, _ = carrying()
    made = ground(parse_rules('1: speed("green") >= 0 -> grounded(green)'), seen, HOLDING)
    assert isinstance(made, Grounding) and len(made.clauses) == 1
    other = ground(parse_rules("1: speed(blue) >= 0 -> grounded(blue)"), seen, HOLDING)
    assert len(other.clauses) == 0


def test_rules_do_not_apply_to_objects_out_of_sight():
    boxes = np.tile([0.0, 0, 10, 10], (20, 1, 1))
    boxes[:8] = np.nan
    seen = StateObservations.from_boxes(
        "v", np.arange(20) / 10, [TrackedObject("red", "block")], boxes
    )
    made = ground(parse_rules("1: block(X) -> grounded(X)"), seen, HOLDING)
    assert made.costs()[:, 0].tolist() == [0.0] * 8 + [1.0] * 12


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1: hand(X) -> holds(X)", "not a predicate"),
        ("1: weight(X) >= 3 -> grounded(X)", "unknown feature 'weight'"),
        ("1: speed(X,Y) >= 3 -> grounded(X)", "2 argument"),
        ("1: on(X,Y), hand(X) -> grounded(Y)", "not a predicate"),
    ],
)
def test_rules_that_speak_of_what_is_not_declared(text, message):
    seen, _ = carrying()
    with pytest.raises(StateError, match=message):
        ground(parse_rules(text), seen, HOLDING)
