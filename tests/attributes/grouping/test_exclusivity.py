"""Words into attributes: planted meetings, permuted words."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wordsight.attributes import TeachingError
from wordsight.attributes.discriminant import distinct_rows
from wordsight.attributes.grouping.exclusivity import (
    Cooccurrences,
    _total,
    count_cooccurrences,
    grouping_gains,
    partition_words,
)


def planted(groups, seed=0, size=20.0):
    """Poisson meetings: chance across groups, a tenth of it within, plenty with oneself."""
    random = np.random.default_rng(seed)
    groups = np.asarray(groups)
    rates = np.where(groups[:, None] == groups[None], 0.1, 1.0)
    np.fill_diagonal(rates, 4.0)
    expected = np.full(rates.shape, size)
    observed = random.poisson(rates * expected).astype(float)
    return Cooccurrences((observed + observed.T) / 2, expected)


def alike(one, other):
    return np.array_equal(one[:, None] == one[None], other[:, None] == other[None])


@pytest.mark.parametrize("groups", [[0, 0, 0, 1, 1, 1, 1], [0, 0, 1, 1, 2, 2, 2], [0, 0, 0, 0]])
def test_planted_attributes_and_their_number_are_found(groups):
    found = partition_words(planted(groups))
    assert alike(found.groups, np.array(groups))
    assert found.rate < 0.3
    assert alike(partition_words(planted(groups), max(groups) + 1).groups, np.array(groups))


@pytest.mark.slow
@given(st.permutations(range(9)))
def test_the_order_of_words_does_not_matter(order):
    meetings = planted([0, 0, 0, 0, 1, 1, 1, 2, 2])
    order = np.array(order)
    shuffled = Cooccurrences(
        meetings.observed[np.ix_(order, order)], meetings.expected[np.ix_(order, order)]
    )
    assert alike(partition_words(shuffled).groups, partition_words(meetings).groups[order])


def test_two_words_of_one_picture_name_different_attributes():
    # Three pictures, each with a colour (0, 1) and a shape (2, 3): too few for neighbours.
    x = np.repeat(np.arange(3.0)[:, None], 2, axis=0)
    counts = count_cooccurrences(x, np.array([0, 2, 1, 2, 1, 3]), lambda *_: None)
    assert counts.together.tolist() == [[0, 0, 1, 0], [0, 0, 1, 1], [1, 1, 0, 0], [0, 1, 0, 0]]
    assert alike(partition_words(counts, 2).groups, np.array([0, 0, 1, 1]))
    merged = counts.merged(np.array([0, 0, 1, 1]))
    assert merged.together.tolist() == [[0, 3], [3, 0]]


def test_more_attributes_than_words_are_refused():
    with pytest.raises(TeachingError, match="only 3 different words"):
        partition_words(planted([0, 0, 1]), 5)


def test_meetings_are_counted_in_spaces_learned_from_others():
    random = np.random.default_rng(0)
    places = random.permutation(np.repeat(np.arange(4), 50))
    x = places[:, None] + 0.01 * random.normal(size=(200, 1))
    words = places  # every place has one word: they never meet
    seen = []

    def project(known, said, asked):
        seen.append(len(known) + len(asked))
        return known, asked

    meetings = count_cooccurrences(x, words, project)
    assert np.count_nonzero(meetings.observed - np.diag(np.diag(meetings.observed))) == 0
    assert meetings.observed.sum() == pytest.approx(meetings.expected.sum()) == 6 * 200
    assert seen == [200] * 5


def test_too_few_pictures_say_nothing():
    meetings = count_cooccurrences(np.zeros((30, 2)), np.arange(30) % 2, lambda a, b, c: (a, c))
    assert not meetings.observed.any() and not meetings.lift.any()


def test_the_best_division_is_found_among_all():
    # Merging alone misses it: it once ended with one digit against all other words.
    random = np.random.default_rng(5)
    for _ in range(20):
        lift = random.gamma(1.0, 1.0, size=(7, 7))
        expected = random.uniform(1, 20, size=(7, 7))
        expected += expected.T
        meetings = Cooccurrences((lift + lift.T) / 2 * expected, expected)
        every = [np.array([0, *rest]) for rest in product([0, 1], repeat=6) if any(rest)]
        best = max(_total(grouping_gains(meetings), groups) for groups in every)
        assert partition_words(meetings, 2).log_likelihood == pytest.approx(best)


@pytest.mark.parametrize("most", [2, 1000])
def test_equal_rows_have_one_number_whether_or_not_the_first_column_tells_them_apart(most):
    random = np.random.default_rng(0)
    rows = random.integers(0, most, (40, 3)) * 0.1
    rows = np.vstack([rows, rows[::-1] + 1e-12, [[-0.0, 0.1, 0.0]], [[0.0, 0.1, 0.0]]])
    wanted = np.unique(rows.round(9), axis=0, return_inverse=True)[1]
    assert distinct_rows(rows).tolist() == wanted.ravel().tolist()


def test_pictures_of_a_single_word_meet_as_chance_has_it():
    """Nothing sets them apart: a few recordings that are taken for one word can be learned from."""
    x = np.random.default_rng(0).normal(size=(12, 3))
    found = count_cooccurrences(
        x, np.zeros(12, dtype=np.intp), lambda known, _, new: (known[:, :0], new[:, :0])
    )
    assert found.expected[0, 0] > 0
    assert np.array_equal(found.observed, found.expected)
