"""The bench: how places on it become pixels, where everything belongs, and its background.

A place is x (metres to the right of the middle), depth (metres away from the near edge) and height
(metres above the bench). The camera looks down on it at an angle.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from wordsight.worlds.camera import Effects
from wordsight.worlds.checks import Rng
from wordsight.worlds.painter import Colour, Floats, Image, Layer, gradient, roughen, shade
from wordsight.worlds.sketch import SIZE, View
from wordsight.worlds.workbench.things import THINGS

__all__ = [
    "SCENERIES",
    "VIEW",
    "WORK_SPOTS",
    "BenchPlace",
    "Scenery",
    "lay_out",
    "paint_occluder",
    "paint_scenery",
    "seen",
]

BenchPlace = tuple[float, float, float]

VIEW = View(800.0, 320.0, 470.0)
"""How metres of the picture become pixels."""

_FORESHORTENING = 0.6  # metres of the picture per metre of depth
_FAR_ROW, _SIDE_ROW, _TOOL_ROW = 0.56, 0.37, 0.17  # depths
_MARGIN = 0.385  # metres from the middle within which things stand
_TOOL_COLUMNS = (0.225, 0.285, 0.345)
_FLAT_SPOTS = ((0.325, 0.05), (0.330, 0.20), (0.205, 0.03), (0.210, 0.17))

WORK_SPOTS: tuple[BenchPlace, ...] = ((-0.055, 0.25, 0.0), (0.075, 0.25, 0.0), (0.010, 0.13, 0.0))
"""Where vessels stand while they are worked with."""


def seen(place: ArrayLike) -> Floats:
    """Return where ``(..., 3)`` places are seen: ``(..., 2)`` metres of the picture, y upwards."""
    x, depth, height = np.moveaxis(np.asarray(place, dtype=np.float64), -1, 0)
    return np.stack([x, depth * _FORESHORTENING + height], axis=-1)


_EDGE = int(VIEW.pixels(seen((0.0, 0.70, 0.0)))[1])  # row of the far edge of the bench


def lay_out(names: Sequence[str], dominant: float, rng: Rng) -> dict[str, BenchPlace]:
    """Draw the home of every thing; tools lie at the dominant hand, 1 right or -1 left."""
    zones: dict[str, list[str]] = {zone: [] for zone in ("far", "side", "near", "rack")}
    for name in names:
        zones[THINGS[name].zone].append(name)
    homes = _far_row([str(name) for name in rng.permutation(zones["far"])], rng)
    sides = rng.permutation([-0.262, 0.262])
    for name, x in zip(zones["side"], sides, strict=False):
        homes[name] = (float(x), _SIDE_ROW + float(rng.uniform(-0.01, 0.01)), 0.0)
    tools = [name for name in zones["near"] if THINGS[name].width < 0.06]
    for name, x in zip(rng.permutation(tools), _TOOL_COLUMNS, strict=False):
        homes[str(name)] = (dominant * x + float(rng.uniform(-0.006, 0.006)), _TOOL_ROW, 0.0)
    flats = [name for name in zones["near"] if THINGS[name].width >= 0.06]
    for name, (x, depth) in zip(rng.permutation(flats), _FLAT_SPOTS, strict=False):
        homes[str(name)] = (-dominant * x, depth + float(rng.uniform(-0.01, 0.01)), 0.0)
    for name in zones["rack"]:
        x, depth, _ = homes["rack"]
        # Behind the front of the rack, in the hole that is left free.
        homes[name] = (x - 0.0184, depth + 0.004, 0.012)
    return homes


def _far_row(names: Sequence[str], rng: Rng) -> dict[str, BenchPlace]:
    widths = [THINGS[name].width for name in names]
    gap = (2 * _MARGIN - sum(widths)) / max(len(names), 1)
    homes: dict[str, BenchPlace] = {}
    x = -_MARGIN
    for name, width in zip(names, widths, strict=True):
        middle = x + width / 2 + gap * float(rng.uniform(0.3, 0.7))
        homes[name] = (middle, _FAR_ROW + float(rng.uniform(-0.02, 0.02)), 0.0)
        x += width + gap
    return homes


@dataclass(frozen=True)
class Scenery:
    """A bench before a wall."""

    bench: Colour
    wall: Colour
    tiles: bool  # whether the wall is tiled; otherwise it has sockets and a rail
    light: float  # where the light comes from: -1 left, 1 right


SCENERIES = (
    Scenery((198, 202, 200), (150, 164, 168), True, -0.6),
    Scenery((104, 110, 116), (206, 204, 194), False, 0.5),
    Scenery((190, 166, 132), (172, 186, 178), True, 0.4),
    Scenery((164, 184, 178), (196, 200, 204), False, -0.5),
)
"""The benches there are; a new one is one entry."""


def paint_scenery(scenery: Scenery, effects: Effects, rng: Rng) -> Image:
    """Return the ``(480, 640, 3)`` background."""
    image = np.zeros((SIZE[1], SIZE[0], 3), dtype=np.uint8)
    wall, bench = scenery.wall, shade(scenery.bench, rng.uniform(0.95, 1.05))
    image[:_EDGE] = gradient((SIZE[0], _EDGE), shade(wall, 1.03), shade(wall, 0.92))
    layer = Layer((0, 0, SIZE[0], _EDGE + 8))
    (_paint_tiles if scenery.tiles else _paint_sockets)(layer, wall, rng)
    layer.rectangle(0, _EDGE - 6, 640, _EDGE, shade(wall, 0.72))
    layer.onto(image)
    top = image[_EDGE:]
    top[...] = gradient((SIZE[0], len(top)), shade(bench, 0.92), shade(bench, 1.06))
    roughen(top, 0.12 * effects.texture, rng, cell=60)
    roughen(top, 0.10 * effects.texture, rng, cell=5, octaves=2)
    across = np.linspace(-1.0, 1.0, SIZE[0])[None, :, None]
    lit = image * (1.0 + 0.08 * scenery.light * effects.shading * across)
    return np.asarray(np.clip(lit, 0, 255), dtype=np.uint8)


def _paint_tiles(layer: Layer, wall: Colour, rng: Rng) -> None:
    joint = shade(wall, 1.12)
    start = float(rng.uniform(0, 50))
    for y in range(_EDGE - 6, -40, -44):
        layer.stroke([(0, y), (SIZE[0], y)], 2, joint)
    for x in np.arange(start - 60, SIZE[0] + 10, 60):
        layer.stroke([(float(x), 0), (float(x), _EDGE)], 2, joint)


def _paint_sockets(layer: Layer, wall: Colour, rng: Rng) -> None:
    layer.rectangle(0, 20, 640, 30, shade(wall, 0.82))
    x = float(rng.uniform(20, 120))
    while x < 600:
        plate = [(x, 48), (x + 44, 48), (x + 44, 80), (x, 80)]
        layer.polygon(plate, (236, 236, 232))
        layer.stroke([*plate, plate[0]], 1.5, (170, 172, 172))
        for hole in (13, 31):
            layer.ellipse((x + hole, 64), (9, 9), (198, 198, 194))
            layer.ellipse((x + hole, 64), (3, 3), (70, 70, 70))
        x += float(rng.uniform(110, 220))


def paint_occluder(layer: Layer, left: bool, size: float) -> None:
    """Paint the arm of a lamp that reaches into the picture, near the camera."""
    steel = (86, 90, 96)
    side, inward = (0.0, 1.0) if left else (float(SIZE[0]), -1.0)
    bend = (side + inward * (60 + 50 * size), 150 + 40 * size)
    head = (side + inward * (30 + 60 * size), 250 + 90 * size)
    layer.stroke([(side - inward * 30, 40), bend], 14 + 8 * size, shade(steel, 0.7))
    layer.stroke([bend, head], 12 + 8 * size, steel)
    layer.ellipse(bend, (26 + 10 * size, 26 + 10 * size), shade(steel, 0.6))
    layer.ellipse(head, (58 + 36 * size, 44 + 24 * size), shade(steel, 0.5))
    layer.ellipse(head, (44 + 30 * size, 30 + 18 * size), (232, 226, 196))
