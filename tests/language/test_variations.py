"""Near misses, role swaps and the listing of all sentences."""

import math

import pytest

from wordsight.language import (
    default_lexicon,
    enumerate_sentences,
    near_misses,
    parse,
    role_swapped,
    verb_swapped,
)

LONG = parse("The person to the left of the backpack carried the trash-can towards the chair.")


def test_near_misses_differ_in_exactly_one_word():
    twins = near_misses(LONG)
    # 4 nouns x 2 unused ones, 1 other preposition, 3 other verbs, 1 other motion preposition
    assert len(twins) == 4 * 2 + 1 + 3 + 1
    assert len({twin.words for twin in twins}) == len(twins)
    for twin in twins:
        assert parse(twin.text) == twin
        differing = [a for a, b in zip(LONG.words, twin.words, strict=True) if a != b]
        assert len(differing) == 1


def test_near_misses_may_repeat_nouns():
    assert len(near_misses(LONG, repeat_nouns=True)) == 4 * 5 + 1 + 3 + 1


def test_verb_swapped_keeps_everything_else():
    verbs = {twin.words[3].entry for twin in verb_swapped(LONG)}
    assert verbs == {"picked-up", "put-down", "approached"}


SWAPS = [
    # adverb and motion preposition follow the subject; places stay with the things
    (
        "The person to the left of the stool carried the chair quickly towards the backpack.",
        "The chair carried the person to the left of the stool quickly towards the backpack.",
    ),
    # without a verb the place is turned around
    ("The chair is to the left of the stool.", "The stool is to the left of the chair."),
    # a thing mentioned twice
    (
        "The person to the left of the chair approached the chair.",
        "The chair approached the person to the left of the chair.",
    ),
    # nothing to swap, nothing changed
    ("There is a chair.", None),
    ("The person approached another person.", None),
]


@pytest.mark.parametrize(("text", "twin"), SWAPS)
def test_role_swapped(text, twin):
    swapped = role_swapped(parse(text))
    assert (swapped.text if swapped else None) == twin
    if swapped:
        assert parse(swapped.text) == swapped
        assert role_swapped(swapped).words == parse(text).words


def test_enumeration_is_complete_ordered_and_without_repetition():
    found = list(enumerate_sentences(max_participants=2))
    # 4 verbs, 6 x 5 pairs of nouns, no adverb or one of 2
    assert len(found) == 4 * 30 * 3
    assert len({s.words for s in found}) == len(found)
    lengths = [len(s.words) for s in found]
    assert lengths == sorted(lengths)


@pytest.mark.slow
def test_enumeration_counts_of_three_participants():
    nouns = math.perm(6, 3)
    # a third participant comes from one of 2 places of 2 arguments or from 2 motion prepositions
    expected = 4 * 30 * 3 + 4 * nouns * (2 * 2 + 2) * 3
    assert sum(1 for _ in enumerate_sentences(default_lexicon(), max_participants=3)) == expected
