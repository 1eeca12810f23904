"""The places of the street, one file each; the last is kept for tests of generalisation."""

from wordsight.worlds.street.places import courtyard, harbour, kerb, park
from wordsight.worlds.street.places.place import PLACES, SIZE, Backdrop, Place

__all__ = [
    "PLACES",
    "SIZE",
    "Backdrop",
    "Place",
    "courtyard",
    "harbour",
    "kerb",
    "park",
]
