"""The harbour: planks and a railing before the sea with boats, in the evening.

Kept out of the default corpus, so that learners can be tested at a place they have never seen.
"""

import numpy as np

from wordsight.worlds.painter import Layer, shade
from wordsight.worlds.sketch import rounded
from wordsight.worlds.street.places.place import PLACES, SIZE, Backdrop, Place

__all__ = ["HARBOUR"]

_HORIZON, _QUAY = 168, 300  # rows where sea meets sky and where the planks begin


def _paint(backdrop: Backdrop) -> None:
    rng = backdrop.rng
    backdrop.fill(0, _HORIZON, (120, 142, 182), (236, 188, 154), rough=0.35, cell=120)
    backdrop.fill(_HORIZON, _QUAY, (146, 142, 150), (66, 94, 116), rough=0.5, cell=12)
    backdrop.fill(_QUAY, SIZE[1], (118, 92, 70), (142, 112, 84), cell=30)
    with backdrop.shapes() as layer:
        hills = [(0, _HORIZON), (0, 140), (120, 118), (260, 146), (420, 124), (640, 150)]
        layer.polygon([*hills, (640, _HORIZON)], (122, 118, 142))
        layer.ellipse((rng.uniform(80, 560), rng.uniform(96, 130)), (44, 44), (255, 226, 176))
        _waves(layer, rng)
        for x in (rng.uniform(60, 220), rng.uniform(380, 560)):
            _boat(layer, float(x), rng)
        _planks(layer, rng)
        _railing(layer)


def _waves(layer: Layer, rng: np.random.Generator) -> None:
    for _ in range(130):
        y = _HORIZON + 4 + (_QUAY - _HORIZON - 8) * rng.random() ** 1.4
        x, wide = rng.uniform(0, 640), rng.uniform(6, 34)
        bright = (206, 180, 168) if rng.random() < 0.5 else (58, 82, 104)
        layer.stroke([(x, y), (x + wide, y)], 1.5, bright)


def _boat(layer: Layer, x: float, rng: np.random.Generator) -> None:
    y = rng.uniform(200, 236)
    hull = ((226, 222, 214), (60, 84, 120), (156, 60, 54))[int(rng.integers(3))]
    layer.stroke([(x, y), (x, y - 120)], 3, (92, 72, 58))
    layer.polygon([(x + 4, y - 112), (x + 4, y - 14), (x + 52, y - 14)], (240, 228, 210))
    layer.polygon([(x - 60, y - 8), (x + 66, y - 8), (x + 46, y + 16), (x - 46, y + 16)], hull)
    layer.stroke([(x - 58, y - 8), (x + 64, y - 8)], 3, shade(hull, 0.7))


def _planks(layer: Layer, rng: np.random.Generator) -> None:
    for y in (312, 328, 348, 372, 400, 434, 472):
        layer.stroke([(0, y), (640, y)], 2, (84, 64, 48))
        for x in rng.uniform(0, 640, 3):
            layer.stroke([(x, y), (x, y + 24)], 1.5, (90, 70, 52))


def _railing(layer: Layer) -> None:
    for x in range(24, 640, 118):
        layer.polygon(rounded(x - 6, 206, x + 6, 318, 4), (214, 212, 206))
        layer.stroke([(x - 3, 212), (x - 3, 314)], 2, (246, 244, 240))
    for y in (216, 252, 288):
        layer.stroke([(0, y), (640, y)], 5, (206, 204, 198))


def _occluder(layer: Layer, x: float, size: float, rng: np.random.Generator) -> None:
    """A lamp post close to the camera."""
    wide = 9 + 15 * size
    layer.polygon(rounded(x - wide / 2, -10, x + wide / 2, 500, 2), (50, 58, 62))
    layer.stroke([(x + wide / 5, 0), (x + wide / 5, 480)], wide / 6, (98, 106, 110))
    layer.polygon(rounded(x - wide * 0.9, 452, x + wide * 0.9, 500, 4), (42, 48, 52))


HARBOUR = PLACES.add(
    "harbour",
    Place(
        name="harbour",
        scale=124.0,
        ground=418.0,
        light=0.55,
        tint=(1.06, 0.94, 0.86),
        shadow=0.65,
        paint=_paint,
        paint_occluder=_occluder,
    ),
)
