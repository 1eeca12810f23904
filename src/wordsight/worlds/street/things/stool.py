"""The stool: a round seat without a back on spread legs."""

from wordsight.worlds.painter import Colour, shade
from wordsight.worlds.sketch import Sketch
from wordsight.worlds.street.things.thing import THINGS, Polygon, StreetThing

__all__ = ["STOOL"]

_SEAT = 0.07  # metres thick


def _solids(width: float, height: float) -> list[Polygon]:
    half, seat = width / 2, width * 0.45
    legs = [(-half, 0.0), (half, 0.0), (seat, height - _SEAT), (-seat, height - _SEAT)]
    top = [(-seat, height - _SEAT), (seat, height - _SEAT), (seat, height), (-seat, height)]
    return [legs, top]


def _paint(sketch: Sketch, width: float, height: float, colour: Colour) -> None:
    half, seat = width / 2, width * 0.45
    legs, deep = shade(colour, 0.62), shade(colour, 0.42)
    under = height - _SEAT
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
    sketch.polygon(
        [
            (-seat, under + 0.015),
            (seat, under + 0.015),
            (seat, height - 0.03),
            (-seat, height - 0.03),
        ],
        shade(colour, 0.85),
    )
    sketch.ellipse((0.0, height - 0.036), (2 * seat, 0.072), shade(colour, 1.15))


STOOL = THINGS.add(
    "stool",
    StreetThing(
        noun="stool",
        width=(0.36, 0.42),
        height=(0.48, 0.58),
        mass=4.0,
        grip=0.85,
        swing=0.2,
        colours=((222, 186, 130), (60, 62, 68), (222, 224, 226), (186, 64, 70)),
        solids=_solids,
        paint=_paint,
    ),
)
