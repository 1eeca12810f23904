"""The park: lawn, a gravel path, trees and a grey sky, seen from higher up and further away."""

import numpy as np

from wordsight.worlds.painter import Layer, shade
from wordsight.worlds.street.places.place import PLACES, SIZE, Backdrop, Place, foliage

__all__ = ["PARK"]

_HORIZON = 205


def _paint(backdrop: Backdrop) -> None:
    rng = backdrop.rng
    backdrop.fill(0, _HORIZON, (186, 198, 210), (218, 222, 224), rough=0.25, cell=160)
    backdrop.fill(_HORIZON, SIZE[1], (118, 146, 88), (96, 136, 66), cell=14)
    with backdrop.shapes(0, 300) as layer:
        _far_trees(layer, rng)
        for x in rng.permutation([60, 300, 560])[:2]:
            _tree(layer, float(x + rng.uniform(-40, 40)), rng)
        _lamp(layer, float(rng.uniform(180, 460)))
    _path(backdrop)
    with backdrop.shapes(_HORIZON, SIZE[1]) as layer:
        _tufts(layer, rng)


def _far_trees(layer: Layer, rng: np.random.Generator) -> None:
    for x in np.arange(-20, 680, 42):
        size = rng.uniform(70, 120)
        colour = shade((98, 124, 94), rng.uniform(0.85, 1.1))
        foliage(layer, (float(x), _HORIZON - 22), (size, size * 0.8), colour, rng, leaves=14)
    layer.polygon(
        [(0, _HORIZON - 16), (640, _HORIZON - 16), (640, _HORIZON + 4), (0, _HORIZON + 4)],
        (84, 112, 72),
    )


def _tree(layer: Layer, x: float, rng: np.random.Generator) -> None:
    bark = (96, 76, 58)
    layer.limb([(x, 268), (x + 2, 150), (x + 8, 60)], [34, 24, 16], bark)
    layer.stroke([(x - 6, 262), (x - 4, 120)], 4, shade(bark, 1.25))
    layer.limb([(x + 2, 160), (x + 54, 90)], [14, 8], bark)
    for _ in range(4):
        spot = (x + rng.uniform(-60, 70), rng.uniform(0, 70))
        foliage(layer, spot, (150, 110), (82, 126, 58), rng, leaves=50)


def _lamp(layer: Layer, x: float) -> None:
    layer.stroke([(x, 262), (x, 60)], 5, (56, 60, 62))
    layer.polygon([(x - 9, 60), (x + 9, 60), (x + 13, 34), (x - 13, 34)], (236, 232, 206))
    layer.polygon([(x - 15, 34), (x + 15, 34), (x, 22)], (56, 60, 62))


def _path(backdrop: Backdrop) -> None:
    gravel = backdrop.image.copy()
    noise = backdrop.rng.normal(0.0, 14.0 * backdrop.texture, (SIZE[1] - 372, SIZE[0], 1))
    colour = np.array(shade((190, 174, 146), backdrop.rng.uniform(0.92, 1.06)))
    gravel[372:] = np.clip(colour + noise, 0, 255).astype(np.uint8)
    edge = 384 + 6 * np.sin(np.arange(SIZE[0]) / 70.0 + backdrop.rng.uniform(0, 6))
    rows = np.arange(SIZE[1])[:, None]
    inside = (rows > edge) & (rows < 458 + 0.4 * (edge - 384))
    backdrop.image[inside] = gravel[inside]


def _tufts(layer: Layer, rng: np.random.Generator) -> None:
    for _ in range(160):
        x, y = rng.uniform(0, 640), rng.choice([rng.uniform(212, 378), rng.uniform(462, 478)])
        tall = 2 + 5 * (y - _HORIZON) / 270
        green = shade((104, 148, 70), rng.uniform(0.7, 1.25))
        layer.stroke([(x, y), (x + rng.uniform(-2, 2), y - tall)], 1.5, green)
    for _ in range(14):
        spot = (rng.uniform(0, 640), rng.uniform(240, 366))
        layer.ellipse(spot, (4, 3), (236, 232, 200))


def _occluder(layer: Layer, x: float, size: float, rng: np.random.Generator) -> None:
    """A bush close to the camera."""
    wide = 60 + 90 * size
    foliage(layer, (x, 485 - wide * 0.2), (wide * 1.2, wide * 0.9), (66, 106, 48), rng, leaves=90)


PARK = PLACES.add(
    "park",
    Place(
        name="park",
        scale=116.0,
        ground=424.0,
        light=-0.25,
        tint=(0.95, 0.98, 1.0),
        shadow=0.5,
        paint=_paint,
        paint_occluder=_occluder,
    ),
)
