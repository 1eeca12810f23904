"""`StreetThing`: what an object of the street is: its size, weight, shape and looks.

Each object has a file of its own beside this one and is known by its noun; see the guide to worlds
for how to add one.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wordsight.worlds.checks import Registry
from wordsight.worlds.painter import Colour
from wordsight.worlds.sketch import Sketch, Sprite

__all__ = ["THINGS", "Polygon", "Prop", "StreetThing", "cast_prop"]

Polygon = Sequence[tuple[float, float]]
"""Corners in metres; the origin is at the middle of the foot of the thing."""

THINGS: Registry["StreetThing"] = Registry("object")
"""All objects by their noun."""


@dataclass(frozen=True)
class StreetThing:
    """A sort of object.

    Attributes:
        noun: Its name in the grammar and in the registry.
        width: Least and greatest width in metres.
        height: Least and greatest height in metres.
        mass: Kilograms.
        grip: How high hands take it, as a share of its height.
        swing: How freely it hangs in the hand: 0 is held stiffly, 1 swings.
        colours: What it may be painted in.
        solids: Gives the convex parts that collide, for a width and a height; together they reach
            as far as the picture does.
        paint: Draws it standing on the origin: ``paint(sketch, width, height, colour)``.
    """

    noun: str
    width: tuple[float, float]
    height: tuple[float, float]
    mass: float
    grip: float
    swing: float
    colours: tuple[Colour, ...]
    solids: Callable[[float, float], list[Polygon]]
    paint: Callable[[Sketch, float, float, Colour], None]


@dataclass(frozen=True)
class Prop:
    """One individual object of a film.

    Attributes:
        name: Unique in the film, such as ``chair-1``.
        thing: What it is.
        width: Metres.
        height: Metres.
        colour: Its main colour.
        mirrored: Whether it is turned round, which shows for a chair.
    """

    name: str
    thing: StreetThing
    width: float
    height: float
    colour: Colour
    mirrored: bool

    @property
    def grip(self) -> float:
        """Height at which hands take it, in metres above its foot."""
        return self.thing.grip * self.height

    def solids(self) -> list[NDArray[np.float64]]:
        """Convex parts, each ``(N, 2)`` metres around the middle of the foot."""
        flip = (-1.0, 1.0) if self.mirrored else (1.0, 1.0)
        return [np.asarray(part) * flip for part in self.thing.solids(self.width, self.height)]

    def sprite(self, scale: float, light: float) -> Sprite:
        """Paint it for pictures of ``scale`` pixels per metre."""
        half, margin = self.width / 2, 0.08
        box = ((-half - margin, -margin), (half + margin, self.height + margin))

        def paint(sketch: Sketch) -> None:
            self.thing.paint(sketch, self.width, self.height, self.colour)
            if self.mirrored:
                sketch.layer.mirror()

        # A mirrored thing is painted under mirrored light, so that the light is right afterwards.
        return Sprite.painted(paint, box, scale, light=-light if self.mirrored else light)


def cast_prop(noun: str, name: str, rng: np.random.Generator) -> Prop:
    """Choose an individual of a sort at random."""
    thing = THINGS[noun]
    return Prop(
        name=name,
        thing=thing,
        width=round(float(rng.uniform(*thing.width)), 3),
        height=round(float(rng.uniform(*thing.height)), 3),
        colour=thing.colours[int(rng.integers(len(thing.colours)))],
        mirrored=bool(rng.integers(2)),
    )
