"""The traffic cone: orange with white bands on a square foot."""

from wordsight.worlds.painter import Colour, shade
from wordsight.worlds.sketch import Sketch, rounded
from wordsight.worlds.street.things.thing import THINGS, Polygon, StreetThing

__all__ = ["TRAFFIC_CONE"]

_FOOT = 0.05  # metres


def _solids(width: float, height: float) -> list[Polygon]:
    half, body = width / 2, width * 0.37
    foot = [(-half, 0.0), (half, 0.0), (half, _FOOT), (-half, _FOOT)]
    return [foot, [(-body, _FOOT), (body, _FOOT), (0.035, height), (-0.035, height)]]


def _paint(sketch: Sketch, width: float, height: float, colour: Colour) -> None:
    half = width / 2
    sketch.polygon(rounded(-half, 0.0, half, _FOOT, 0.02), shade(colour, 0.62))
    sketch.polygon(rounded(-half + 0.01, 0.022, half - 0.01, _FOOT, 0.015), shade(colour, 0.84))
    _band(sketch, width, height, 0.0, 1.0, colour)
    for low, high in ((0.24, 0.42), (0.58, 0.74)):
        _band(sketch, width, height, low, high, (240, 240, 236))
    sketch.ellipse((0.0, height - 0.012), (0.07, 0.024), shade(colour, 0.7))


def _band(
    sketch: Sketch, width: float, height: float, low: float, high: float, colour: Colour
) -> None:
    body, span = width * 0.37, height - _FOOT
    reach = [body + (0.035 - body) * share for share in (low, high)]
    rows = [_FOOT + span * share - (0.012 if share == 1.0 else 0.0) for share in (low, high)]
    # Three strips from the light to the dark side make it look round.
    for left, right, side in ((-1.0, -0.3, -0.22), (-0.3, 0.4, 0.0), (0.4, 1.0, 0.22)):
        corners = [
            (left * reach[0], rows[0]),
            (right * reach[0], rows[0]),
            (right * reach[1], rows[1]),
            (left * reach[1], rows[1]),
        ]
        sketch.polygon(corners, shade(colour, 1.0 + side * sketch.light))


TRAFFIC_CONE = THINGS.add(
    "traffic-cone",
    StreetThing(
        noun="traffic-cone",
        width=(0.36, 0.42),
        height=(0.62, 0.74),
        mass=3.0,
        grip=0.66,
        swing=0.3,
        colours=((242, 98, 18), (236, 78, 20), (246, 116, 30)),
        solids=_solids,
        paint=_paint,
    ),
)
