"""The places of the street: backdrop, light, height of the camera, and what stands in the way.

The guide to worlds shows how to add one. The harbour is kept for tests of generalisation.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise

import cv2
import numpy as np

from wordsight.worlds.camera import Effects
from wordsight.worlds.checks import Registry, Rng, pick
from wordsight.worlds.painter import Colour, Image, Layer, gradient, palette, roughen, shade
from wordsight.worlds.sketch import SIZE, View, rounded

__all__ = ["PLACES", "Backdrop", "Place"]


class Backdrop:
    """The still background of a film while it is being painted.

    Args:
        effects: Strengths; ``texture`` says how uneven surfaces are.
        rng: Random generator.

    Attributes:
        image: ``(480, 640, 3)`` the picture so far.
    """

    def __init__(self, effects: Effects, rng: Rng) -> None:
        self.image: Image = np.zeros((SIZE[1], SIZE[0], 3), dtype=np.uint8)
        self.rng = rng
        self.texture = effects.texture

    def fill(
        self,
        top: int,
        bottom: int,
        above: Colour,
        below: Colour,
        *,
        rough: float = 1.0,
        cell: float = 24.0,
    ) -> None:
        """Paint rows ``top`` to ``bottom`` in a changing colour with an uneven surface."""
        part = self.image[top:bottom]
        part[...] = gradient((SIZE[0], bottom - top), above, below)
        roughen(part, rough * self.texture, self.rng, cell=cell)

    @contextmanager
    def shapes(self, top: int = 0, bottom: int = SIZE[1]) -> Iterator[Layer]:
        """Give a sheet over these rows to draw on; it is laid over the picture at the end."""
        layer = Layer((0, top, SIZE[0], bottom))
        yield layer
        layer.onto(self.image)


@dataclass(frozen=True)
class Place:
    """A place where films are shot."""

    name: str
    scale: float  # pixels per metre: how far away the camera stands
    ground: float  # row of the line things stand on: how high the camera is and where it looks
    light: float  # direction and hardness: -1 hard from the left, 1 hard from the right
    tint: tuple[float, float, float]  # brightness of red, green and blue of what moves here
    shadow: float  # darkness of shadows, 0 to 1
    paint: Callable[[Backdrop], None]
    paint_occluder: Callable[[Layer, float, float, Rng], None]
    """Paints what stands before the scene, at a column, with a size from 0 to 1."""

    @property
    def view(self) -> View:
        """How metres become pixels here; x = 0 is the middle of the picture."""
        return View(self.scale, SIZE[0] / 2, self.ground)

    @property
    def half_width(self) -> float:
        """Metres from the middle to the edge of the picture."""
        return SIZE[0] / 2 / self.scale


def _foliage(
    layer: Layer,
    centre: tuple[float, float],
    size: tuple[float, float],
    colour: Colour,
    rng: Rng,
    leaves: int,
) -> None:
    """Draw the crown of a tree or a bush as many blots of slightly different green."""
    x, y = centre
    layer.ellipse((x, y), (size[0] * 0.8, size[1] * 0.8), shade(colour, 0.75))
    angles = rng.uniform(0.0, 2 * np.pi, leaves)
    radii = np.sqrt(rng.uniform(0.0, 1.0, leaves)) * 0.46
    grain = rng.uniform(0.10, 0.26, leaves)
    # From the bottom up, growing lighter, as if lit from above.
    for k in np.argsort(-np.sin(angles) * radii)[::-1]:
        up = -np.sin(angles[k]) * radii[k]
        blot = size[0] * grain[k]
        bright = 0.92 - 0.5 * up + rng.uniform(-0.10, 0.10)
        where = (x + size[0] * radii[k] * np.cos(angles[k]), y + size[1] * up)
        layer.ellipse(where, (blot, blot * 0.8), shade(colour, bright))


# The courtyard: a brick wall with a window, a drainpipe and ivy over stone slabs, in hard sun.

_WALL = 330  # row where the wall meets the ground


def _paint_courtyard(backdrop: Backdrop) -> None:
    rng = backdrop.rng
    backdrop.fill(0, _WALL, (188, 176, 160), (170, 158, 142), cell=40)
    _bricks(backdrop, shade((172, 96, 74), rng.uniform(0.9, 1.1)))
    backdrop.fill(_WALL, SIZE[1], (186, 180, 166), (206, 200, 184), cell=18)
    with backdrop.shapes() as layer:
        _slabs(layer, rng)
        _window(layer, rng.uniform(60, 240), rng)
        pipe = rng.uniform(420, 600)
        layer.stroke([(pipe, 0), (pipe, _WALL)], 11, (88, 92, 98))
        layer.stroke([(pipe - 2, 0), (pipe - 2, _WALL)], 3, (130, 134, 140))
        for y in (70, 210):
            layer.stroke([(pipe - 8, y), (pipe + 8, y)], 5, (60, 62, 66))
        layer.rectangle(0, _WALL - 14, 640, _WALL, (132, 122, 110))
        for _ in range(5):
            spot = (rng.uniform(560, 650), rng.uniform(60, 290))
            _foliage(layer, spot, (90, 80), (70, 112, 52), rng, 40)
    # The wall throws no shadow on itself, but its foot does on the slabs.
    backdrop.image[_WALL : _WALL + 8] = backdrop.image[_WALL : _WALL + 8] // 4 * 3


def _bricks(backdrop: Backdrop, colour: Colour) -> None:
    rng, high, wide = backdrop.rng, 15, 40
    for row, y in enumerate(range(-2, _WALL, high)):
        for x in range(-wide + (row % 2) * wide // 2, SIZE[0], wide):
            brick = shade(colour, 1.0 + 0.28 * backdrop.texture * rng.uniform(-1.0, 0.8))
            corner = (x + wide - 3, min(y + high - 3, _WALL))
            cv2.rectangle(backdrop.image, (x, y), corner, brick, -1)
    noise = rng.normal(0.0, 10.0 * backdrop.texture, (_WALL, SIZE[0], 1))
    wall = backdrop.image[:_WALL]
    wall[...] = np.clip(wall + noise, 0, 255).astype(np.uint8)


def _slabs(layer: Layer, rng: Rng) -> None:
    joint = (150, 144, 130)
    vanishing = rng.uniform(200, 440)
    for y in (346, 368, 398, 440):
        layer.stroke([(0, y), (640, y)], 1.5, joint)
    for x in np.linspace(-500, 1140, 18):
        start = vanishing + (x - vanishing) * 0.45
        layer.stroke([(start, _WALL), (x, 490)], 1.5, joint)


def _window(layer: Layer, x: float, rng: Rng) -> None:
    top, wide, high = rng.uniform(30, 60), rng.uniform(110, 140), 150
    frame, glass = (228, 226, 216), (96, 116, 132)
    layer.rectangle(x - 8, top - 8, x + wide + 8, top + high + 8, frame)
    layer.rectangle(x, top, x + wide, top + high, glass)
    streak = [(x + 14, top + high), (x + 60, top), (x + 84, top), (x + 38, top + high)]
    layer.polygon(streak, (132, 152, 166))
    layer.stroke([(x + wide / 2, top), (x + wide / 2, top + high)], 7, frame)
    layer.stroke([(x, top + 60), (x + wide, top + 60)], 6, frame)
    layer.rectangle(x - 16, top + high + 8, x + wide + 16, top + high + 20, (180, 174, 160))


def _tub(layer: Layer, x: float, size: float, rng: Rng) -> None:
    wide = 40 + 70 * size
    _foliage(layer, (x, 450 - wide * 0.35), (wide * 1.1, wide * 0.9), (74, 118, 58), rng, 70)
    top, foot = wide * 0.4, wide * 0.3
    pot = [(x - top, 452), (x + top, 452), (x + foot, 490), (x - foot, 490)]
    layer.polygon(pot, (164, 92, 62))


# The park: lawn, a gravel path, trees and a grey sky, seen from higher up and further away.

_LAWN = 205  # row of the horizon


def _paint_park(backdrop: Backdrop) -> None:
    rng = backdrop.rng
    backdrop.fill(0, _LAWN, (186, 198, 210), (218, 222, 224), rough=0.25, cell=160)
    backdrop.fill(_LAWN, SIZE[1], (118, 146, 88), (96, 136, 66), cell=14)
    with backdrop.shapes(0, 300) as layer:
        for x in np.arange(-20, 680, 42):
            size = rng.uniform(70, 120)
            colour = shade((98, 124, 94), rng.uniform(0.85, 1.1))
            _foliage(layer, (float(x), _LAWN - 22), (size, size * 0.8), colour, rng, 14)
        layer.rectangle(0, _LAWN - 16, 640, _LAWN + 4, (84, 112, 72))
        for x in rng.permutation([60, 300, 560])[:2]:
            _tree(layer, float(x + rng.uniform(-40, 40)), rng)
        lamp = float(rng.uniform(180, 460))
        layer.stroke([(lamp, 262), (lamp, 60)], 5, (56, 60, 62))
        glass = [(lamp - 9, 60), (lamp + 9, 60), (lamp + 13, 34), (lamp - 13, 34)]
        layer.polygon(glass, (236, 232, 206))
        layer.polygon([(lamp - 15, 34), (lamp + 15, 34), (lamp, 22)], (56, 60, 62))
    _path(backdrop)
    with backdrop.shapes(_LAWN, SIZE[1]) as layer:
        _tufts(layer, rng)


def _tree(layer: Layer, x: float, rng: Rng) -> None:
    bark = (96, 76, 58)
    layer.limb([(x, 268), (x + 2, 150), (x + 8, 60)], [34, 24, 16], bark)
    layer.stroke([(x - 6, 262), (x - 4, 120)], 4, shade(bark, 1.25))
    layer.limb([(x + 2, 160), (x + 54, 90)], [14, 8], bark)
    for _ in range(4):
        spot = (x + rng.uniform(-60, 70), rng.uniform(0, 70))
        _foliage(layer, spot, (150, 110), (82, 126, 58), rng, 50)


def _path(backdrop: Backdrop) -> None:
    gravel = backdrop.image.copy()
    noise = backdrop.rng.normal(0.0, 14.0 * backdrop.texture, (SIZE[1] - 372, SIZE[0], 1))
    colour = np.array(shade((190, 174, 146), backdrop.rng.uniform(0.92, 1.06)))
    gravel[372:] = np.clip(colour + noise, 0, 255).astype(np.uint8)
    edge = 384 + 6 * np.sin(np.arange(SIZE[0]) / 70.0 + backdrop.rng.uniform(0, 6))
    rows = np.arange(SIZE[1])[:, None]
    inside = (rows > edge) & (rows < 458 + 0.4 * (edge - 384))
    backdrop.image[inside] = gravel[inside]


def _tufts(layer: Layer, rng: Rng) -> None:
    for _ in range(160):
        x, y = rng.uniform(0, 640), rng.choice([rng.uniform(212, 378), rng.uniform(462, 478)])
        tall = 2 + 5 * (y - _LAWN) / 270
        green = shade((104, 148, 70), rng.uniform(0.7, 1.25))
        layer.stroke([(x, y), (x + rng.uniform(-2, 2), y - tall)], 1.5, green)
    for _ in range(14):
        spot = (rng.uniform(0, 640), rng.uniform(240, 366))
        layer.ellipse(spot, (4, 3), (236, 232, 200))


def _bush(layer: Layer, x: float, size: float, rng: Rng) -> None:
    wide = 60 + 90 * size
    _foliage(layer, (x, 485 - wide * 0.2), (wide * 1.2, wide * 0.9), (66, 106, 48), rng, 90)


# The kerb: a pavement before a shop front and a door, in low warm light from the right.

_HOUSE = 322  # row where the house meets the pavement
_EDGE = 428  # row of the kerb


def _paint_kerb(backdrop: Backdrop) -> None:
    rng = backdrop.rng
    plaster = shade((204, 190, 164), rng.uniform(0.9, 1.08))
    backdrop.fill(0, _HOUSE, shade(plaster, 0.96), plaster, rough=0.5, cell=60)
    backdrop.fill(_HOUSE, _EDGE, (150, 146, 142), (166, 162, 156), cell=10)
    backdrop.fill(_EDGE, SIZE[1], (84, 86, 90), (74, 76, 80), cell=8)
    with backdrop.shapes() as layer:
        _shop(layer, float(rng.uniform(20, 120)), rng)
        _door(layer, float(rng.uniform(470, 540)), rng)
        for x in np.arange(-40 + rng.uniform(0, 40), 640, 78):
            layer.stroke([(x + 26, _HOUSE), (x, _EDGE)], 1.5, (122, 118, 114))
        layer.stroke([(0, 366), (640, 366)], 1.5, (122, 118, 114))
        layer.rectangle(0, _EDGE - 5, 640, _EDGE + 8, (196, 192, 184))
        layer.rectangle(0, _EDGE + 8, 640, _EDGE + 14, (56, 58, 62))
        for x in range(-60, 640, 190):
            layer.polygon([(x, 466), (x + 90, 466), (x + 84, 474), (x - 6, 474)], (206, 204, 194))


def _shop(layer: Layer, x: float, rng: Rng) -> None:
    wide, top, foot = 300.0, 92.0, _HOUSE - 42
    wood = pick(palette("3a5460 6e3432 345842"), rng)
    layer.rectangle(x, 40, x + wide, _HOUSE, wood)
    layer.rectangle(x + 14, 50, x + wide - 14, 80, shade(wood, 0.7))
    for k in range(9):
        at = x + 50 + k * 23
        layer.rectangle(at, 58, at + rng.uniform(8, 16), 72, (226, 204, 142))
    layer.rectangle(x + 16, top + 30, x + wide - 16, foot, (84, 96, 106))
    for share in (0.25, 0.62):
        at = x + 16 + share * (wide - 32)
        streak = [(at, foot), (at + 50, top + 30), (at + 74, top + 30), (at + 24, foot)]
        layer.polygon(streak, (116, 130, 140))
    for share in (0.333, 0.667):
        layer.rectangle(x + wide * share - 4, top + 30, x + wide * share + 4, foot, wood)
    stripes = np.linspace(x, x + wide, 13)
    for k, (left, right) in enumerate(pairwise(stripes)):
        colour = (236, 230, 216) if k % 2 else shade(wood, 1.35)
        upper = [(left + 8, top - 8), (right - 2 + 8, top - 8)]
        layer.polygon([*upper, (right - 6, top + 34), (left - 6, top + 34)], colour)


def _door(layer: Layer, x: float, rng: Rng) -> None:
    paint = pick(palette("784628 2c3c5c 822628"), rng)
    layer.rectangle(x - 10, 84, x + 106, _HOUSE, (222, 216, 202))
    layer.rectangle(x, 94, x + 96, _HOUSE, paint)
    for left in (10, 54):
        for y1, y2 in ((106, 186), (200, 300)):
            layer.rectangle(x + left, y1, x + left + 32, y2, shade(paint, 0.8))
    layer.ellipse((x + 86, 210), (8, 8), (222, 190, 92))
    layer.rectangle(x - 16, _HOUSE - 8, x + 112, _HOUSE + 4, (180, 176, 168))


def _bollard(layer: Layer, x: float, size: float, rng: Rng) -> None:
    wide, top = 14 + 16 * size, 380 - 110 * size
    layer.polygon(rounded(x - wide / 2, top, x + wide / 2, 500, wide / 2), (62, 66, 74))
    layer.rectangle(x - wide / 2, top + 24, x + wide / 2, top + 36, (226, 226, 220))
    layer.stroke([(x + wide / 4, top + 12), (x + wide / 4, 480)], 2, (104, 108, 116))


# The harbour: planks and a railing before the sea with boats, in the evening.

_SEA, _QUAY = 168, 300  # rows where sea meets sky and where the planks begin


def _paint_harbour(backdrop: Backdrop) -> None:
    rng = backdrop.rng
    backdrop.fill(0, _SEA, (120, 142, 182), (236, 188, 154), rough=0.35, cell=120)
    backdrop.fill(_SEA, _QUAY, (146, 142, 150), (66, 94, 116), rough=0.5, cell=12)
    backdrop.fill(_QUAY, SIZE[1], (118, 92, 70), (142, 112, 84), cell=30)
    with backdrop.shapes() as layer:
        hills = [(0, _SEA), (0, 140), (120, 118), (260, 146), (420, 124), (640, 150)]
        layer.polygon([*hills, (640, _SEA)], (122, 118, 142))
        layer.ellipse((rng.uniform(80, 560), rng.uniform(96, 130)), (44, 44), (255, 226, 176))
        for _ in range(130):
            y = _SEA + 4 + (_QUAY - _SEA - 8) * rng.random() ** 1.4
            x, wide = rng.uniform(0, 640), rng.uniform(6, 34)
            wave = (206, 180, 168) if rng.random() < 0.5 else (58, 82, 104)
            layer.stroke([(x, y), (x + wide, y)], 1.5, wave)
        for x in (rng.uniform(60, 220), rng.uniform(380, 560)):
            _boat(layer, float(x), rng)
        for y in (312, 328, 348, 372, 400, 434, 472):
            layer.stroke([(0, y), (640, y)], 2, (84, 64, 48))
            for x in rng.uniform(0, 640, 3):
                layer.stroke([(x, y), (x, y + 24)], 1.5, (90, 70, 52))
        for x in range(24, 640, 118):
            layer.polygon(rounded(x - 6, 206, x + 6, 318, 4), (214, 212, 206))
            layer.stroke([(x - 3, 212), (x - 3, 314)], 2, (246, 244, 240))
        for y in (216, 252, 288):
            layer.stroke([(0, y), (640, y)], 5, (206, 204, 198))


def _boat(layer: Layer, x: float, rng: Rng) -> None:
    y = rng.uniform(200, 236)
    hull = pick(palette("e2ded6 3c5478 9c3c36"), rng)
    layer.stroke([(x, y), (x, y - 120)], 3, (92, 72, 58))
    layer.polygon([(x + 4, y - 112), (x + 4, y - 14), (x + 52, y - 14)], (240, 228, 210))
    layer.polygon([(x - 60, y - 8), (x + 66, y - 8), (x + 46, y + 16), (x - 46, y + 16)], hull)
    layer.stroke([(x - 58, y - 8), (x + 64, y - 8)], 3, shade(hull, 0.7))


def _lamp_post(layer: Layer, x: float, size: float, rng: Rng) -> None:
    wide = 9 + 15 * size
    layer.polygon(rounded(x - wide / 2, -10, x + wide / 2, 500, 2), (50, 58, 62))
    layer.stroke([(x + wide / 5, 0), (x + wide / 5, 480)], wide / 6, (98, 106, 110))
    layer.polygon(rounded(x - wide * 0.9, 452, x + wide * 0.9, 500, 4), (42, 48, 52))


_ALL = (
    Place("courtyard", 132.0, 412.0, -0.9, (1.04, 1.0, 0.94), 0.9, _paint_courtyard, _tub),
    Place("harbour", 124.0, 418.0, 0.55, (1.06, 0.94, 0.86), 0.65, _paint_harbour, _lamp_post),
    Place("kerb", 140.0, 402.0, 0.8, (1.08, 0.98, 0.86), 0.75, _paint_kerb, _bollard),
    Place("park", 116.0, 424.0, -0.25, (0.95, 0.98, 1.0), 0.5, _paint_park, _bush),
)
PLACES = Registry("place", {place.name: place for place in _ALL})
"""All places by name."""
