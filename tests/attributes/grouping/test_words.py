"""One word or two: clusters of one word, names of one thing, and words that only look like that."""

import numpy as np
import pytest

from wordsight.attributes.grouping.exclusivity import Cooccurrences
from wordsight.attributes.grouping.words import link_synonyms, merge_same_words


def test_one_word_in_two_clusters_is_put_together():
    # Clusters 0 and 1 are one word: near in sound, said of the same things. 2 and 3 are not.
    lift = np.array([[6, 6, 1, 0], [6, 6, 1, 0], [1, 1, 6, 1], [0, 0, 1, 6.0]])
    meetings = Cooccurrences(20 * lift, np.full((4, 4), 20.0))
    random = np.random.default_rng(0)
    centres = np.array([[0, 0], [1, 0], [0, 1.5], [9, 9]])
    labels = np.repeat(np.arange(4), 30)
    points = centres[labels] + 0.4 * random.normal(size=(120, 2))
    merged = merge_same_words(meetings, points, labels)
    assert merged.max() == 2
    assert len(set(merged[:60])) == 1


@pytest.mark.parametrize(
    ("lift", "counts", "linked"),
    [
        # The same word in two voices (0, 1): one rate with itself, with the other, with the rest.
        ([[6, 6, 1, 1], [6, 6, 1, 1], [1, 1, 2, 0], [1, 1, 0, 2]], (9, 9, 9, 9), [0, 0, 1, 2]),
        # Threes (0) that were mostly blue (2): "three" meets "blue" far more than chance has it,
        # but itself far more often still.
        ([[11, 0, 2.7, 0], [0, 11, 1, 1], [2.7, 1, 2.2, 0.1], [0, 1, 0.1, 2.8]],
         (3, 3, 9, 9), [0, 1, 2, 3]),
        # A rare digit (0) that was nearly always red (2): it keeps away from the other digit (1),
        # which "red" does not.
        ([[6, 0, 4, 1], [0, 8, 1, 1], [4, 1, 4, 0], [1, 1, 0, 3]], (2, 9, 9, 9), [0, 1, 2, 3]),
    ],
)  # fmt: skip
def test_names_of_the_same_things_are_linked(lift, counts, linked):
    expected = np.outer(counts, counts).astype(float)
    found = link_synonyms(Cooccurrences(np.array(lift) * expected, expected))
    assert found.tolist() == linked


def test_words_that_were_hardly_heard_stay_apart():
    meetings = Cooccurrences(np.full((3, 3), 0.2), np.full((3, 3), 0.1))
    assert link_synonyms(meetings).tolist() == [0, 1, 2]
