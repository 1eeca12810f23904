"""Where a film of the workbench is shot: bench top, wall, and what is in the way."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wordsight.worlds.painter import Colour, Layer, gradient, roughen, shade
from wordsight.worlds.workbench.bench import FAR_EDGE, SIZE, VIEW, seen

__all__ = ["SCENERIES", "Scenery", "paint_occluder", "paint_scenery"]

_EDGE = int(VIEW.pixels(seen((0.0, FAR_EDGE, 0.0)))[1])  # row of the far edge of the bench


@dataclass(frozen=True)
class Scenery:
    """A bench before a wall.

    Attributes:
        bench: Colour of the bench top.
        wall: Colour of the wall.
        tiles: Whether the wall is tiled; otherwise there is a shelf.
        light: Where the light comes from: -1 left, 1 right.
    """

    bench: Colour
    wall: Colour
    tiles: bool
    light: float

    @classmethod
    def chosen(cls, rng: np.random.Generator) -> "Scenery":
        """Pick one of all sceneries."""
        return SCENERIES[int(rng.integers(len(SCENERIES)))]


SCENERIES = (
    Scenery((198, 202, 200), (150, 164, 168), True, -0.6),
    Scenery((104, 110, 116), (206, 204, 194), False, 0.5),
    Scenery((190, 166, 132), (172, 186, 178), True, 0.4),
    Scenery((164, 184, 178), (196, 200, 204), False, -0.5),
)
"""The benches there are; a new one is one entry."""


def paint_scenery(
    scenery: Scenery, texture: float, shading: float, rng: np.random.Generator
) -> NDArray[np.uint8]:
    """Return the ``(480, 640, 3)`` background."""
    image = np.zeros((SIZE[1], SIZE[0], 3), dtype=np.uint8)
    wall, bench = scenery.wall, shade(scenery.bench, rng.uniform(0.95, 1.05))
    image[:_EDGE] = gradient((SIZE[0], _EDGE), shade(wall, 1.03), shade(wall, 0.92))
    layer = Layer((0, 0, SIZE[0], _EDGE + 8))
    (_tiles if scenery.tiles else _sockets)(layer, wall, rng)
    layer.polygon([(0, _EDGE - 6), (640, _EDGE - 6), (640, _EDGE), (0, _EDGE)], shade(wall, 0.72))
    layer.onto(image)
    top = image[_EDGE:]
    top[...] = gradient((SIZE[0], len(top)), shade(bench, 0.92), shade(bench, 1.06))
    roughen(top, 0.12 * texture, rng, cell=60)
    roughen(top, 0.10 * texture, rng, cell=5, octaves=2)
    across = np.linspace(-1.0, 1.0, SIZE[0])[None, :, None]
    lit = image * (1.0 + 0.08 * scenery.light * shading * across)
    return np.asarray(np.clip(lit, 0, 255), dtype=np.uint8)


def paint_occluder(layer: Layer, left: bool, size: float) -> None:
    """Paint the arm of a lamp that reaches into the picture, near the camera."""
    steel = (86, 90, 96)
    side = 0.0 if left else float(SIZE[0])
    inward = 1.0 if left else -1.0
    bend = (side + inward * (60 + 50 * size), 150 + 40 * size)
    head = (side + inward * (30 + 60 * size), 250 + 90 * size)
    layer.stroke([(side - inward * 30, 40), bend], 14 + 8 * size, shade(steel, 0.7))
    layer.stroke([bend, head], 12 + 8 * size, steel)
    layer.ellipse(bend, (26 + 10 * size, 26 + 10 * size), shade(steel, 0.6))
    layer.ellipse(head, (58 + 36 * size, 44 + 24 * size), shade(steel, 0.5))
    layer.ellipse(head, (44 + 30 * size, 30 + 18 * size), (232, 226, 196))


def _tiles(layer: Layer, wall: Colour, rng: np.random.Generator) -> None:
    joint = shade(wall, 1.12)
    start = float(rng.uniform(0, 50))
    for y in range(_EDGE - 6, -40, -44):
        layer.stroke([(0, y), (SIZE[0], y)], 2, joint)
    for x in np.arange(start - 60, SIZE[0] + 10, 60):
        layer.stroke([(float(x), 0), (float(x), _EDGE)], 2, joint)


def _sockets(layer: Layer, wall: Colour, rng: np.random.Generator) -> None:
    """Put a row of sockets and a rail on the wall."""
    layer.polygon([(0, 20), (640, 20), (640, 30), (0, 30)], shade(wall, 0.82))
    x = float(rng.uniform(20, 120))
    while x < 600:
        plate = [(x, 48), (x + 44, 48), (x + 44, 80), (x, 80)]
        layer.polygon(plate, (236, 236, 232))
        layer.stroke([*plate, plate[0]], 1.5, (170, 172, 172))
        for hole in (13, 31):
            layer.ellipse((x + hole, 64), (9, 9), (198, 198, 194))
            layer.ellipse((x + hole, 64), (3, 3), (70, 70, 70))
        x += float(rng.uniform(110, 220))
