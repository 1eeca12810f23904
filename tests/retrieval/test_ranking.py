"""The best of many scores: exact, and in one order only."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wordsight.retrieval import RetrievalError, top_k

scores = st.lists(st.one_of(st.floats(-5, 5), st.sampled_from([-np.inf, 0.0, 1.0])), max_size=60)


@given(scores, st.integers(1, 70))
def test_equals_sorting_everything(values, k):
    array = np.array(values, dtype=float)
    name_of = lambda at: f"{(at * 7919) % 1000:03d}-{at}"  # noqa: E731
    expected = sorted(np.flatnonzero(np.isfinite(array)), key=lambda at: (-array[at], name_of(at)))
    assert top_k(array, k, name_of).tolist() == expected[:k]
    by_position = sorted(np.flatnonzero(np.isfinite(array)), key=lambda at: (-array[at], at))
    assert top_k(array, k).tolist() == by_position[:k]


def test_bad_requests_are_refused():
    with pytest.raises(RetrievalError, match="at least one"):
        top_k(np.zeros(3), 0)
    with pytest.raises(RetrievalError, match="not a number"):
        top_k(np.array([0.0, np.nan]), 1)
