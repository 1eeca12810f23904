"""The backpack: a rounded bag with a front pocket, a handle and shoulder straps."""

import numpy as np

from wordsight.worlds.painter import Colour, shade
from wordsight.worlds.sketch import Sketch, rounded
from wordsight.worlds.street.things.thing import THINGS, Polygon, StreetThing

__all__ = ["BACKPACK"]


def _solids(width: float, height: float) -> list[Polygon]:
    half, body = width / 2, height * 0.90
    bag = [(-half, 0.0), (half, 0.0), (half, body * 0.8), (-half, body * 0.8)]
    top = [(-half * 0.75, body * 0.8), (half * 0.75, body * 0.8), (half * 0.2, height)]
    return [bag, [*top, (-half * 0.2, height)]]


def _paint(sketch: Sketch, width: float, height: float, colour: Colour) -> None:
    half, body = width / 2, height * 0.90
    dark, pale = shade(colour, 0.62), shade(colour, 1.22)
    _straps(sketch, half, body, dark)
    loop = np.linspace(0.0, np.pi, 9)
    handle = np.stack([0.05 * np.cos(loop), body - 0.02 + (height - body) * np.sin(loop)], axis=1)
    sketch.stroke(handle, 0.022, dark)
    left = -half * 0.78
    sketch.polygon(rounded(left, 0.0, half, body, width * 0.34), dark)
    sketch.polygon(rounded(left + 0.012, 0.008, half - 0.012, body - 0.012, width * 0.32), colour)
    middle = (left + half) / 2
    sketch.polygon(rounded(middle, 0.02, half - 0.03, body * 0.86, 0.09), shade(colour, 1.08))
    _zips(sketch, left, half, body, dark)
    pocket = rounded(left + 0.05, 0.035, half - 0.04, body * 0.44, 0.05)
    sketch.polygon(pocket, pale)
    sketch.stroke(np.vstack([pocket, pocket[:1]]), 0.010, dark)
    sketch.stroke([(left + 0.07, body * 0.36), (half - 0.06, body * 0.36)], 0.014, (235, 235, 225))
    sketch.polygon(rounded(middle - 0.035, body * 0.14, middle + 0.035, body * 0.24, 0.01), dark)


def _straps(sketch: Sketch, half: float, body: float, dark: Colour) -> None:
    bow = np.linspace(-np.pi / 2, np.pi / 2, 9)
    for reach, width in ((0.30, 0.034), (0.20, 0.030)):
        strap = np.stack(
            [
                -half * 0.70 - (half * reach - 0.005) * np.cos(bow),
                body * 0.47 + body * 0.36 * np.sin(bow),
            ],
            axis=1,
        )
        sketch.stroke(strap, width, shade(dark, 0.75 if reach < 0.25 else 1.0))


def _zips(sketch: Sketch, left: float, half: float, body: float, dark: Colour) -> None:
    arch = np.linspace(0.05 * np.pi, 0.95 * np.pi, 11)
    middle, reach = (left + half) / 2, (half - left) / 2 - 0.035
    main = np.stack(
        [middle + reach * np.cos(arch), body * 0.60 + body * 0.29 * np.sin(arch)], axis=1
    )
    sketch.stroke(main, 0.012, dark)
    sketch.stroke([main[3], main[3] - (0.0, 0.05)], 0.012, (240, 220, 90))


BACKPACK = THINGS.add(
    "backpack",
    StreetThing(
        noun="backpack",
        width=(0.36, 0.42),
        height=(0.48, 0.55),
        mass=4.0,
        grip=0.97,
        swing=1.0,
        colours=((196, 44, 48), (36, 78, 178), (222, 120, 28), (122, 54, 150), (20, 128, 124)),
        solids=_solids,
        paint=_paint,
    ),
)
