"""Log-odds from scores of any scale."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wordsight.perception.tracking import log_odds


def simulated(rng, count=2000):
    """Half the detections are real, score higher, and are seen again nine times out of ten."""
    real = rng.random(count) < 0.5
    scores = rng.normal(np.where(real, 1.0, -1.0), 0.7)
    support = rng.binomial(2, np.where(real, 0.9, 0.15)) / 2
    return scores, support, real


def test_true_detections_get_positive_odds_and_false_ones_negative():
    scores, support, real = simulated(np.random.default_rng(3))
    odds = log_odds(scores, support)
    assert np.mean((odds > 0) == real) > 0.85
    assert odds[scores > 1.5].min() > 2
    assert odds[scores < -1.5].max() < -1


@given(st.integers(0, 2**32 - 1), st.floats(0.01, 100), st.floats(-50, 50))
@settings(max_examples=30, deadline=None)
def test_the_scale_of_the_scores_does_not_matter(seed, factor, shift):
    scores, support, _ = simulated(np.random.default_rng(seed), 300)
    np.testing.assert_allclose(
        log_odds(factor * scores + shift, support), log_odds(scores, support), atol=1e-6
    )


@given(st.integers(0, 2**32 - 1), st.integers(1, 400))
@settings(max_examples=30, deadline=None)
def test_odds_never_fall_with_the_score(seed, count):
    scores, support, _ = simulated(np.random.default_rng(seed), count)
    odds = log_odds(scores, support)[np.argsort(scores)]
    assert np.isfinite(odds).all()
    assert np.diff(odds).min(initial=0) >= -1e-9


def test_misses_do_not_count_as_false_alarms():
    """A detector that sees each object only every other time is as sure of its best detections."""
    rng = np.random.default_rng(5)
    scores, support, _real = simulated(rng)
    thinned = support * (rng.random(len(support)) < 0.5)
    assert log_odds(scores, thinned)[scores > 1.5].min() > 2


def test_equal_scores_get_equal_odds():
    odds = log_odds(np.ones(100), np.tile([0.0, 1.0], 50))
    assert np.ptp(odds) == 0


def test_the_prior_is_taken_off():
    scores, support, _ = simulated(np.random.default_rng(1))
    np.testing.assert_allclose(
        log_odds(scores, support, prior=0.5), log_odds(scores, support) - 0.5
    )


@pytest.mark.parametrize("count", [0, 1])
def test_few_detections(count):
    assert len(log_odds(np.ones(count), np.ones(count))) == count
