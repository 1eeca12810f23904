"""The objects of the workbench: their sizes, how they are held, and the registry of all.

The guide to worlds shows how to add one.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from wordsight.worlds.checks import Registry
from wordsight.worlds.painter import Colour, Floats, palette
from wordsight.worlds.sketch import Point, Sketch, Sprite
from wordsight.worlds.workbench import tools, vessels
from wordsight.worlds.workbench.vessels import FLATNESS, ThingLook

__all__ = ["THINGS", "WorkbenchThing"]


@dataclass(frozen=True)
class WorkbenchThing:
    """A kind of object.

    What stands has its origin at the middle of its foot; what lies is drawn upright, with its
    working end down and its origin in the middle, and turned by ``rest``.
    """

    name: str
    paint: Callable[[Sketch, float, float, ThingLook], None]  # with its width and height
    width: float  # metres across
    height: float  # metres from top to bottom, as drawn upright
    zone: str  # where it belongs: far, side (large devices), near (tools) or rack
    grip: Point  # where hands take it
    hold: str = "wrap"  # thumb before it, fingers behind; or pinch: finger tips on it
    radius: float = 0.02  # metres from the grip to the skin that wraps it
    mouth: Point = (0.0, 0.0)  # where things go in and come out
    tip: Point = (0.0, 0.0)  # the end one works with
    rest: float = 0.0  # radians by which it is turned when it is not held
    work: float = 0.0  # radians by which it is turned when it is used
    top: float = 0.0  # metres above its foot on which other things can stand; 0 for none
    vessel: bool = False  # whether it holds liquids or powders; shown by its level
    full: tuple[float, float] = (0.0, 0.0)  # level in the beginning, least and most
    colours: tuple[Colour, ...] = palette("c8ccd0")
    noun: str = ""  # what texts call it, if not by its name

    @property
    def phrase(self) -> str:
        """What texts call it."""
        return self.noun or self.name

    @property
    def lies(self) -> bool:
        """Whether its origin is its middle, because it lies on the bench."""
        return self.rest != 0.0

    @property
    def box(self) -> Floats:
        """``(2, 2)`` lower left and upper right corner of what is drawn, in metres, with room."""
        low = -self.height / 2 if self.lies else -self.width * FLATNESS / 2
        high = self.height / 2 if self.lies else self.height + self.width * FLATNESS / 2
        half = self.width / 2 + 0.012
        return np.array([(-half, low - 0.012), (half, high + 0.012)])

    def sprite(self, look: ThingLook, scale: float, light: float) -> Sprite:
        """Paint it for pictures of ``scale`` pixels per metre."""

        def paint(sketch: Sketch) -> None:
            self.paint(sketch, self.width, self.height, look)

        return Sprite.painted(paint, self.box, scale, light=light)


# fmt: off
_ALL = (
    WorkbenchThing("beaker", vessels.paint_beaker, 0.092, 0.098, "far", (0.0, 0.052),
                   radius=0.044, mouth=(0.0, 0.098), vessel=True),
    WorkbenchThing("bottle", vessels.paint_bottle, 0.080, 0.172, "far", (0.0, 0.088),
                   radius=0.038, mouth=(0.0, 0.172), vessel=True, full=(0.7, 1.0),
                   colours=palette("985e2c a8ced8 7e4c26")),
    WorkbenchThing("cylinder", vessels.paint_cylinder, 0.066, 0.186, "far", (0.0, 0.092),
                   radius=0.020, mouth=(0.0, 0.186), vessel=True,
                   colours=palette("4078be dee2e4")),
    WorkbenchThing("dish", vessels.paint_dish, 0.108, 0.018, "near", (0.040, 0.012), "pinch",
                   mouth=(0.0, 0.012), vessel=True, noun="petri dish"),
    WorkbenchThing("flask", vessels.paint_flask, 0.104, 0.142, "far", (0.0, 0.096),
                   radius=0.020, mouth=(0.0, 0.142), vessel=True),
    WorkbenchThing("funnel", vessels.paint_funnel, 0.096, 0.114, "near", (0.0, 0.016),
                   radius=0.026, mouth=(0.0, 0.040), tip=(0.0, -0.057), rest=0.9,
                   colours=palette("eef0ee e8783c 5aaad2")),
    WorkbenchThing("jar", vessels.paint_jar, 0.088, 0.092, "far", (0.0, 0.044),
                   radius=0.042, mouth=(0.0, 0.092), full=(0.6, 1.0),
                   colours=palette("c43c34 3a8c4e e4a028 6e4696")),
    WorkbenchThing("marker", tools.paint_marker, 0.030, 0.140, "near", (0.0, -0.006), "pinch",
                   tip=(0.0, -0.070), rest=-0.35, work=-0.75,
                   colours=palette("1e1e22 c42228 1c42aa 1e7a3c")),
    WorkbenchThing("pipette", tools.paint_pipette, 0.056, 0.214, "near", (0.0, 0.052),
                   radius=0.014, tip=(0.0, -0.107), rest=-0.28, work=-0.42,
                   colours=palette("2a6ec4 ce463c 389664 eca028")),
    WorkbenchThing("rack", tools.paint_rack, 0.158, 0.078, "far", (0.070, 0.052), "pinch", 0.016,
                   colours=palette("c49256 5c84b0 d6d6ce")),
    WorkbenchThing("scale", tools.paint_scale, 0.164, 0.062, "side", (0.040, 0.012), "pinch",
                   tip=(0.040, 0.012), top=0.044, colours=palette("e0e2e4 545c66 e8e4d6")),
    WorkbenchThing("spoon", tools.paint_spoon, 0.030, 0.166, "near", (0.0, 0.050), "pinch",
                   tip=(0.0, -0.072), rest=0.30, work=-0.60, colours=palette("bac0c6")),
    WorkbenchThing("stirrer", tools.paint_stirrer, 0.152, 0.084, "side", (0.036, 0.023), "pinch",
                   tip=(0.036, 0.023), top=0.060, colours=palette("3e5476 5c6268 386862")),
    WorkbenchThing("tape", tools.paint_tape, 0.076, 0.034, "near", (0.030, 0.020), "pinch",
                   tip=(0.036, 0.010), colours=palette("d6c678 5aa0c8 de6e3c e8e8e2")),
    WorkbenchThing("towel", tools.paint_towel, 0.118, 0.062, "near", (0.0, 0.032), "pinch",
                   tip=(0.0, 0.030), colours=palette("f0f0ea d8e2ec ecd6ce")),
    WorkbenchThing("tube", vessels.paint_tube, 0.032, 0.128, "rack", (0.0, 0.088),
                   radius=0.012, mouth=(0.0, 0.128), vessel=True, noun="test tube"),
)
# fmt: on

THINGS = Registry("object", {thing.name: thing for thing in _ALL})
"""All objects by name."""
