"""F1 against closed forms, brute force and the published base rates."""

from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from wordsight.evaluation import (
    best_threshold,
    blind_f1,
    chance_f1,
    decisions,
    roc_curve,
    separating_threshold,
)

tables = hnp.arrays(np.bool_, st.tuples(st.integers(1, 6), st.integers(1, 6)))


@pytest.mark.parametrize(
    ("truth", "said", "precision", "recall", "f1"),
    [
        ([1, 1, 0, 0], [1, 1, 0, 0], 1, 1, 1),  # all right
        ([1, 1, 0, 0], [0, 0, 1, 1], 0, 0, 0),  # all wrong
        ([1, 1, 0, 0], [1, 1, 1, 1], 0.5, 1, 2 / 3),  # says true to everything
        ([1, 0, 0], [0, 0, 0], 0, 0, 0),  # says nothing
        ([0, 0], [0, 0], 0, 0, 0),  # nothing is true
    ],
)
def test_decisions(truth, said, precision, recall, f1):
    counted = decisions(truth, said)
    assert (counted.precision, counted.recall, counted.f1) == pytest.approx((precision, recall, f1))


def test_shapes_must_agree():
    with pytest.raises(ValueError, match="differ in shape"):
        decisions([True], [True, False])
    with pytest.raises(ValueError, match="clips, sentences"):
        blind_f1([True])


@pytest.mark.parametrize(("share", "published"), [(0.0917, 0.155), (0.055, 0.099)])
def test_chance_matches_the_published_base_rates(share, published):
    truth = np.zeros(10000, dtype=bool)
    truth[: int(share * 10000)] = True
    assert chance_f1(truth) == pytest.approx(published, abs=5e-4)


@given(tables)
def test_blind_bound_equals_trying_every_choice(truth):
    best = max(
        decisions(truth, np.broadcast_to(np.array(row), truth.shape)).f1
        for row in product([False, True], repeat=truth.shape[1])
    )
    assert blind_f1(truth) == pytest.approx(best)


@given(tables, st.integers(0, 2**31))
def test_threshold_is_the_best_there_is(truth, seed):
    scores = np.random.default_rng(seed).integers(0, 4, truth.shape) / 2
    threshold, f1 = best_threshold(scores, truth)
    assert decisions(truth, scores >= threshold).f1 == pytest.approx(f1)
    for other in [*np.unique(scores), np.inf]:
        assert decisions(truth, scores >= other).f1 <= f1 + 1e-12


@given(tables, st.integers(0, 2**31))
def test_separating_threshold_is_the_best_there_is(truth, seed):
    assume(truth.any() and not truth.all())
    scores = np.random.default_rng(seed).integers(0, 4, truth.shape) / 2

    def gain(limit):
        return (scores[truth] >= limit).mean() - (scores[~truth] >= limit).mean()

    best = gain(separating_threshold(scores, truth))
    assert all(gain(other) <= best + 1e-12 for other in [*np.unique(scores), np.inf])


def test_separating_threshold_stays_where_some_false_ones_are_true():
    rng = np.random.default_rng(0)
    true, false = rng.normal(2, 1, 400), rng.normal(0, 1, 4000)
    known = [True] * 400 + [False] * 4000
    before = separating_threshold([*true, *false], known)
    after = separating_threshold([*true, *false, *true], [*known, *[False] * 400])
    assert after == pytest.approx(before)
    assert best_threshold([*true, *false, *true], [*known, *[False] * 400])[0] > before


def test_threshold_lies_between_scores():
    threshold, f1 = best_threshold([3.0, 2.0, 0.0], [True, True, False])
    assert (threshold, f1) == (1.0, 1.0)


def test_nothing_true_means_never():
    assert best_threshold([1.0, 2.0], [False, False]) == (np.inf, 0.0)


# The ROC curve against the rank statistic it is a picture of.


@given(st.lists(st.tuples(st.integers(0, 5), st.booleans()), min_size=2, max_size=30))
def test_area_is_the_chance_that_true_beats_false(pairs):
    scores, truth = (np.array(column) for column in zip(*pairs, strict=True))
    if truth.all() or not truth.any():
        with pytest.raises(ValueError, match="one true and one false"):
            roc_curve(scores, truth)
        return
    difference = scores[truth][:, None] - scores[~truth][None, :]
    expected = ((difference > 0) + 0.5 * (difference == 0)).mean()
    assert roc_curve(scores, truth).area == pytest.approx(expected)


def test_curve_of_a_perfect_score():
    curve = roc_curve([3, 2, 1, 0], [True, True, False, False])
    assert curve.area == 1
    assert curve.true_positive_rate_at(0.0) == 1
    assert curve.thresholds[0] == np.inf


def test_monotone_change_of_scores_changes_nothing():
    scores, truth = np.array([0.1, 0.4, 0.35, 0.8]), np.array([False, True, False, True])
    first, second = roc_curve(scores, truth), roc_curve(np.exp(5 * scores), truth)
    assert np.array_equal(first.true_positive_rates, second.true_positive_rates)
