"""What the hand does: each act moves it step by step, and physics does the rest."""

from collections.abc import Iterator, Sequence

import numpy as np

from wordsight.worlds.painter import Floats
from wordsight.worlds.performance import Act, Clock, glide, smooth
from wordsight.worlds.sketch import Point
from wordsight.worlds.tabletop.blocks import TABLE, Block
from wordsight.worlds.tabletop.hand import TabletopPose
from wordsight.worlds.tabletop.physics import BlockPhysics

__all__ = [
    "HandAct",
    "Puppet",
    "carry",
    "grip",
    "lift",
    "reach",
    "release",
    "retreat",
    "wait",
]

_CLEARANCE = 0.035  # metres kept above everything one passes over
_GRIP_HEIGHT = 0.12  # share of a block's height above its middle at which it is taken
_WIDE = 0.042  # metres by which the fingers open further than what they shall hold
_CORNER_ROUNDS = 4  # times the corners of a way are cut
_CLOSING = 0.24  # seconds the fingers need to close or open
_HOLDING = 0.16  # seconds between closing the hand and moving it, and between standing and opening
_LOWERING = 0.06  # metres per second while feeling for the support
_PRESS = 0.0004  # metres a hand goes on when the block in it has reached its support
_DEEPEST = 0.03  # metres one goes on feeling for a support


class _Way:
    """A way through the air with rounded corners, travelled at a natural mean speed."""

    def __init__(self, points: Sequence[Point], speed: float) -> None:
        corners = np.array(points, dtype=np.float64)
        for _ in range(_CORNER_ROUNDS):
            corners = _cut(corners)
        steps = np.hypot(*np.diff(corners, axis=0).T)
        self._corners = corners
        self._lengths: Floats = np.concatenate([[0.0], np.cumsum(steps)])
        self.seconds = 0.28 + float(self._lengths[-1]) / speed

    def at(self, time: float) -> Point:
        """Return the position some seconds after the start."""
        along = smooth(time / self.seconds) * self._lengths[-1]
        x, y = (float(np.interp(along, self._lengths, self._corners[:, k])) for k in (0, 1))
        return x, y


def _cut(corners: Floats) -> Floats:
    # Chaikin's rule: replace every inner corner by two points beside it.
    before = corners[:-1] * 0.75 + corners[1:] * 0.25
    after = corners[:-1] * 0.25 + corners[1:] * 0.75
    inner = np.stack([before, after], axis=1).reshape(-1, 2)[1:-1]
    return np.concatenate([corners[:1], inner, corners[-1:]])


class Puppet:
    """The changing state of the hand.

    Args:
        blocks: All blocks of the film.
        physics: Where they are.
        place: Where the hand begins, metres.
        speed: How fast this person works, metres per second.

    Attributes:
        place: Position of the point between the pads.
        opening: Metres between the pads.
    """

    def __init__(
        self, blocks: Sequence[Block], physics: BlockPhysics, place: Point, speed: float
    ) -> None:
        self.physics = physics
        self.place = place
        self.speed = speed
        self._blocks = {block.name: block for block in blocks}
        self.opening = 0.05

    def pose(self) -> TabletopPose:
        """Return the present pose."""
        return TabletopPose(*self.place, self.opening)

    def width(self, name: str) -> float:
        """Return the metres between the pads while a block is held."""
        return self._blocks[name].width

    def grip_point(self, name: str) -> Point:
        """Return where the hand takes a block now."""
        x, y, _ = self.physics.place(name)
        return x, y + _GRIP_HEIGHT * self._blocks[name].height

    def above(self, name: str, support: str | None, x: float) -> Point:
        """Return where the hand is when the block it holds is a little above its goal.

        It shall stand on a block or (None) the table, ``x`` metres from the middle of this support.
        """
        block, top = self._blocks[name], 0.0
        if support is not None:
            middle, y, _ = self.physics.place(support)
            x, top = x + middle, y + self._blocks[support].height / 2
        # Where in the block the hand holds it was settled when it took it.
        hold = self.place[1] - self.physics.place(name)[1]
        return x, top + block.height / 2 + hold + 0.008

    def go(self, goal: Point, clock: Clock) -> Iterator[tuple[float, float]]:
        """Go up, over everything and down to ``goal``; yields seconds so far and in all."""
        held = self.physics.held
        tops = [
            self.physics.place(name)[1] + block.height / 2
            for name, block in self._blocks.items()
            if name != held
        ]
        below = self._blocks[held].height if held else 0.02
        safe = max(tops, default=0.0) + below + _CLEARANCE
        height = max(safe, self.place[1], goal[1] + 0.02)
        corners = [self.place, (self.place[0], height), (goal[0], height), goal]
        way = _Way(corners, self.speed)
        for time in clock(way.seconds):
            self.place = way.at(time)
            yield time, way.seconds

    def open_to(self, opening: float, clock: Clock) -> Iterator[None]:
        """Open or close the fingers."""
        begin = self.opening
        for time in clock(_CLOSING):
            self.opening = glide(time, 0.0, _CLOSING, begin, opening)
            yield


