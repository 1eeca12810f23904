"""Forced choice: ties, chance and the guesser that does not look."""

import numpy as np
import pytest

from wordsight.evaluation import FrequencyGuesser, chance_accuracy, choice_accuracy, choices


@pytest.mark.parametrize(
    ("scores", "truth", "accuracy"),
    [
        ([[1, 2], [2, 1]], [1, 0], 1.0),  # both right
        ([[1, 2], [2, 1]], [0, 0], 0.5),  # one right
        ([[0, 0, 0, 0]], [2], 0.25),  # all alike: chance
        ([[1, 1, 0]], [0], 0.5),  # tied for the best
        ([], [], 0.0),  # no question
    ],
)
def test_accuracy(scores, truth, accuracy):
    assert choice_accuracy(scores, truth) == pytest.approx(accuracy)


def test_choices_are_the_best():
    assert choices([[1, 3, 2], [5, 5]]) == [1, 0]


def test_chance():
    assert chance_accuracy([2, 4]) == pytest.approx(0.375)


def test_question_and_answer_counts_must_agree():
    with pytest.raises(ValueError, match="do not match"):
        choice_accuracy([[1, 2]], [0, 1])


def test_guesser_prefers_what_is_true_when_asked():
    # "rare" was asked once and true once; "often" was asked three times and true twice.
    candidates = [["often", "other"], ["often", "other"], ["often", "rare"]]
    guesser = FrequencyGuesser(pseudo_count=0.1).fit(candidates, [0, 0, 1])
    scores = guesser.scores(["rare", "often", "other"])
    assert scores[0] > scores[1] > scores[2]
    assert np.isfinite(guesser.scores(["never seen"])).all()
