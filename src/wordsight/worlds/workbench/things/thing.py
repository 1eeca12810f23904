"""`WorkbenchThing`: an object of the workbench: name, size, how it is held and drawn.

Each object has a file of its own beside this one; see the guide to worlds for how to add one.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from wordsight.worlds.checks import Registry
from wordsight.worlds.painter import Colour
from wordsight.worlds.sketch import Sketch, Sprite

__all__ = ["FLATNESS", "THINGS", "Point", "ThingLook", "WorkbenchThing"]

Point = tuple[float, float]
"""Right and up in metres from the origin of a thing."""

FLATNESS = 0.34
"""Height of a level circle in the picture as a share of its width: how steeply one looks down."""

THINGS: Registry["WorkbenchThing"] = Registry("object")
"""All objects by name."""


@dataclass(frozen=True)
class ThingLook:
    """What one individual looks like at one moment.

    Attributes:
        colour: Its main colour.
        level: How full it is, 0 to 1.
        content: Colour of what is in it.
        labelled: Whether something has been written on it.
    """

    colour: Colour
    level: float = 0.0
    content: Colour = (168, 206, 224)
    labelled: bool = False


@dataclass(frozen=True)
class WorkbenchThing:
    """A sort of object.

    What stands has its origin at the middle of its foot; what lies is drawn upright, with its
    working end down and its origin in the middle, and turned by ``rest``.

    Attributes:
        name: Its name in the registry and in the truth.
        phrase: What texts call it.
        width: Metres across.
        height: Metres from top to bottom, as drawn upright.
        zone: Where it belongs: ``far``, ``side`` (large devices) or ``near`` (tools).
        grip: Where hands take it.
        hold: ``wrap`` (thumb before it, fingers behind) or ``pinch`` (finger tips on it).
        radius: Metres from the grip to the skin that wraps it.
        mouth: Where things go in and come out.
        tip: The end one works with.
        rest: Radians by which it is turned when nobody holds it.
        work: Radians by which it is turned when it is used.
        top: Metres above its foot on which other things can stand; 0 for none.
        vessel: Whether it holds liquids or powders; shown by its level.
        full: How full it is in the beginning, least and most.
        colours: What it may be painted in.
        paint: Draws it: ``paint(sketch, thing, look)``.
    """

    name: str
    phrase: str
    width: float
    height: float
    zone: str
    grip: Point
    paint: Callable[[Sketch, "WorkbenchThing", ThingLook], None]
    hold: str = "wrap"
    radius: float = 0.02
    mouth: Point = (0.0, 0.0)
    tip: Point = (0.0, 0.0)
    rest: float = 0.0
    work: float = 0.0
    top: float = 0.0
    vessel: bool = False
    full: tuple[float, float] = (0.0, 0.0)
    colours: tuple[Colour, ...] = field(default=((200, 204, 208),))

    @property
    def lies(self) -> bool:
        """Whether its origin is its middle, because it lies on the bench."""
        return self.rest != 0.0

    @property
    def box(self) -> NDArray[np.float64]:
        """``(2, 2)`` lower left and upper right corner of what is drawn, in metres, with room."""
        low = -self.height / 2 if self.lies else -self.width * FLATNESS / 2
        high = self.height / 2 if self.lies else self.height + self.width * FLATNESS / 2
        half = self.width / 2 + 0.012
        return np.array([(-half, low - 0.012), (half, high + 0.012)])

    def sprite(self, look: ThingLook, scale: float, light: float) -> Sprite:
        """Paint it for pictures of ``scale`` pixels per metre."""
        return Sprite.painted(
            lambda sketch: self.paint(sketch, self, look), self.box, scale, light=light
        )
