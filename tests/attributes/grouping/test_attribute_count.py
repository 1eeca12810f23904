"""How many attributes there are, found by predicting lessons left out."""

import numpy as np
import pytest

from tests.attributes.toys import lessons
from wordsight.attributes import AttributeLearner
from wordsight.attributes.grouping.attribute_count import (
    CountScore,
    choose_count,
    score_counts,
    without_strays,
)
from wordsight.attributes.grouping.exclusivity import Cooccurrences


def planted(num_attributes, count=360, values=3, seed=0):
    """Things with several attributes, a cluster along axes of its own for each word."""
    random = np.random.default_rng(seed)
    truth = random.integers(values, size=(count, num_attributes))
    said = random.integers(num_attributes, size=count)
    axes = np.concatenate([np.eye(values)[truth[:, k]] for k in range(num_attributes)], axis=1)
    x = 3 * axes + 0.5 * random.normal(size=axes.shape)
    return x, (said * values + truth[np.arange(count), said]).astype(np.intp)


def true_meetings(values):
    """Words meet as chance has it across attributes, never within one."""

    def meet(words, x):
        numbers = np.arange(words.max() + 1) // values
        apart = (numbers[:, None] != numbers).astype(float)
        expected = np.full(apart.shape, 30.0)
        return Cooccurrences(expected * apart, expected)

    return meet


@pytest.mark.parametrize("num_attributes", [1, 2, 3])
def test_the_number_is_found_and_the_likelihood_is_that_of_the_truth(num_attributes):
    x, words = planted(num_attributes)
    meet = true_meetings(3)
    scores = score_counts(x, words, meet(words, x), meet, most=5)
    assert [one.num_attributes for one in scores] == [1, 2, 3, 4, 5][: len(scores)]
    assert choose_count(scores) == num_attributes
    # Nothing can do better than to know all words of a picture and guess which one is meant.
    best = scores[num_attributes - 1].held_out
    assert -np.log(num_attributes) - 0.1 < best < -np.log(num_attributes) + 0.03
    assert scores[num_attributes - 1].standard_error == 0


def test_folds_in_which_a_word_is_missing_still_count():
    x, words = planted(2)
    rare = words.copy()
    rare[0] = 6  # heard once: never known when it is left out
    meet = true_meetings(3)
    scores = score_counts(x, rare, meet(rare, x), meet, most=8)
    assert len(scores) == 7
    assert all(np.isfinite(one.held_out) for one in scores)


def test_too_few_pictures_leave_it_to_the_description_length():
    x, words = np.zeros((6, 2)), np.array([0, 1, 2, 0, 1, 2])
    meet = true_meetings(3)
    scores = score_counts(x, words, meet(words, x), meet)
    assert np.isnan(scores[0].held_out) and choose_count(scores) == 1
    assert [CountScore.from_json(one.to_json()).to_json() for one in scores] == [
        one.to_json() for one in scores
    ]


def test_a_number_that_is_nearly_as_good_and_smaller_is_taken():
    scores = [
        CountScore(1, -2.0, 0.1, 9.0),
        CountScore(2, -1.04, 0.05, 5.0),
        CountScore(3, -1.0, 0.0, 1.0),
    ]
    assert choose_count(scores) == 2


@pytest.mark.slow
def test_the_learner_tells_how_it_chose(tmp_path):
    learner = AttributeLearner().fit(*lessons(160, np.random.default_rng(0)))
    assert learner.num_attributes_ == choose_count(learner.counts_) == 2
    learner.save(tmp_path / "taught")
    assert AttributeLearner.load(tmp_path / "taught").counts_ == learner.counts_
    card = (tmp_path / "taught" / "card.md").read_text()
    assert "log likelihood per lesson left out" in card
    given = AttributeLearner(num_attributes=2).fit(*lessons(60, np.random.default_rng(0)))
    assert given.counts_ == ()


def test_a_few_stray_recordings_are_no_attribute():
    # Two attributes of three words, and strays of one of them that meet all words by chance.
    kinds = np.array([0, 0, 0, 1, 1, 1, 2])
    expected = np.outer([30, 30, 30, 30, 30, 30, 4], [1, 1, 1, 1, 1, 1, 0.2])
    meetings = Cooccurrences(expected * (kinds[:, None] != kinds), expected)
    scores = [CountScore(n, -2 + n / 2, 0.1, 0.0) for n in (1, 2, 3)]
    assert choose_count(scores) == 3
    assert choose_count(without_strays(scores, meetings, np.zeros(0, dtype=np.intp))) == 2
    # A word that somebody spelled is one, however rare.
    assert choose_count(without_strays(scores, meetings, np.array([6]))) == 3
    # Two words that are all there is may well be two attributes.
    pair = Cooccurrences(np.ones((2, 2)), np.ones((2, 2)))
    assert len(without_strays(scores[:2], pair, np.zeros(0, dtype=np.intp))) == 2
