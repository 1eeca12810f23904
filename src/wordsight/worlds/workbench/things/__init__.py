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
from wordsight.worlds.workbench.things.thing import THINGS, ThingLook, WorkbenchThing

__all__ = [
    "THINGS",
    "ThingLook",
    "WorkbenchThing",
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
