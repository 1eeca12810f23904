"""The tabletop: the blocks on it, the hand that moves them, and the table before a wall.

A new setting is one function that paints the wall, and one entry of :data:`SETTINGS`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wordsight.worlds.camera import Effects
from wordsight.worlds.checks import Registry, Rng
from wordsight.worlds.painter import (
    Colour,
    Floats,
    Image,
    Layer,
    cloudy,
    gradient,
    mix,
    roughen,
    shade,
)
from wordsight.worlds.performance import FINGERS, FingerStyle, HandJoints, HandLook
from wordsight.worlds.sketch import SIZE, Point, Sketch, Sprite, View, turned

__all__ = [
    "AGENT",
    "COLOURS",
    "HALF_WIDTH",
    "SETTINGS",
    "TABLE",
    "VIEW",
    "Block",
    "Room",
    "TabletopPose",
    "TabletopSetting",
    "arm_extent_of",
    "extent_of",
    "joints_of",
    "paint_arm",
    "paint_back",
    "paint_front",
    "paint_occluder",
    "paint_setting",
]

COLOURS: Registry[Colour] = Registry(
    "colour of blocks",
    {
        "red": (204, 42, 40),
        "green": (52, 150, 66),
        "blue": (36, 84, 190),
        "yellow": (238, 196, 40),
        "orange": (236, 124, 30),
        "purple": (128, 62, 160),
        "white": (234, 232, 226),
        "black": (52, 52, 56),
    },
)
"""Paint by name; the name is also the name of the block."""

AGENT = "hand"
"""The agent of all events."""

TABLE = "table"
"""Name of the table among the things that blocks touch."""

HALF_WIDTH = 0.44
"""Metres from the middle of the picture to its edges."""

_DEPTH = (0.016, 0.018)  # metres by which the far side of a block is drawn further right and up

_PITCH = 0.158  # metres between columns: the fingers need room beside a block
_JITTER = 0.008  # metres
_OFFSET = 0.010  # metres; hands do not hit the middle of a block

_SHOULDER = (0.62, 0.98)  # metres beside and above the origin of the scene
_UPRIGHT = 0.42  # radians an arm leans when the hand is in the middle of the picture
_THICKNESS = 0.009  # metres from the skin of a pad to the middle of the finger tip
# Joints of a hand that holds something of no width, in metres: knuckle, two joints, tip. What is
# between the pads moves the outer joints apart.
_THUMB = ((-0.002, 0.112), (-0.026, 0.076), (-0.018, 0.034), (-0.001, -0.006))
_INDEX = ((0.030, 0.100), (0.024, 0.060), (0.016, 0.024), (0.001, -0.014))
_SPREAD = (0.25, 0.80, 1.0, 1.0)  # how much each joint follows the pads
_BEHIND = (0.0055, 0.0060)  # metres by which each finger is drawn further right and up
_STYLE = FingerStyle(
    finger=(0.0215, 0.0195, 0.0180, 0.0150),
    thumb=(0.0300, 0.0240, 0.0205, 0.0170),
    layers=((0.003, 0.72, 0.0), (0.0, 0.93, 0.0), (-0.006, 1.03, 0.0012)),
    nail=(0.014, 0.0095),
    nail_white=0.55,
)
_PALM = (0.052, 0.052, 0.052)  # metres across
_WRIST, _SLEEVE = 0.050, (0.078, 0.104)
_CUFF = 0.030  # metres
_BARE = 0.030  # metres of arm between wrist and cuff
_GROUND = 396.0  # row on which blocks stand
_FAR_EDGE, _NEAR_EDGE = 352, 462  # rows of the edges of the table

VIEW = View(SIZE[0] / 2 / HALF_WIDTH, SIZE[0] / 2, _GROUND)
"""How metres become pixels."""


@dataclass(frozen=True)
class Block:
    """One block."""

    name: str  # of its colour
    width: float  # metres
    height: float  # metres
    grain: int  # seed of the pattern of the wood

    @property
    def corners(self) -> Floats:
        """``(4, 2)`` metres around the middle: the front face, counter-clockwise."""
        x, y = self.width / 2, self.height / 2
        return np.array([(-x, -y), (x, -y), (x, y), (-x, y)])

    @property
    def outline(self) -> Floats:
        """``(6, 2)`` metres around the middle: all that is drawn, with the top and the side."""
        x, y = self.width / 2, self.height / 2
        right, up = _DEPTH
        front = [(-x, y), (-x, -y), (x, -y)]
        back = [(x + right, -y + up), (x + right, y + up), (-x + right, y + up)]
        return np.array([*front, *back])

    def sprite(self, scale: float, texture: float, shading: float) -> Sprite:
        """Paint it for pictures of ``scale`` pixels per metre."""
        x, y = self.width / 2 + _DEPTH[0], self.height / 2 + _DEPTH[1]

        def paint(sketch: Sketch) -> None:
            self._paint(sketch, shading)
            sketch.tint(self._wood(texture))

        return Sprite.painted(paint, ((-x, -y), (x, y)), scale)

    def _paint(self, sketch: Sketch, shading: float) -> None:
        x, y = self.width / 2, self.height / 2
        right, up = _DEPTH
        colour = COLOURS[self.name]
        bright, dark = 1 + 0.22 * shading, 1 - 0.38 * shading
        top = mix(shade(colour, bright), (255, 255, 255), 0.14 * shading)
        sketch.polygon([(-x, y), (x, y), (x + right, y + up), (-x + right, y + up)], top)
        side = [(x, -y), (x, y), (x + right, y + up), (x + right, -y + up)]
        sketch.polygon(side, shade(colour, dark))
        sketch.polygon(self.corners, colour)
        # Rounded edges catch the light above and lose it below.
        sketch.stroke([(-x, y), (x, y)], 0.0022, mix(top, (255, 255, 255), 0.35))
        sketch.stroke([(x, -y), (x, y)], 0.0016, shade(colour, 0.82))
        sketch.stroke([(-x, -y), (x, -y)], 0.0020, shade(colour, 0.72))

    def _wood(self, texture: float) -> NDArray[np.float32]:
        """Return ``(h, w)`` brightness around 1: long fibres along the block."""
        rng = np.random.default_rng(self.grain)
        fibres = rng.normal(0.0, 1.0, (26, 4)).repeat(5, axis=1)
        fibres += 0.5 * rng.normal(0.0, 1.0, (26, 20))
        return np.asarray(1.0 + 0.05 * texture * fibres, dtype=np.float32)


class Room:
    """The columns of a table, each with room for one tower, and small random offsets and pauses.

    Args:
        towers: Names of the blocks that stand, each tower from the bottom to the top.
        blocks: All blocks.
        left: Whether the arm comes from the left.
        rng: Random generator.
    """

    COLUMNS = 5  # towers that have room side by side

    def __init__(
        self, towers: Sequence[Sequence[str]], blocks: Sequence[Block], left: bool, rng: Rng
    ) -> None:
        self._rng = rng
        self._side = -1.0 if left else 1.0
        middles = (np.arange(self.COLUMNS) - (self.COLUMNS - 1) / 2) * _PITCH
        columns = rng.permutation(middles + rng.uniform(-_JITTER, _JITTER, self.COLUMNS))
        self._free = [float(x) for x in columns[len(towers) :]]
        self.places: dict[str, Point] = {}  # middle of each block that stands, metres
        heights = {block.name: block.height for block in blocks}
        for column, tower in zip(columns, towers, strict=False):
            x, top = float(column), 0.0
            for name in tower:
                self.places[name] = (x, top + heights[name] / 2)
                top += heights[name]
                x += self.offset() / 2

    def spot(self) -> float:
        """Return x of a free column; each is given once."""
        return self._free.pop()

    def offset(self) -> float:
        """Draw by how many metres a block misses the middle of its support."""
        return float(np.clip(self._rng.normal(0.0, _OFFSET / 2), -_OFFSET, _OFFSET))

    def pause(self) -> float:
        """Draw the seconds of a short wait."""
        return float(self._rng.uniform(0.35, 0.9))

    def air(self, near: str | None = None) -> Point:
        """Draw a point in the air to hold something, above a block or anywhere."""
        x = self.places[near][0] if near else float(self._rng.uniform(-0.18, 0.18))
        x += float(self._rng.uniform(-0.08, 0.08))
        return float(np.clip(x, -0.3, 0.3)), float(self._rng.uniform(0.30, 0.36))

    def away(self) -> Point:
        """Draw where an empty hand rests: out of the picture or at its edge."""
        x = self._rng.choice([HALF_WIDTH + 0.22, HALF_WIDTH - 0.12])
        return self._side * float(x), float(self._rng.uniform(0.34, 0.42))


@dataclass(frozen=True)
class TabletopPose:
    """What the hand is doing at one moment."""

    x: float  # metres; the point between the pads
    y: float  # metres above the table
    opening: float  # metres between the pads


def joints_of(pose: TabletopPose, look: HandLook) -> HandJoints:
    """Return the joints in metres.

    Returns:
        The fingers; ``palm`` ``(3, 2)``, the back of the hand from the knuckles to the wrist;
        ``arm`` ``(2, 2)``, the wrist and a point far up the arm.
    """
    side = -1.0 if look.left else 1.0
    half = pose.opening / 2 + _THICKNESS * look.size
    joints = {"thumb": _finger(_THUMB, -half, look.size)}
    for number, name in enumerate(FINGERS[1:]):
        short = 1.0 - 0.03 * abs(number - 1)
        joints[name] = _finger(_INDEX, half, look.size * short) + np.multiply(_BEHIND, number)
    shoulder = np.array((_SHOULDER[0] - side * pose.x, _SHOULDER[1] - pose.y))
    lean = np.arctan2(shoulder[0], shoulder[1]) * 0.75 + 0.25 * _UPRIGHT
    wrist = turned((0.008, 0.168), -0.55 * (lean - _UPRIGHT)) * look.size
    joints["palm"] = np.array(
        [np.array((0.012, 0.092)) * look.size, (wrist + np.array((0.016, 0.100))) / 2, wrist]
    )
    joints["arm"] = np.array([wrist, wrist + 0.75 * np.array((np.sin(lean), np.cos(lean)))])
    return {name: chain * (side, 1.0) + (pose.x, pose.y) for name, chain in joints.items()}


def _finger(chain: tuple[Point, ...], reach: float, size: float) -> Floats:
    points = np.array(chain) * size
    points[:, 0] += reach * np.array(_SPREAD)
    return points


def extent_of(joints: HandJoints, look: HandLook) -> Floats:
    """Return ``(2, 2)`` lower left and upper right corner in metres, from finger tips to wrist."""
    return _STYLE.extent_of(joints, _PALM, look.size)


def arm_extent_of(joints: HandJoints, look: HandLook) -> Floats:
    """Return ``(2, 2)`` lower left and upper right corner in metres of the arm with its sleeve."""
    wide = _SLEEVE[1] * look.size / 2 + 0.01
    return np.array([joints["arm"].min(axis=0) - wide, joints["arm"].max(axis=0) + wide])


def paint_back(sketch: Sketch, joints: HandJoints, look: HandLook) -> None:
    """Draw the fingers on the far side, behind what is held."""
    for number, name in ((3, "little"), (2, "ring"), (1, "middle")):
        colour = shade(look.skin, 0.97 - 0.09 * number)
        # Little of them shows, so a rim and one tone are enough.
        pixels = sketch.view.pixels(joints[name])
        widths = [width * look.size * sketch.scale for width in _STYLE.finger]
        sketch.limb_pixels(pixels, [width + 2.0 for width in widths], shade(colour, 0.72))
        sketch.limb_pixels(pixels, widths, colour)


def paint_front(sketch: Sketch, joints: HandJoints, look: HandLook) -> None:
    """Draw the palm, the thumb and the index finger, before what is held."""
    thumb, index, palm = joints["thumb"], joints["index"], joints["palm"]
    size, skin, dark = look.size, look.skin, shade(look.skin, 0.76)
    knuckles, wrist = index[0] + (joints["little"][0] - index[0]) * 0.5, palm[2]
    _STYLE.paint_finger(sketch, index, skin, size=size)
    for joint in (1, 2):
        sketch.ellipse(index[joint], (0.010 * size, 0.004), shade(skin, 0.88))
    sketch.tube([knuckles, wrist], [0.050 * size, 0.052 * size], shade(skin, 0.96))
    sketch.tube([thumb[0], wrist], [0.046 * size, 0.046 * size], skin)
    middle = (knuckles + thumb[0]) / 2
    sketch.limb([middle, palm[1]], [0.052 * size, 0.050 * size], shade(skin, 1.02))
    _STYLE.paint_finger(sketch, thumb, skin, thumb=True, size=size)
    _STYLE.paint_nail(sketch, thumb, skin, size=size)
    # Folds of the skin where thumb and palm meet, and at the knuckle.
    web = middle + (thumb[1] - thumb[0]) * 0.30
    sketch.stroke([web, middle + (wrist - middle) * 0.25], 0.0025, dark)
    knuckle = index[0] + (index[1] - index[0]) * 0.25
    sketch.stroke(np.add(((-0.007, 0.003), (0.007, 0.001)), knuckle), 0.0022, dark)


def paint_arm(sketch: Sketch, joints: HandJoints, look: HandLook) -> None:
    """Draw the wrist, the cuff and the sleeve."""
    wrist, far = joints["arm"]
    along = (far - wrist) / np.hypot(*(far - wrist))
    cuff = wrist + along * _BARE * look.size
    sketch.tube([wrist, cuff], [_WRIST * look.size] * 2, shade(look.skin, 0.96))
    sleeve = [width * look.size for width in _SLEEVE]
    sketch.tube([cuff + along * 0.03, far], sleeve, look.sleeve)
    across = np.array((-along[1], along[0])) * sleeve[0] / 2
    for start in (0.12, 0.21):  # creases of the cloth
        fold = cuff + along * start
        crease = [fold - across * 0.9, fold + across * 0.2 + along * 0.02]
        sketch.stroke(crease, 0.004, shade(look.sleeve, 0.80))
    edge = [cuff + across * 1.04, cuff - across * 1.04]
    sketch.polygon([*edge, edge[1] + along * _CUFF, edge[0] + along * _CUFF], look.cuff)
    sketch.stroke(edge, 0.004, shade(look.cuff, 0.75))


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
