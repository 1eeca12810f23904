"""Lines through short stretches, against fitting each on its own."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wordsight.perception.tracking.coherence import local_lines


@pytest.mark.slow
@given(st.integers(0, 2**32 - 1), st.lists(st.integers(1, 12), min_size=1, max_size=5))
@settings(max_examples=40, deadline=None)
def test_lines_are_those_of_polyfit(seed, lengths):
    rng = np.random.default_rng(seed)
    tracks = [np.cumsum(rng.uniform(0.02, 0.3, n)) + rng.uniform(0, 9) for n in lengths]
    times = np.concatenate(tracks)
    values = rng.normal(300, 50, (len(times), 2))
    groups = np.repeat(np.arange(len(lengths)), lengths)
    lines = local_lines(times, values, groups, np.arange(len(times)), 0.4)
    for k in range(len(times)):
        near = (groups == groups[k]) & (np.abs(times - times[k]) <= 0.4 + 1e-9)
        np.testing.assert_allclose(lines.means[k], values[near].mean(axis=0))
        if near.sum() >= 2:
            slope, height = np.polyfit(times[near] - times[k], values[near], 1)
            np.testing.assert_allclose(lines.slopes()[k], slope, rtol=1e-4, atol=1e-4)
            np.testing.assert_allclose(lines.heights()[k], height, rtol=1e-4, atol=1e-4)
        else:
            np.testing.assert_allclose(lines.heights()[k], values[k])


def test_a_prior_matters_less_the_longer_the_stretch():
    times = np.arange(10) / 10
    lines = local_lines(times, (50 * times)[:, None], np.zeros(10, int), np.array([0, 5]), 0.45)
    one_sided, two_sided = lines.slopes(0.0, 0.1)[:, 0]
    assert 0 < one_sided < two_sided < 50
    alone = local_lines(times[:1], np.zeros((1, 1)), np.zeros(1, int), np.array([0]), 0.45)
    assert alone.slopes(7.0, 0.1)[0, 0] == 7.0
