"""The courtyard: a brick wall with a window, a drainpipe and ivy over stone slabs, in hard sun."""

import cv2
import numpy as np

from wordsight.worlds.painter import Layer, shade
from wordsight.worlds.street.places.place import PLACES, SIZE, Backdrop, Place, foliage

__all__ = ["COURTYARD"]

_FOOT = 330  # row where the wall meets the ground


def _paint(backdrop: Backdrop) -> None:
    rng = backdrop.rng
    backdrop.fill(0, _FOOT, (188, 176, 160), (170, 158, 142), cell=40)
    _bricks(backdrop, shade((172, 96, 74), rng.uniform(0.9, 1.1)))
    backdrop.fill(_FOOT, SIZE[1], (186, 180, 166), (206, 200, 184), cell=18)
    with backdrop.shapes() as layer:
        _slabs(layer, rng)
        _window(layer, rng.uniform(60, 240), rng)
        pipe = rng.uniform(420, 600)
        layer.stroke([(pipe, 0), (pipe, _FOOT)], 11, (88, 92, 98))
        layer.stroke([(pipe - 2, 0), (pipe - 2, _FOOT)], 3, (130, 134, 140))
        for y in (70, 210):
            layer.stroke([(pipe - 8, y), (pipe + 8, y)], 5, (60, 62, 66))
        layer.polygon(
            [(0, _FOOT - 14), (640, _FOOT - 14), (640, _FOOT), (0, _FOOT)], (132, 122, 110)
        )
        for _ in range(5):
            spot = (rng.uniform(560, 650), rng.uniform(60, 290))
            foliage(layer, spot, (90, 80), (70, 112, 52), rng, leaves=40)
    # The wall throws no shadow on itself, but its foot does on the slabs.
    backdrop.image[_FOOT : _FOOT + 8] = backdrop.image[_FOOT : _FOOT + 8] // 4 * 3


def _bricks(backdrop: Backdrop, colour: tuple[int, int, int]) -> None:
    rng, high, wide = backdrop.rng, 15, 40
    for row, y in enumerate(range(-2, _FOOT, high)):
        for x in range(-wide + (row % 2) * wide // 2, SIZE[0], wide):
            brick = shade(colour, 1.0 + 0.28 * backdrop.texture * rng.uniform(-1.0, 0.8))
            cv2.rectangle(
                backdrop.image, (x, y), (x + wide - 3, min(y + high - 3, _FOOT)), brick, -1
            )
    noise = rng.normal(0.0, 10.0 * backdrop.texture, (_FOOT, SIZE[0], 1))
    wall = backdrop.image[:_FOOT]
    wall[...] = np.clip(wall + noise, 0, 255).astype(np.uint8)


def _slabs(layer: Layer, rng: np.random.Generator) -> None:
    joint = (150, 144, 130)
    vanishing = rng.uniform(200, 440)
    for y in (346, 368, 398, 440):
        layer.stroke([(0, y), (640, y)], 1.5, joint)
    for x in np.linspace(-500, 1140, 18):
        start = vanishing + (x - vanishing) * 0.45
        layer.stroke([(start, _FOOT), (x, 490)], 1.5, joint)


def _window(layer: Layer, x: float, rng: np.random.Generator) -> None:
    top, wide, high = rng.uniform(30, 60), rng.uniform(110, 140), 150
    frame, glass = (228, 226, 216), (96, 116, 132)
    layer.polygon(_rectangle(x - 8, top - 8, x + wide + 8, top + high + 8), frame)
    layer.polygon(_rectangle(x, top, x + wide, top + high), glass)
    streak = [(x + 14, top + high), (x + 60, top), (x + 84, top), (x + 38, top + high)]
    layer.polygon(streak, (132, 152, 166))
    layer.stroke([(x + wide / 2, top), (x + wide / 2, top + high)], 7, frame)
    layer.stroke([(x, top + 60), (x + wide, top + 60)], 6, frame)
    layer.polygon(
        _rectangle(x - 16, top + high + 8, x + wide + 16, top + high + 20), (180, 174, 160)
    )


def _rectangle(x1: float, y1: float, x2: float, y2: float) -> list[tuple[float, float]]:
    return [(x1, y1), (x2, y1), (x2, y2), (x1, y2)]


def _occluder(layer: Layer, x: float, size: float, rng: np.random.Generator) -> None:
    """A tub with a shrub close to the camera."""
    wide = 40 + 70 * size
    pot = [
        (x - wide * 0.4, 452),
        (x + wide * 0.4, 452),
        (x + wide * 0.3, 490),
        (x - wide * 0.3, 490),
    ]
    foliage(layer, (x, 450 - wide * 0.35), (wide * 1.1, wide * 0.9), (74, 118, 58), rng, leaves=70)
    layer.polygon(pot, (164, 92, 62))


COURTYARD = PLACES.add(
    "courtyard",
    Place(
        name="courtyard",
        scale=132.0,
        ground=412.0,
        light=-0.9,
        tint=(1.04, 1.0, 0.94),
        shadow=0.9,
        paint=_paint,
        paint_occluder=_occluder,
    ),
)
