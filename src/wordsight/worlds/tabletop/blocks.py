"""The blocks of the tabletop, coloured wooden cuboids, and where they stand on the table.

Each block is known by its colour; a new colour is one entry of :data:`COLOURS`.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wordsight.worlds.chance import Rng
from wordsight.worlds.checks import Registry
from wordsight.worlds.painter import Colour, Floats, mix, shade
from wordsight.worlds.sketch import Point, Sketch, Sprite

__all__ = ["AGENT", "COLOURS", "HALF_WIDTH", "TABLE", "Block", "Room"]

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
