"""Scores of attribute learning that two experiments share: correct rate, assignment, a control."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wordsight.attributes import AttributeLearner

__all__ = ["Scored", "control", "evaluate"]

Labels = NDArray[np.intp]


@dataclass(frozen=True)
class Scored:
    """How well pictures were named.

    Attributes:
        rate: Share of attributes named rightly; one too many or too few costs its share.
        by_attribute: The same for each true attribute, 0 where none was found for it.
        num_attributes: How many attributes were found.
        num_by_length: How many the description length alone would have found; 0 where the number
            was given.
        assignment: Share of the training pairs put into the right attribute.
        num_by_aic: How many Akaike's criterion alone would have found.
        num_by_bic: How many the Bayesian criterion alone would have found.
    """

    rate: float
    by_attribute: tuple[float, ...]
    num_attributes: int
    num_by_length: int
    assignment: float
    num_by_aic: int = 0
    num_by_bic: int = 0


def evaluate(
    learner: AttributeLearner,
    kinds: Sequence[NDArray[np.float64]],
    truth: NDArray[np.str_],
    words: NDArray[np.str_],
    attributes: Labels,
) -> Scored:
    """Ask a learner for all words of test pictures.

    Args:
        learner: What was taught.
        kinds: Features of the test pictures.
        truth: ``(N, A)`` the right word of each attribute.
        words: Per training pair the word that was really said.
        attributes: Per training pair the attribute that was really meant.
    """
    from scipy.optimize import linear_sum_assignment

    recalled = learner.recall(kinds)
    true_count = truth.shape[1]
    examples = np.array([word.example for word in learner.words_])
    right = np.zeros((len(recalled), true_count))
    for k, one in enumerate(recalled):
        played = np.where(one.lessons >= 0, one.lessons, examples[one.words])
        right[k] = (words[played][:, None] == truth).mean(axis=0)
    found = learner.attribution_.lessons
    table = np.array(
        [
            [((found == k) & (attributes == a)).sum() for a in range(true_count)]
            for k in range(len(recalled))
        ]
    )
    rows, columns = linear_sum_assignment(-table)
    by_attribute = np.zeros(true_count)
    by_attribute[columns] = right[rows, columns]
    return Scored(
        float(by_attribute.sum() / max(len(recalled), true_count)),
        tuple(float(value) for value in by_attribute),
        len(recalled),
        _smallest(learner, "description_length"),
        float(table[rows, columns].sum() / len(attributes)),
        _smallest(learner, "aic"),
        _smallest(learner, "bic"),
    )


def _smallest(learner: AttributeLearner, criterion: str) -> int:
    """Return the number of attributes by a criterion; 0 if it was given."""
    if not learner.counts_:
        return 0
    return min(learner.counts_, key=lambda one: getattr(one, criterion)).num_attributes


def control(learner: AttributeLearner, seed: int) -> AttributeLearner:
    """Forget which attribute lessons belong to: what is left is what good features alone give."""
    random = np.random.default_rng(seed)
    return learner.regroup(random.integers(learner.num_attributes_, size=len(learner.texts_)))
