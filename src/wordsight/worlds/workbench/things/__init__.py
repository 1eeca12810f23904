"""The objects of the workbench, one file each."""

from wordsight.worlds.workbench.things import (
    beaker,
    bottle,
    cylinder,
    dish,
    flask,
    funnel,
    jar,
    marker,
    pipette,
    rack,
    scale,
    spoon,
    stirrer,
    tape,
    towel,
    tube,
)
from wordsight.worlds.workbench.things.thing import THINGS, Look, Thing

__all__ = [
    "THINGS",
    "Look",
    "Thing",
    "beaker",
    "bottle",
    "cylinder",
    "dish",
    "flask",
    "funnel",
    "jar",
    "marker",
    "pipette",
    "rack",
    "scale",
    "spoon",
    "stirrer",
    "tape",
    "towel",
    "tube",
]
