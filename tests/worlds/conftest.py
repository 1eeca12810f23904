"""Films that several tests look at, made once."""

import pytest

from wordsight.worlds import street


@pytest.fixture(scope="session")
def corpus():
    """The default corpus, directed but not rendered."""
    return list(street())


@pytest.fixture(scope="session")
def clean_films():
    """A few films without any noise, one of each verb in each place."""
    return list(street(clips=12, random_state=7, noise=0.0))
