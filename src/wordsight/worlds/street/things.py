"""The objects of the street: their size, weight, shape and how they are painted.

The guide to worlds shows how to add one.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from wordsight.worlds.checks import Registry, Rng, pick
from wordsight.worlds.painter import Colour, Floats, palette, shade
from wordsight.worlds.sketch import Point, Sketch, Sprite, rounded

__all__ = ["THINGS", "Prop", "StreetThing", "cast_prop"]

Polygon = Sequence[Point]
"""Corners in metres; the origin is at the middle of the foot of the thing."""


@dataclass(frozen=True)
class StreetThing:
    """A kind of object."""

    noun: str  # its name in the grammar and in the registry
    width: tuple[float, float]  # least and greatest, metres
    height: tuple[float, float]  # least and greatest, metres
    mass: float  # kilograms
    grip: float  # how high hands take it, as a share of its height
    swing: float  # how freely it hangs in the hand: 0 is held stiffly, 1 swings
    colours: tuple[Colour, ...]
    solids: Callable[[float, float], list[Polygon]]
    """Convex parts that collide, for a width and a height; they reach as far as the picture."""
    paint: Callable[[Sketch, float, float, Colour], None]
    """Draws it standing on the origin, with a width, a height and a colour."""


@dataclass(frozen=True)
class Prop:
    """One individual object of a film."""

    name: str  # unique in the film, such as chair-1
    thing: StreetThing
    width: float  # metres
    height: float  # metres
    colour: Colour
    mirrored: bool  # whether left and right are swapped, which shows for a chair

    @property
    def grip(self) -> float:
        """Height at which hands take it, in metres above its foot."""
        return self.thing.grip * self.height

    def solids(self) -> list[Floats]:
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
                sketch.mirror()

        # A mirrored thing is painted under mirrored light, so that the light is right afterwards.
        return Sprite.painted(paint, box, scale, light=-light if self.mirrored else light)


def cast_prop(noun: str, name: str, rng: Rng) -> Prop:
    """Draw an individual of a kind."""
    thing = THINGS[noun]
    return Prop(
        name=name,
        thing=thing,
        width=round(float(rng.uniform(*thing.width)), 3),
        height=round(float(rng.uniform(*thing.height)), 3),
        colour=pick(thing.colours, rng),
        mirrored=bool(rng.integers(2)),
    )


def _box(left: float, bottom: float, right: float, top: float) -> Polygon:
    return [(left, bottom), (right, bottom), (right, top), (left, top)]


# The backpack: a rounded bag with a front pocket, a handle and shoulder straps.


def _backpack_solids(width: float, height: float) -> list[Polygon]:
    half, body = width / 2, height * 0.90
    top = [(-half * 0.75, body * 0.8), (half * 0.75, body * 0.8), (half * 0.2, height)]
    return [_box(-half, 0.0, half, body * 0.8), [*top, (-half * 0.2, height)]]


def _paint_backpack(sketch: Sketch, width: float, height: float, colour: Colour) -> None:
    half, body = width / 2, height * 0.90
    dark, pale = shade(colour, 0.62), shade(colour, 1.22)
    bow = np.linspace(-np.pi / 2, np.pi / 2, 9)
    for reach, wide in ((0.30, 0.034), (0.20, 0.030)):
        x = -half * 0.70 - (half * reach - 0.005) * np.cos(bow)
        strap = np.stack([x, body * 0.47 + body * 0.36 * np.sin(bow)], axis=1)
        sketch.stroke(strap, wide, shade(dark, 0.75 if reach < 0.25 else 1.0))
    loop = np.linspace(0.0, np.pi, 9)
    handle = np.stack([0.05 * np.cos(loop), body - 0.02 + (height - body) * np.sin(loop)], axis=1)
    sketch.stroke(handle, 0.022, dark)
    left = -half * 0.78
    sketch.polygon(rounded(left, 0.0, half, body, width * 0.34), dark)
    sketch.polygon(rounded(left + 0.012, 0.008, half - 0.012, body - 0.012, width * 0.32), colour)
    middle = (left + half) / 2
    sketch.polygon(rounded(middle, 0.02, half - 0.03, body * 0.86, 0.09), shade(colour, 1.08))
    arch = np.linspace(0.05 * np.pi, 0.95 * np.pi, 11)
    x = middle + ((half - left) / 2 - 0.035) * np.cos(arch)
    zipper = np.stack([x, body * 0.60 + body * 0.29 * np.sin(arch)], axis=1)
    sketch.stroke(zipper, 0.012, dark)
    sketch.stroke([zipper[3], zipper[3] - (0.0, 0.05)], 0.012, (240, 220, 90))
    pocket = rounded(left + 0.05, 0.035, half - 0.04, body * 0.44, 0.05)
    sketch.polygon(pocket, pale)
    sketch.stroke(np.vstack([pocket, pocket[:1]]), 0.010, dark)
    sketch.stroke([(left + 0.07, body * 0.36), (half - 0.06, body * 0.36)], 0.014, (235, 235, 225))
    sketch.polygon(rounded(middle - 0.035, body * 0.14, middle + 0.035, body * 0.24, 0.01), dark)


# The chair: four legs, a seat and a back with rails, seen half from the side.

_CHAIR_SEAT = 0.52  # height of the seat as a share of the whole
_CHAIR_DEPTH = 0.06  # metres by which the far side is drawn higher and to the side


def _chair_solids(width: float, height: float) -> list[Polygon]:
    half, seat = width / 2, height * _CHAIR_SEAT
    return [_box(-half, 0.0, half, seat), _box(-half, seat, -half + 0.13, height)]


def _paint_chair(sketch: Sketch, width: float, height: float, colour: Colour) -> None:
    half, seat = width / 2, height * _CHAIR_SEAT
    dark, deep = shade(colour, 0.72), shade(colour, 0.5)
    back, front = -half + 0.025, half - 0.025 - _CHAIR_DEPTH * 0.5
    far_back, far_front = back + _CHAIR_DEPTH, front + _CHAIR_DEPTH * 0.5
    for x in (far_back + 0.01, far_front):
        sketch.stroke([(x, 0.035), (x, seat)], 0.028, deep)
    sketch.stroke([(far_back, seat), (far_back + 0.01, height - 0.01)], 0.030, dark)
    for rail in (0.70, 0.82, 0.94):
        y = height * rail
        sketch.stroke([(back, y), (far_back + 0.01, y + 0.012)], 0.055, shade(colour, 0.86))
    top = [(back - 0.02, seat), (front + 0.03, seat), (far_front + 0.02, seat + _CHAIR_DEPTH)]
    sketch.polygon([*top, (far_back - 0.02, seat + _CHAIR_DEPTH)], shade(colour, 1.2))
    sketch.rectangle(back - 0.02, seat - 0.045, front + 0.03, seat, dark)
    sketch.stroke([(back, height * 0.26), (front, height * 0.26)], 0.022, dark)
    sketch.stroke([(back, 0.014), (back, height - 0.02)], 0.036, colour)
    sketch.stroke([(front, 0.014), (front, seat - 0.02)], 0.036, colour)


# The stool: a round seat without a back on spread legs.

_STOOL_SEAT = 0.07  # metres thick


def _stool_solids(width: float, height: float) -> list[Polygon]:
    half, seat, under = width / 2, width * 0.45, height - _STOOL_SEAT
    legs = [(-half, 0.0), (half, 0.0), (seat, under), (-seat, under)]
    return [legs, _box(-seat, under, seat, height)]


def _paint_stool(sketch: Sketch, width: float, height: float, colour: Colour) -> None:
    half, seat = width / 2, width * 0.45
    legs, deep = shade(colour, 0.62), shade(colour, 0.42)
    under = height - _STOOL_SEAT
    for foot, head in ((-0.34, -0.3), (0.38, 0.3)):
        sketch.stroke([(foot * half, 0.06), (head * seat, under)], 0.026, deep)
    for side in (-1.0, 1.0):
        ends = [(side * (half - 0.018), 0.016), (side * (seat - 0.05), under)]
        sketch.stroke(ends, 0.034, legs)
    y, reach = height * 0.34, half * 0.86
    sketch.ellipse((0.0, y), (2 * reach, 0.085), legs)
    sketch.ellipse((0.0, y + 0.004), (2 * reach - 0.05, 0.045), deep)
    for side in (-1.0, 1.0):
        low, high = (side * reach * 1.02, y - 0.05), (side * reach * 0.93, y + 0.07)
        sketch.stroke([low, high], 0.034, legs)
    sketch.ellipse((0.0, under + 0.015), (2 * seat, 0.075), shade(colour, 0.7))
    sketch.rectangle(-seat, under + 0.015, seat, height - 0.03, shade(colour, 0.85))
    sketch.ellipse((0.0, height - 0.036), (2 * seat, 0.072), shade(colour, 1.15))


# The traffic cone: orange with white bands on a square foot.

_CONE_FOOT = 0.05  # metres


def _cone_solids(width: float, height: float) -> list[Polygon]:
    half, body = width / 2, width * 0.37
    cone = [(-body, _CONE_FOOT), (body, _CONE_FOOT), (0.035, height), (-0.035, height)]
    return [_box(-half, 0.0, half, _CONE_FOOT), cone]


def _paint_cone(sketch: Sketch, width: float, height: float, colour: Colour) -> None:
    half, body = width / 2, width * 0.37
    sketch.polygon(rounded(-half, 0.0, half, _CONE_FOOT, 0.02), shade(colour, 0.62))
    foot = rounded(-half + 0.01, 0.022, half - 0.01, _CONE_FOOT, 0.015)
    sketch.polygon(foot, shade(colour, 0.84))
    white = (240, 240, 236)
    for low, high, paint in ((0.0, 1.0, colour), (0.24, 0.42, white), (0.58, 0.74, white)):
        (x1, x2) = (body + (0.035 - body) * share for share in (low, high))
        y1 = _CONE_FOOT + (height - _CONE_FOOT) * low
        y2 = _CONE_FOOT + (height - _CONE_FOOT) * high - (0.012 if high == 1.0 else 0.0)
        # Three strips from the light to the dark side make it look round.
        for left, right, side in ((-1.0, -0.3, -0.22), (-0.3, 0.4, 0.0), (0.4, 1.0, 0.22)):
            strip = [(left * x1, y1), (right * x1, y1), (right * x2, y2), (left * x2, y2)]
            sketch.polygon(strip, shade(paint, 1.0 + side * sketch.light))
    sketch.ellipse((0.0, height - 0.012), (0.07, 0.024), shade(colour, 0.7))


# The trash-can: a ribbed tapered bin with a domed lid and handles at the sides.

_CAN_FOOT = 0.78  # width of the foot as a share of the width of the lid
_CAN_BIN = 0.82  # height of the bin without its lid as a share of the whole


def _can_solids(width: float, height: float) -> list[Polygon]:
    half, rim = width / 2, height * _CAN_BIN
    foot = half * _CAN_FOOT
    lid = [(-half, rim), (half, rim), (half * 0.3, height), (-half * 0.3, height)]
    return [[(-foot, 0.0), (foot, 0.0), (half, rim), (-half, rim)], lid]


def _paint_can(sketch: Sketch, width: float, height: float, colour: Colour) -> None:
    half, rim = width / 2, height * _CAN_BIN
    top, foot = half - 0.02, half * _CAN_FOOT
    sketch.polygon([(-foot, 0.0), (foot, 0.0), (top, rim), (-top, rim)], colour)
    for left in np.linspace(-1.0, 0.75, 8):
        right, bright = left + 0.25, 1.0 + sketch.light * 0.28 * (left + 0.125)
        strip = [(left * foot, 0.0), (right * foot, 0.0), (right * top, rim), (left * top, rim)]
        sketch.polygon(strip, shade(colour, bright))
    for x in np.linspace(-0.84, 0.84, 8):
        bright = 0.62 + 0.1 * (x * np.sign(sketch.light or 1.0) + 1.0)
        rib = [(x * foot, 0.04), (x * top, rim - 0.05)]
        sketch.stroke(rib, 0.013, shade(colour, bright))
        sketch.stroke(np.add(rib, (0.011, 0.0)), 0.008, shade(colour, 1.28))
    for y in (0.02, rim - 0.02):
        reach = foot + (top - foot) * y / rim
        sketch.stroke([(-reach, y), (reach, y)], 0.028, shade(colour, 0.8))
    for side in (-1.0, 1.0):
        x = side * (foot + (top - foot) * 0.72)
        grip = [(x, rim * 0.80), (x + side * 0.028, rim * 0.76), (x + side * 0.024, rim * 0.62)]
        sketch.stroke([*grip, (x - side * 0.005, rim * 0.60)], 0.018, shade(colour, 0.5))
    lid, dome = height - rim - 0.03, np.linspace(0.0, np.pi, 15)
    arch = np.stack([(half - 0.01) * np.cos(dome), rim + 0.02 + lid * np.sin(dome) ** 0.8], axis=1)
    sketch.polygon(arch, shade(colour, 0.92))
    inner = np.stack([half * 0.6 * np.cos(dome), rim + 0.03 + lid * 0.86 * np.sin(dome)], axis=1)
    sketch.polygon(inner, shade(colour, 1.12))
    sketch.polygon(rounded(-half, rim - 0.012, half, rim + 0.034, 0.016), shade(colour, 0.66))
    knob = [(-0.05, height - 0.035), (-0.04, height - 0.012), (0.04, height - 0.012)]
    sketch.stroke([*knob, (0.05, height - 0.035)], 0.022, shade(colour, 0.45))


Range = tuple[float, float]
_TABLE: dict[str, tuple[Range, Range, float, float, float, str]] = {
    # noun: width, height, mass, grip, swing, colours
    "backpack": ((0.36, 0.42), (0.48, 0.55), 4.0, 0.97, 1.0, "c42c30 244eb2 de781c 7a3696 14807c"),
    "chair": ((0.44, 0.50), (0.84, 0.94), 5.0, 0.50, 0.2, "965c2c ba844a d0c4ac b0342e 406e5c"),
    "stool": ((0.36, 0.42), (0.48, 0.58), 4.0, 0.85, 0.2, "deba82 3c3e44 dee0e2 ba4046"),
    "traffic-cone": ((0.36, 0.42), (0.62, 0.74), 3.0, 0.66, 0.3, "f26212 ec4e14 f6741e"),
    "trash-can": ((0.42, 0.48), (0.66, 0.74), 6.0, 0.62, 0.1, "969ca2 7a848e 3a744a 485462"),
}
_SHAPES = {
    "backpack": (_backpack_solids, _paint_backpack),
    "chair": (_chair_solids, _paint_chair),
    "stool": (_stool_solids, _paint_stool),
    "traffic-cone": (_cone_solids, _paint_cone),
    "trash-can": (_can_solids, _paint_can),
}

THINGS = Registry(
    "object",
    {
        noun: StreetThing(noun, wide, tall, mass, grip, swing, palette(colours), *_SHAPES[noun])
        for noun, (wide, tall, mass, grip, swing, colours) in _TABLE.items()
    },
)
"""All objects by their noun."""
