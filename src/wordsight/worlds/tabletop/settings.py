"""Where a film of the tabletop is shot: a table before a wall, its light and what is in the way.

A new setting is one function that paints the wall, and one entry of :data:`SETTINGS`.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from wordsight.worlds.camera import Effects
from wordsight.worlds.checks import Registry, Rng
from wordsight.worlds.painter import Colour, Image, Layer, cloudy, gradient, mix, roughen, shade
from wordsight.worlds.sketch import SIZE, View
from wordsight.worlds.tabletop.things import HALF_WIDTH

__all__ = ["SETTINGS", "VIEW", "TabletopSetting", "paint_occluder", "paint_setting"]

_GROUND = 396.0  # row on which blocks stand
_FAR_EDGE, _NEAR_EDGE = 352, 462  # rows of the edges of the table

VIEW = View(SIZE[0] / 2 / HALF_WIDTH, SIZE[0] / 2, _GROUND)
"""How metres become pixels."""


@dataclass(frozen=True)
class TabletopSetting:
    """A table and a wall."""

    wall: Colour
    table: Colour
    planks: bool  # whether the table is of wood, with fibres along it
    light: float  # where the light comes from: -1 left, 1 right
    decorate: Callable[[Layer, Rng], None]  # paints on the wall


def paint_setting(setting: TabletopSetting, effects: Effects, rng: Rng) -> Image:
    """Return the ``(480, 640, 3)`` background."""
    image = np.zeros((SIZE[1], SIZE[0], 3), dtype=np.uint8)
    wall, table = shade(setting.wall, rng.uniform(0.92, 1.04)), setting.table
    image[:_FAR_EDGE] = gradient((SIZE[0], _FAR_EDGE), shade(wall, 1.05), shade(wall, 0.93))
    layer = Layer((0, 0, SIZE[0], _FAR_EDGE))
    setting.decorate(layer, rng)
    layer.onto(image)
    roughen(image[:_FAR_EDGE], 0.16 * effects.texture, rng, cell=70)
    top = image[_FAR_EDGE:_NEAR_EDGE]
    top[...] = gradient((SIZE[0], len(top)), shade(table, 0.90), shade(table, 1.08))
    if setting.planks:
        _add_fibres(top, effects.texture, rng)
    else:
        roughen(top, 0.25 * effects.texture, rng, cell=9)
    edge = Layer((0, _FAR_EDGE - 6, SIZE[0], SIZE[1]))
    edge.rectangle(0, _FAR_EDGE - 5, SIZE[0], _FAR_EDGE, shade(wall, 0.80))
    edge.rectangle(0, _NEAR_EDGE, SIZE[0], _NEAR_EDGE + 3, mix(table, (255, 255, 255), 0.35))
    edge.rectangle(0, _NEAR_EDGE + 3, SIZE[0], SIZE[1], shade(table, 0.62))
    edge.onto(image)
    # The side of the light is brighter.
    across = np.linspace(-1.0, 1.0, SIZE[0])[None, :, None]
    lit = image * (1.0 + 0.10 * (setting.light * effects.shading) * across)
    return np.asarray(np.clip(lit, 0, 255), dtype=np.uint8)


def _add_fibres(top: Image, texture: float, rng: Rng) -> None:
    height, width = top.shape[:2]
    lines = rng.normal(0.0, 1.0, (height, 1, 1)) * 0.5 + rng.normal(0.0, 1.0, (height, 5, 1))
    fibres = np.repeat(lines, width // 5, axis=1) * 0.035 * texture
    fibres = fibres + 0.08 * texture * cloudy((width, height), 60, rng)[..., None]
    top[...] = np.clip(top * (1.0 + fibres), 0, 255).astype(np.uint8)


def paint_occluder(layer: Layer, x: float, size: float, rng: Rng) -> None:
    """Paint a mug that stands at the near edge of the table, out of focus."""
    colour = shade((96, 104, 112), rng.uniform(0.7, 1.5))
    wide, tall = 26 + 24 * size, 60 + 48 * size
    top, bottom = SIZE[1] - tall, SIZE[1] + 9
    for grow, share in ((3, 0.86), (0, 1.0)):
        body = shade(colour, 0.8 / share)
        loop = [(x + wide * 0.9, top + 14), (x + wide * 1.5, top + 24), (x + wide * 0.9, top + 56)]
        layer.stroke(loop, 9 + grow, body)
        left, right = x - wide - grow, x + wide + grow
        layer.polygon([(left, top), (right, top), (right - 4, bottom), (left + 4, bottom)], body)
        layer.ellipse((x, top), (2 * wide + 2 * grow, wide * 0.5), shade(colour, 1.2))
    layer.ellipse((x, top), (2 * wide - 8, wide * 0.36), shade(colour, 0.45))


def _hang_frame(layer: Layer, rng: Rng) -> None:
    x, y = float(rng.uniform(60, 480)), float(rng.uniform(20, 60))
    layer.rectangle(x, y, x + 110, y + 84, (112, 92, 70))
    layer.rectangle(x + 8, y + 8, x + 102, y + 76, (226, 222, 208))
    hills = [(x + 8, y + 60), (x + 40, y + 36), (x + 66, y + 54), (x + 86, y + 44)]
    layer.polygon([*hills, (x + 102, y + 58), (x + 102, y + 76), (x + 8, y + 76)], (140, 156, 138))


def _tile(layer: Layer, rng: Rng) -> None:
    start = float(rng.uniform(0, 60))
    for y in range(_FAR_EDGE - 4, 0, -58):
        layer.stroke([(0, y), (SIZE[0], y)], 2, (176, 184, 186))
    for x in np.arange(start - 72, SIZE[0], 72):
        layer.stroke([(x, 0), (x, _FAR_EDGE)], 2, (176, 184, 186))


def _paper_with_dots(layer: Layer, rng: Rng) -> None:
    shift = rng.uniform(0, 40, 2)
    for row, y in enumerate(np.arange(shift[1] - 40, _FAR_EDGE - 8, 44)):
        for x in np.arange(shift[0] - 60 + 27 * (row % 2), SIZE[0] + 10, 54):
            layer.ellipse((x, y), (9, 9), (190, 178, 138))


def _put_up_shelf(layer: Layer, rng: Rng) -> None:
    board = (150, 132, 112)
    x = float(rng.uniform(10, 60))
    while x < 620:
        wide, tall = float(rng.uniform(24, 64)), float(rng.uniform(20, 44))
        grey = shade((168, 166, 160), rng.uniform(0.75, 1.15))
        layer.rectangle(x, 74 - tall, x + wide, 74, grey)
        x += wide + float(rng.uniform(8, 60))
    layer.rectangle(0, 74, 640, 84, board)
    layer.rectangle(0, 84, 640, 88, shade(board, 0.7))


SETTINGS = Registry(
    "setting",
    {
        "desk": TabletopSetting((204, 198, 186), (172, 128, 84), True, -0.6, _hang_frame),
        "kitchen": TabletopSetting((206, 214, 214), (188, 186, 180), False, 0.5, _tile),
        "nursery": TabletopSetting((222, 210, 168), (146, 160, 150), False, -0.4, _paper_with_dots),
        "workshop": TabletopSetting((150, 160, 164), (118, 88, 62), True, 0.7, _put_up_shelf),
    },
)
"""All settings by name."""
