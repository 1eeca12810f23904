"""F1 against closed forms, brute force and the published base rates."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from wordsight.evaluation import best_threshold, blind_f1, chance_f1, decisions

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


def test_threshold_lies_between_scores():
    threshold, f1 = best_threshold([3.0, 2.0, 0.0], [True, True, False])
    assert (threshold, f1) == (1.0, 1.0)


def test_nothing_true_means_never():
    assert best_threshold([1.0, 2.0], [False, False]) == (np.inf, 0.0)
