"""The ROC curve against the rank statistic it is a picture of."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wordsight.evaluation import roc_curve


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
