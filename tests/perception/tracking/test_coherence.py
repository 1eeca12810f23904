"""Coherence in units of the boxes themselves."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wordsight.perception.tracking import Coherence, States, log_odds, steps_between

JITTER = np.array([0.1, 0.1, 0.1, 0.1])


def state(time, centre, size, velocity=(0.0, 0.0), variance=0.0):
    return States(
        np.array([time], float),
        np.array([centre], float),
        np.array([size], float),
        np.array([velocity], float),
        np.full((1, 2), variance),
    )


def test_a_step_is_measured_in_widths_heights_and_ratios():
    before, after = state(0, (0, 0), (10, 40)), state(1, (5, 20), (10, 80))
    steps = steps_between(before, after)
    np.testing.assert_allclose(steps, [[0.5, 20 / np.sqrt(40 * 80), 0.0, np.log(2)]])


def test_motion_as_predicted_is_no_distance():
    before = state(0, (0, 0), (10, 40), (30, -10))
    after = state(0.5, (15, -5), (10, 40), (30, -10))
    assert Coherence().distances(before, after, JITTER)[0] == pytest.approx(0)


@pytest.mark.slow
@given(st.integers(0, 2**32 - 1), st.floats(0.05, 50))
@settings(max_examples=30, deadline=None)
def test_resolution_does_not_matter(seed, factor):
    rng = np.random.default_rng(seed)

    def pair(scale):
        fresh = np.random.default_rng(seed)
        return [
            States(
                np.full(5, float(k)),
                scale * fresh.uniform(0, 500, (5, 2)),
                scale * fresh.uniform(5, 50, (5, 2)),
                scale * fresh.normal(0, 30, (5, 2)),
                np.full((5, 2), 0.2),
            )
            for k in (0, 1)
        ]

    jitter = rng.uniform(0.05, 0.3, 4)
    np.testing.assert_allclose(
        Coherence().distances(*pair(factor), jitter), Coherence().distances(*pair(1.0), jitter)
    )


def test_gains_fall_with_distance_and_are_best_at_zero():
    coherence = Coherence()
    gains = coherence.gains(np.linspace(0, 12, 50))
    assert (np.diff(gains) < 0).all()
    assert -0.01 < gains[0] <= 0
    assert coherence.gains(np.array([coherence.tolerance]))[0] == pytest.approx(-np.log(2))


def test_longer_gaps_forgive_more():
    off = [
        Coherence().distances(state(0, (0, 0), (10, 10)), state(gap, (4, 0), (10, 10)), JITTER)[0]
        for gap in (0.04, 0.5, 2.0)
    ]
    assert off[0] > off[1] > off[2]


class TestJitter:
    def test_outliers_do_not_count(self):
        rng = np.random.default_rng(0)
        steps = rng.normal(0, 0.2, (2000, 4))
        steps[:400] = 50.0
        measured = Coherence(margin=1.0).jitter(steps)
        np.testing.assert_allclose(measured, 0.2, rtol=0.4)

    def test_without_steps_it_is_that_of_a_usual_detector(self):
        assert (Coherence().jitter(np.zeros((0, 4))) > 0.05).all()

    def test_it_is_bounded(self):
        coherence = Coherence()
        assert (coherence.jitter(np.zeros((500, 4))) == coherence.least_jitter).all()
        assert (coherence.jitter(np.full((500, 4), 9.0)) == coherence.most_jitter).all()


# Log-odds from scores of any scale.


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


@pytest.mark.slow
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
