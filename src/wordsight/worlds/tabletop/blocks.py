"""The blocks of the tabletop: coloured wooden cuboids, each known by its colour.

A new colour is one entry of :data:`COLOURS`.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wordsight.worlds.checks import Registry
from wordsight.worlds.painter import Colour, mix, shade
from wordsight.worlds.sketch import Sketch, Sprite

__all__ = ["COLOURS", "DEPTH", "HALF_WIDTH", "Block", "Room"]


COLOURS: Registry[Colour] = Registry("colour of blocks")
"""Paint by name; the name is also the name of the block."""

COLOURS.add("red", (204, 42, 40))
COLOURS.add("green", (52, 150, 66))
COLOURS.add("blue", (36, 84, 190))
COLOURS.add("yellow", (238, 196, 40))
COLOURS.add("orange", (236, 124, 30))
COLOURS.add("purple", (128, 62, 160))
COLOURS.add("white", (234, 232, 226))
COLOURS.add("black", (52, 52, 56))

DEPTH = (0.016, 0.018)
"""Metres by which the far side of a block is drawn further right and up."""


@dataclass(frozen=True)
class Block:
    """One block.

    Attributes:
        name: Its colour's name.
        width: Metres.
        height: Metres.
        grain: Seed of the pattern of the wood.
    """

    name: str
    width: float
    height: float
    grain: int

    @property
    def corners(self) -> NDArray[np.float64]:
        """``(4, 2)`` metres around the middle: the front face, counter-clockwise."""
        x, y = self.width / 2, self.height / 2
        return np.array([(-x, -y), (x, -y), (x, y), (-x, y)])

    @property
    def outline(self) -> NDArray[np.float64]:
        """``(6, 2)`` metres around the middle: all that is drawn, with the top and the side."""
        x, y = self.width / 2, self.height / 2
        right, up = DEPTH
        front = [(-x, y), (-x, -y), (x, -y)]
        back = [(x + right, -y + up), (x + right, y + up), (-x + right, y + up)]
        return np.array([*front, *back])

    def sprite(self, scale: float, texture: float, shading: float) -> Sprite:
        """Paint it for pictures of ``scale`` pixels per metre."""
        x, y = self.width / 2 + DEPTH[0], self.height / 2 + DEPTH[1]

        def paint(sketch: Sketch) -> None:
            self._paint(sketch, shading)
            sketch.layer.tint(self._wood(texture))

        return Sprite.painted(paint, ((-x, -y), (x, y)), scale)

    def _paint(self, sketch: Sketch, shading: float) -> None:
        x, y = self.width / 2, self.height / 2
        right, up = DEPTH
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


# MERGED FROM wordsight.worlds.tabletop.blocks:
# `Room`: where things stand on the tabletop, where there is space, and small chances of timing.


HALF_WIDTH = 0.44
"""Metres from the middle of the picture to its edges."""

_COLUMNS = 5
_PITCH = 0.158  # metres between columns: the fingers need room beside a block
_JITTER = 0.008  # metres
_OFFSET = 0.010  # metres; hands do not hit the middle of a block

Point = tuple[float, float]


class Room:
    """The columns of a table, of which each holds one tower.

    Args:
        towers: Names of the blocks that stand, each tower from the bottom to the top.
        blocks: All blocks.
        left: Whether the arm comes from the left.
        rng: Where the chance comes from.

    Attributes:
        places: x and y of the middle of each block that stands, metres.
    """

    def __init__(
        self,
        towers: Sequence[Sequence[str]],
        blocks: Sequence[Block],
        left: bool,
        rng: np.random.Generator,
    ) -> None:
        self._rng = rng
        self._side = -1.0 if left else 1.0
        middles = (np.arange(_COLUMNS) - (_COLUMNS - 1) / 2) * _PITCH
        columns = rng.permutation(middles + rng.uniform(-_JITTER, _JITTER, _COLUMNS))
        self._free = [float(x) for x in columns[len(towers) :]]
        self.places: dict[str, Point] = {}
        by_name = {block.name: block for block in blocks}
        for column, tower in zip(columns, towers, strict=False):
            x, top = float(column), 0.0
            for name in tower:
                self.places[name] = (x, top + by_name[name].height / 2)
                top += by_name[name].height
                x += self.offset() / 2

    @staticmethod
    def columns() -> int:
        """Return how many towers have room side by side."""
        return _COLUMNS

    def spot(self) -> float:
        """Return x of a free column; each is given once."""
        return self._free.pop()

    def offset(self) -> float:
        """Return by how much a block misses the middle of its support, metres."""
        return float(np.clip(self._rng.normal(0.0, _OFFSET / 2), -_OFFSET, _OFFSET))

    def pause(self) -> float:
        """Return the seconds of a short wait."""
        return float(self._rng.uniform(0.35, 0.9))

    def air(self, near: str | None = None) -> Point:
        """Return a point in the air to hold something, above a block or anywhere."""
        x = self.places[near][0] if near else float(self._rng.uniform(-0.18, 0.18))
        x += float(self._rng.uniform(-0.08, 0.08))
        return float(np.clip(x, -0.3, 0.3)), float(self._rng.uniform(0.30, 0.36))

    def away(self) -> Point:
        """Return where an empty hand rests: out of the picture or at its edge."""
        x = self._rng.choice([HALF_WIDTH + 0.22, HALF_WIDTH - 0.12])
        return self._side * float(x), float(self._rng.uniform(0.34, 0.42))
