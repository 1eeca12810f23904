"""The street: people who pick up, put down, carry and approach things outdoors."""

from wordsight.worlds.street.corpus import (
    DEFAULT_PLACES,
    GENERALISATION_PLACE,
    StreetFilm,
    street,
)
from wordsight.worlds.street.truth import StreetTruth, street_sentences

__all__ = [
    "DEFAULT_PLACES",
    "GENERALISATION_PLACE",
    "StreetFilm",
    "StreetTruth",
    "street",
    "street_sentences",
]
