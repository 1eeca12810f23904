"""Contact sheets of worlds."""

import pytest

from tests.worlds.toy import toy_film
from wordsight.worlds import WorldError, world_sheet


def test_each_film_is_a_row_of_stills():
    small, large = (world_sheet([toy_film(k) for k in range(n)], stills=3) for n in (1, 2))
    assert small.shape[1] == large.shape[1]
    assert large.shape[0] > 1.7 * small.shape[0]


def test_no_films_and_no_stills_are_refused():
    with pytest.raises(WorldError, match="at least one film"):
        world_sheet([])
    with pytest.raises(WorldError, match="stills=0"):
        world_sheet([toy_film(0)], stills=0)
