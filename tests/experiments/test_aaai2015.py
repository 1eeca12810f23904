"""Describing the street: how wrong a sentence is, and the protocol on true boxes."""

import pytest

from experiments.aaai2015 import ROWS, measure
from experiments.street_repairs import repairs
from wordsight.errors import WordsightError
from wordsight.language import default_lexicon, parse
from wordsight.meaning import TrainingSettings
from wordsight.worlds import street

QUICK = TrainingSettings(
    restarts=1, tempered_iterations=4, iterations=1, discriminative=None, max_candidates=4
)


@pytest.fixture(scope="module")
def film():
    """A person approached a backpack quickly; a chair and a stool stand about."""
    return next(iter(street(1)))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The person approached the backpack.", {}),  # true as it is
        ("The person carried the backpack.", {"verb": 1}),
        ("The chair approached the backpack.", {"noun": 1}),
        ("The person approached the stool quickly.", {"noun": 1}),  # was picked up slowly
        ("The person to the left of the stool approached the backpack.", {"preposition": 1}),
        ("The chair carried the stool quickly.", {"noun": 2, "verb": 1}),
    ],
)
def test_the_fewest_words_are_replaced(film, text, expected):
    found = repairs(film, parse(text, default_lexicon()))
    assert {part: count for part, count in found.items() if count} == expected


@pytest.mark.slow
def test_every_row_is_measured_on_every_clip(tmp_path):
    results = measure(6, 0, tmp_path, sight="truth", settings=QUICK, threads=1)
    assert set(results["accuracy"]) == set(results["words_to_fix"]) == set(ROWS)
    assert results["clips"] == 6
    for row in ROWS:
        fixes = results["words_to_fix"][row]
        assert 0 <= results["accuracy"][row] <= 1
        assert fixes["total"] == pytest.approx(
            sum(value for part, value in fixes.items() if part != "total"), abs=3e-3
        )
        assert (fixes["total"] == 0) == (results["accuracy"][row] == 1)
    assert results["accuracy"]["hand"] > results["accuracy"]["random"]
    assert not list(tmp_path.iterdir())


def test_one_place_is_not_enough(tmp_path):
    with pytest.raises(WordsightError, match="places"):
        measure(1, 0, tmp_path, sight="truth", settings=QUICK)
