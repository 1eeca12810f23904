"""What users know, as a table of what may be."""

import numpy as np
import pytest

from wordsight.alignment import Chunk, Constraint, ConstraintError, Instructions, Line, Observed
from wordsight.alignment.constraints import FORBIDDEN, allowed_lines, penalties

TEXT = Instructions("t", tuple(Line(str(n), n) for n in range(4)))
VIDEO = Observed("v", tuple(Chunk(t, t + 1.0, frozenset({"A"})) for t in range(8)), 8.0)


def test_without_constraints_all_is_allowed():
    assert allowed_lines((), TEXT, VIDEO) is None
    assert penalties(None) == 0.0


def test_a_start_rules_out_before_and_after():
    allowed = allowed_lines([Constraint(2, start=3.0)], TEXT, VIDEO)
    assert allowed[3].tolist() == [False, False, True, False]
    assert not allowed[:3, 2:].any() and not allowed[3:, :2].any()
    assert allowed[:3, :2].all() and allowed[4:, 2:].all()
    assert np.array_equal(penalties(allowed) == FORBIDDEN, ~allowed)


def test_an_end_rules_out_before_and_after():
    allowed = allowed_lines([Constraint(1, end=5.0)], TEXT, VIDEO)
    assert allowed[4].tolist() == [False, True, False, False]
    assert not allowed[5:, :2].any() and not allowed[:5, 2:].any()


WRONG = [
    ([Constraint(9, start=1.0)], "4 lines"),  # no such line
    ([Constraint(1, start=4.0, end=2.0)], "must be after the start"),  # inside out
    ([Constraint(2, start=2.0), Constraint(1, start=5.0)], "order of the text"),  # crossed
    ([Constraint(1, start=2.0), Constraint(1, start=5.0)], "order of the text"),  # twice
    ([Constraint(1, end=3.0), Constraint(2, end=3.0)], "contradict each other"),  # no room
]


@pytest.mark.parametrize(("constraints", "message"), WRONG)
def test_contradictions_are_refused(constraints, message):
    with pytest.raises(ConstraintError, match=message):
        allowed_lines(constraints, TEXT, VIDEO)
