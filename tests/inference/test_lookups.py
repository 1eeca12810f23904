"""Look-ups against plain indexing, and that counting is their transpose."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wordsight.inference.chains.hmm import counted_rows, summed_rows


@settings(deadline=None)
@given(st.integers(0, 3), st.lists(st.integers(0, 3), min_size=1, max_size=3), st.integers(0, 99))
def test_sums_and_counts(features, shape, seed):
    rng = np.random.default_rng(seed)
    places = rng.integers(0, 5, (features, *shape))
    table, shares = rng.normal(size=(5, 2)), rng.normal(size=(*shape, 2))
    total = summed_rows(places, table)
    assert total == pytest.approx(table[places].sum(axis=0))
    counts = counted_rows(places, shares, 5)
    assert (total * shares).sum() == pytest.approx((counts * table).sum())
    assert counts.sum() == pytest.approx(features * shares.sum())
