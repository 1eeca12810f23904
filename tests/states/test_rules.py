import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wordsight.states import (
    Atom,
    FeatureComparison,
    FeatureTerm,
    Rule,
    RuleError,
    StateError,
    format_rules,
    parse_rules,
)

variables = st.sampled_from(["X", "Y", "Z1", "Other"])
objects = st.sampled_from(["red", '"Big cup"', "two words", "3rd", "größe"])
terms = st.lists(st.one_of(variables, objects), min_size=1, max_size=3).map(tuple)
names = st.sampled_from(["attached", "speed", "a_b", "false1"])
numbers = st.floats(allow_nan=False, allow_infinity=False)
atoms = st.builds(Atom, names, terms)
features = st.builds(FeatureTerm, names, terms)
operators = st.sampled_from(["<=", ">=", "="])
comparisons = st.builds(FeatureComparison, names, terms, operators, st.one_of(numbers, features))


@st.composite
def rules(draw):
    body = tuple(draw(st.lists(st.one_of(atoms, comparisons), max_size=4)))
    bound = [t for part in body for t in part.terms if t[0].isupper()]
    arguments = draw(st.lists(st.one_of(objects, st.sampled_from([*bound, "red"])), max_size=3))
    head = draw(st.one_of(st.none(), st.just(Atom("attached", tuple(arguments)))))
    weight = draw(st.one_of(st.floats(0, 1e9), st.just(math.inf)))
    return Rule(weight, body, head)


@pytest.mark.slow
@given(st.lists(rules(), max_size=4))
def test_rule_text_round_trips(made):
    assert parse_rules(format_rules(made)) == tuple(made)


def test_the_example_of_the_page():
    (rule,) = parse_rules("3.2: distance(X,Y) <= 12, speed(Y) >= 4 -> attached(X,Y)  # held")
    assert rule.weight == 3.2
    assert rule.variables == ("X", "Y")
    assert rule.body[1] == FeatureComparison("speed", ("Y",), ">=", 4.0)
    assert str(rule) == "3.2: distance(X,Y) <= 12, speed(Y) >= 4 -> attached(X,Y)"


def test_defaults_comments_and_hard_rules():
    made = parse_rules("# a comment\n\nblock(X) -> grounded(X)\nhard: a(X), b(X) -> false\n")
    assert [rule.weight for rule in made] == [1.0, math.inf]
    assert made[1].head is None and made[1].hard


@pytest.mark.parametrize(
    ("text", "line", "column", "message"),
    [
        ("-1: a(X) -> b(X)", 1, 1, "0 or more"),  # negative weight
        ("1: a(X) -> b(Y)", 1, 12, "Y is not bound"),  # unbound head variable
        ("\n2: speed(X) > 3 -> b(X)", 2, 13, "<=, >= or ="),  # strict comparison
        ("2 a(X) -> b(X)", 1, 3, "':' after the weight"),
        ("a(X) b(X) -> false", 1, 6, "',' or '->'"),
        ("a(X -> b(X)", 1, 5, "',' or '\\)'"),
        ("a(X) -> speed(X) >= 2", 1, 9, "not a comparison"),
        ("a(X)", 1, 5, "',' or '->'"),
        ("a(X) -> ", 1, 9, "a head"),
        ("a(X) & b(X) -> false", 1, 6, "'&' cannot stand"),
        ("a(X) -> false false", 1, 15, "end of the line"),
    ],
)
def test_errors_point_at_the_column(text, line, column, message):
    with pytest.raises(RuleError, match=message) as caught:
        parse_rules(text)
    assert (caught.value.line, caught.value.column) == (line, column)
    shown = str(caught.value).splitlines()
    assert shown[-1].index("^") == column - 1 + 2


@pytest.mark.parametrize("weight", [-0.1, math.nan, -math.inf])
def test_negative_weights_are_refused(weight):
    with pytest.raises(StateError, match="0 or more"):
        Rule(weight, (), None)
