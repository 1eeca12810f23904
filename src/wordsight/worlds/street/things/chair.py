"""The chair: four legs, a seat and a back with rails, seen half from the side."""

from wordsight.worlds.painter import Colour, shade
from wordsight.worlds.sketch import Sketch
from wordsight.worlds.street.things.thing import THINGS, Polygon, StreetThing

__all__ = ["CHAIR"]

_SEAT = 0.52  # height of the seat as a share of the whole
_DEPTH = 0.06  # metres by which the far side is drawn higher and to the side


def _solids(width: float, height: float) -> list[Polygon]:
    half, seat = width / 2, height * _SEAT
    base = [(-half, 0.0), (half, 0.0), (half, seat), (-half, seat)]
    back = [(-half, seat), (-half + 0.13, seat), (-half + 0.13, height), (-half, height)]
    return [base, back]


def _paint(sketch: Sketch, width: float, height: float, colour: Colour) -> None:
    half, seat = width / 2, height * _SEAT
    dark, deep = shade(colour, 0.72), shade(colour, 0.5)
    back, front = -half + 0.025, half - 0.025 - _DEPTH * 0.5
    far_back, far_front = back + _DEPTH, front + _DEPTH * 0.5
    for x in (far_back + 0.01, far_front):
        sketch.stroke([(x, 0.035), (x, seat)], 0.028, deep)
    sketch.stroke([(far_back, seat), (far_back + 0.01, height - 0.01)], 0.030, dark)
    for rail in (0.70, 0.82, 0.94):
        y = height * rail
        sketch.stroke([(back, y), (far_back + 0.01, y + 0.012)], 0.055, shade(colour, 0.86))
    top = [(back - 0.02, seat), (front + 0.03, seat), (far_front + 0.02, seat + _DEPTH)]
    sketch.polygon([*top, (far_back - 0.02, seat + _DEPTH)], shade(colour, 1.2))
    sketch.polygon(
        [
            (back - 0.02, seat - 0.045),
            (front + 0.03, seat - 0.045),
            (front + 0.03, seat),
            (back - 0.02, seat),
        ],
        dark,
    )
    sketch.stroke([(back, height * 0.26), (front, height * 0.26)], 0.022, dark)
    sketch.stroke([(back, 0.014), (back, height - 0.02)], 0.036, colour)
    sketch.stroke([(front, 0.014), (front, seat - 0.02)], 0.036, colour)


CHAIR = THINGS.add(
    "chair",
    StreetThing(
        noun="chair",
        width=(0.44, 0.50),
        height=(0.84, 0.94),
        mass=5.0,
        grip=0.50,
        swing=0.2,
        colours=((150, 92, 44), (186, 132, 74), (208, 196, 172), (176, 52, 46), (64, 110, 92)),
        solids=_solids,
        paint=_paint,
    ),
)
