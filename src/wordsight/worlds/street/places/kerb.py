"""The kerb: a pavement before a shop front and a parked car, in low warm light from the right."""

import numpy as np

from wordsight.worlds.painter import Layer, shade
from wordsight.worlds.sketch import rounded
from wordsight.worlds.street.places.place import PLACES, SIZE, Backdrop, Place

__all__ = ["KERB"]

_FOOT = 322  # row where the house meets the pavement
_EDGE = 428  # row of the kerb


def _paint(backdrop: Backdrop) -> None:
    rng = backdrop.rng
    plaster = shade((204, 190, 164), rng.uniform(0.9, 1.08))
    backdrop.fill(0, _FOOT, shade(plaster, 0.96), plaster, rough=0.5, cell=60)
    backdrop.fill(_FOOT, _EDGE, (150, 146, 142), (166, 162, 156), cell=10)
    backdrop.fill(_EDGE, SIZE[1], (84, 86, 90), (74, 76, 80), cell=8)
    with backdrop.shapes() as layer:
        _shop(layer, float(rng.uniform(20, 120)), rng)
        _door(layer, float(rng.uniform(470, 540)), rng)
        for x in np.arange(-40 + rng.uniform(0, 40), 640, 78):
            layer.stroke([(x + 26, _FOOT), (x, _EDGE)], 1.5, (122, 118, 114))
        layer.stroke([(0, 366), (640, 366)], 1.5, (122, 118, 114))
        layer.polygon(
            [(0, _EDGE - 5), (640, _EDGE - 5), (640, _EDGE + 8), (0, _EDGE + 8)], (196, 192, 184)
        )
        layer.polygon(
            [(0, _EDGE + 8), (640, _EDGE + 8), (640, _EDGE + 14), (0, _EDGE + 14)], (56, 58, 62)
        )
        for x in range(-60, 640, 190):
            layer.polygon([(x, 466), (x + 90, 466), (x + 84, 474), (x - 6, 474)], (206, 204, 194))


def _shop(layer: Layer, x: float, rng: np.random.Generator) -> None:
    wide, top = 300.0, 92.0
    wood = ((58, 84, 96), (110, 52, 50), (52, 88, 66))[int(rng.integers(3))]
    layer.polygon(_box(x, 40, x + wide, _FOOT), wood)
    layer.polygon(_box(x + 14, 50, x + wide - 14, 80), shade(wood, 0.7))
    for k in range(9):
        at = x + 50 + k * 23
        layer.polygon(_box(at, 58, at + rng.uniform(8, 16), 72), (226, 204, 142))
    layer.polygon(_box(x + 16, top + 30, x + wide - 16, _FOOT - 42), (84, 96, 106))
    for at in (0.25, 0.62):
        left = x + 16 + at * (wide - 32)
        layer.polygon(
            [
                (left, _FOOT - 42),
                (left + 50, top + 30),
                (left + 74, top + 30),
                (left + 24, _FOOT - 42),
            ],
            (116, 130, 140),
        )
    for at in (0.333, 0.667):
        layer.polygon(_box(x + wide * at - 4, top + 30, x + wide * at + 4, _FOOT - 42), wood)
    stripes = np.linspace(x, x + wide, 13)
    for k in range(12):
        colour = (236, 230, 216) if k % 2 else shade(wood, 1.35)
        layer.polygon(
            [
                (stripes[k] + 8, top - 8),
                (stripes[k + 1] - 2 + 8, top - 8),
                (stripes[k + 1] - 6, top + 34),
                (stripes[k] - 6, top + 34),
            ],
            colour,
        )


def _door(layer: Layer, x: float, rng: np.random.Generator) -> None:
    paint = ((120, 70, 40), (44, 60, 92), (130, 38, 40))[int(rng.integers(3))]
    layer.polygon(_box(x - 10, 84, x + 106, _FOOT), (222, 216, 202))
    layer.polygon(_box(x, 94, x + 96, _FOOT), paint)
    for left in (10, 54):
        for y1, y2 in ((106, 186), (200, 300)):
            layer.polygon(_box(x + left, y1, x + left + 32, y2), shade(paint, 0.8))
    layer.ellipse((x + 86, 210), (8, 8), (222, 190, 92))
    layer.polygon(_box(x - 16, _FOOT - 8, x + 112, _FOOT + 4), (180, 176, 168))


def _box(x1: float, y1: float, x2: float, y2: float) -> list[tuple[float, float]]:
    return [(x1, y1), (x2, y1), (x2, y2), (x1, y2)]


def _occluder(layer: Layer, x: float, size: float, rng: np.random.Generator) -> None:
    """A bollard at the far side of the lane, close to the camera."""
    wide, top = 14 + 16 * size, 380 - 110 * size
    layer.polygon(rounded(x - wide / 2, top, x + wide / 2, 500, wide / 2), (62, 66, 74))
    layer.polygon(_box(x - wide / 2, top + 24, x + wide / 2, top + 36), (226, 226, 220))
    layer.stroke([(x + wide / 4, top + 12), (x + wide / 4, 480)], 2, (104, 108, 116))


KERB = PLACES.add(
    "kerb",
    Place(
        name="kerb",
        scale=140.0,
        ground=402.0,
        light=0.8,
        tint=(1.08, 0.98, 0.86),
        shadow=0.75,
        paint=_paint,
        paint_occluder=_occluder,
    ),
)