HandAct = Act[Puppet]
"""Something the hand does for a while."""


def wait(seconds: float) -> HandAct:
    """Keep still for some seconds."""

    def perform(hand: Puppet, clock: Clock) -> Iterator[None]:
        for _ in clock(seconds):
            yield

    return Act("wait", None, perform)


def reach(block: str) -> HandAct:
    """Come down on a block from above and open the fingers on the way."""

    def perform(hand: Puppet, clock: Clock) -> Iterator[None]:
        begin, wide = hand.opening, hand.width(block) + _WIDE
        for time, total in hand.go(hand.grip_point(block), clock):
            hand.opening = glide(time, 0.0, total * 0.7, begin, wide)
            yield

    return Act("reach", block, perform)


def grip(block: str) -> HandAct:
    """Close the fingers on a block and wait a moment; from then on the hand holds it."""

    def perform(hand: Puppet, clock: Clock) -> Iterator[None]:
        yield from hand.open_to(hand.width(block), clock)
        hand.physics.grip(block)
        for _ in clock(_HOLDING):
            yield

    return Act("grip", block, perform)


def lift(block: str, goal: Point) -> HandAct:
    """Raise the block in the hand, straight up first, to ``goal``."""

    def perform(hand: Puppet, clock: Clock) -> Iterator[None]:
        for _ in hand.go((goal[0], max(goal[1], hand.place[1] + 0.04)), clock):
            yield

    return Act("lift", block, perform)


def carry(block: str, support: str | None, x: float) -> HandAct:
    """Bring the block in the hand over its goal and lower it until it stands.

    It shall stand on a block or (None) the table, ``x`` metres from the middle of this support.
    """

    def perform(hand: Puppet, clock: Clock) -> Iterator[None]:
        for _ in hand.go(hand.above(block, support, x), clock):
            yield
        column, top = hand.place
        for time in clock(_DEEPEST / _LOWERING):
            hand.place = (column, top - _LOWERING * time)
            yield
            if hand.physics.distance(block, support or TABLE) <= 0.0:
                break
        hand.place = (column, hand.place[1] - _PRESS)
        for _ in clock(_HOLDING):
            yield

    return Act("carry", block, perform)


def release(block: str) -> HandAct:
    """Let go of a block at once, then open the fingers."""

    def perform(hand: Puppet, clock: Clock) -> Iterator[None]:
        hand.physics.release(block)
        yield from hand.open_to(hand.width(block) + _WIDE, clock)

    return Act("release", block, perform)


def retreat(goal: Point) -> HandAct:
    """Go away to ``goal``, up first, with an empty hand that relaxes."""

    def perform(hand: Puppet, clock: Clock) -> Iterator[None]:
        begin = hand.opening
        for time, total in hand.go(goal, clock):
            hand.opening = glide(time, total * 0.4, total, begin, 0.05)
            yield

    return Act("retreat", None, perform)
