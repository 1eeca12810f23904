"""The trash-can: a ribbed tapered bin with a domed lid and handles at the sides."""

import numpy as np

from wordsight.worlds.painter import Colour, shade
from wordsight.worlds.sketch import Sketch, rounded
from wordsight.worlds.street.things.thing import THINGS, Polygon, StreetThing

__all__ = ["TRASH_CAN"]

_FOOT = 0.78  # width of the foot as a share of the width of the lid
_BIN = 0.82  # height of the bin without its lid as a share of the whole


def _solids(width: float, height: float) -> list[Polygon]:
    half, rim = width / 2, height * _BIN
    foot = half * _FOOT
    lid = [(-half, rim), (half, rim), (half * 0.3, height), (-half * 0.3, height)]
    return [[(-foot, 0.0), (foot, 0.0), (half, rim), (-half, rim)], lid]


def _paint(sketch: Sketch, width: float, height: float, colour: Colour) -> None:
    half, rim = width / 2, height * _BIN
    top, foot = half - 0.02, half * _FOOT
    sketch.polygon([(-foot, 0.0), (foot, 0.0), (top, rim), (-top, rim)], colour)
    _shade_round(sketch, foot, top, rim, colour)
    for x in np.linspace(-0.84, 0.84, 8):
        bright = 0.62 + 0.1 * (x * np.sign(sketch.light or 1.0) + 1.0)
        ends = [(x * foot, 0.04), (x * top, rim - 0.05)]
        sketch.stroke(ends, 0.013, shade(colour, bright))
        sketch.stroke(np.add(ends, (0.011, 0.0)), 0.008, shade(colour, 1.28))
    for y in (0.02, rim - 0.02):
        reach = foot + (top - foot) * y / rim
        sketch.stroke([(-reach, y), (reach, y)], 0.028, shade(colour, 0.8))
    for side in (-1.0, 1.0):
        x = side * (foot + (top - foot) * 0.72)
        grip = [(x, rim * 0.80), (x + side * 0.028, rim * 0.76), (x + side * 0.024, rim * 0.62)]
        sketch.stroke([*grip, (x - side * 0.005, rim * 0.60)], 0.018, shade(colour, 0.5))
    _lid(sketch, half, rim, height, colour)


def _shade_round(sketch: Sketch, foot: float, top: float, rim: float, colour: Colour) -> None:
    light = sketch.light
    for step in np.linspace(-1.0, 0.75, 8):
        edges = (step, step + 0.25)
        bright = 1.0 + light * 0.28 * (step + 0.125)
        corners = [(edge * reach, y) for reach, y in ((foot, 0.0), (top, rim)) for edge in edges]
        sketch.polygon([corners[0], corners[1], corners[3], corners[2]], shade(colour, bright))


def _lid(sketch: Sketch, half: float, rim: float, height: float, colour: Colour) -> None:
    lid = height - rim - 0.03
    dome = np.linspace(0.0, np.pi, 15)
    arch = np.stack([(half - 0.01) * np.cos(dome), rim + 0.02 + lid * np.sin(dome) ** 0.8], axis=1)
    sketch.polygon(arch, shade(colour, 0.92))
    inner = np.stack([half * 0.6 * np.cos(dome), rim + 0.03 + lid * 0.86 * np.sin(dome)], axis=1)
    sketch.polygon(inner, shade(colour, 1.12))
    sketch.polygon(rounded(-half, rim - 0.012, half, rim + 0.034, 0.016), shade(colour, 0.66))
    knob = [(-0.05, height - 0.035), (-0.04, height - 0.012), (0.04, height - 0.012)]
    sketch.stroke([*knob, (0.05, height - 0.035)], 0.022, shade(colour, 0.45))


TRASH_CAN = THINGS.add(
    "trash-can",
    StreetThing(
        noun="trash-can",
        width=(0.42, 0.48),
        height=(0.66, 0.74),
        mass=6.0,
        grip=0.62,
        swing=0.1,
        colours=((150, 156, 162), (122, 132, 142), (58, 116, 74), (72, 84, 98)),
        solids=_solids,
        paint=_paint,
    ),
)
