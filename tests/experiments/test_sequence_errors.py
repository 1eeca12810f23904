"""Sequence error and edit distance, by hand, by invariants and beside a slow recursion."""

from functools import cache
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiments.sequence_errors import compressed, edit_distance, sequence_error

TEXT = st.text("abc", max_size=7)


@given(TEXT)
def test_compressing_twice_is_compressing_once(text):
    once = compressed(text)
    assert compressed(once) == once
    assert all(a != b for a, b in pairwise(once))


def test_only_the_order_of_states_counts():
    assert sequence_error(["aab", "ab", "b"], ["ab", "aaabb", "ab"]) == pytest.approx(1 / 3)


@pytest.mark.parametrize(("found", "truth"), [([], []), (["a"], [])])
def test_videos_must_match(found, truth):
    with pytest.raises(ValueError, match="do not match"):
        sequence_error(found, truth)


@given(TEXT, TEXT)
def test_edit_distance_is_the_least_number_of_edits(one, other):
    @cache
    def slow(a, b):
        if not a or not b:
            return len(a) + len(b)
        return min(slow(a[1:], b) + 1, slow(a, b[1:]) + 1, slow(a[1:], b[1:]) + (a[0] != b[0]))

    assert edit_distance(one, other) == slow(one, other) == edit_distance(other, one)
