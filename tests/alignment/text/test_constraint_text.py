"""Pins say when a line happens, and contradictions are pointed out."""

import pytest

from tests.alignment.builders import TEA
from wordsight.alignment import Constraint, ConstraintError
from wordsight.alignment.constraints import (
    check_constraints,
    parse_constraint,
    parse_constraints,
)


@pytest.mark.parametrize(
    ("text", "constraints"),
    [
        ("2=3:20", (Constraint(1, start=200.0),)),
        ("2 = 1:00:05.5", (Constraint(1, start=3605.5),)),
        ("1=12", (Constraint(0, start=12.0),)),
        ("1=12s", (Constraint(0, start=12.0),)),
        ("1=10-0:20", (Constraint(0, start=10.0, end=20.0),)),
        ("1=-20", (Constraint(0, end=20.0),)),
        # a step of two lines begins with the first and ends with the last
        ("s2=10", (Constraint(1, start=10.0),)),
        ("step 2=-20", (Constraint(2, end=20.0),)),
        ("s2=10-20", (Constraint(1, start=10.0), Constraint(2, end=20.0))),
    ],
)
def test_pins(text, constraints):
    assert parse_constraint(text, TEA) == constraints


@pytest.mark.parametrize(
    "text", ["", "7", "=3", "a=3", "1=", "1=abc", "1=1:2:3:4", "0=3", "5=3", "s9=1", "1=20-10"]
)
def test_what_is_no_pin_is_refused(text):
    with pytest.raises(ConstraintError):
        parse_constraint(text, TEA)


@pytest.mark.parametrize(
    "texts",
    [
        ["1=10", "1=20"],  # two starts
        ["1=10", "1=-5"],  # ends before it starts, told apart
    ],
)
def test_contradictions_are_refused(texts):
    with pytest.raises(ConstraintError, match="line 1"):
        parse_constraints(texts, TEA)


def test_the_same_pin_twice_is_no_contradiction():
    assert len(parse_constraints(["1=10", "1=10"], TEA)) == 2


def test_a_pin_after_the_end_of_the_video_is_refused():
    with pytest.raises(ConstraintError, match=r"lasts only 30\.0 s"):
        check_constraints(parse_constraints(["1=40"], TEA), TEA, 30.0)
