"""The objects of the street, one file each."""

from wordsight.worlds.street.things import backpack, chair, stool, traffic_cone, trash_can
from wordsight.worlds.street.things.thing import THINGS, Polygon, Prop, StreetThing, cast_prop

__all__ = [
    "THINGS",
    "Polygon",
    "Prop",
    "StreetThing",
    "backpack",
    "cast_prop",
    "chair",
    "stool",
    "traffic_cone",
    "trash_can",
]
