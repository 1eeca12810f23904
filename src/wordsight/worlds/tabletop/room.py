"""`Room`: where things stand on the tabletop, where there is space, and small chances of timing."""

from collections.abc import Sequence

import numpy as np

from wordsight.worlds.tabletop.blocks import Block

__all__ = ["HALF_WIDTH", "Room"]

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
