"""What the hand can do: each act moves it step by step, and physics does the rest."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from wordsight.worlds.tabletop.blocks import Block
from wordsight.worlds.tabletop.hand import BlockHandPose
from wordsight.worlds.tabletop.physics import BlockPhysics
from wordsight.worlds.timing import glide, smooth

__all__ = [
    "Carry",
    "Grip",
    "HandAct",
    "Lift",
    "Puppet",
    "Reach",
    "Release",
    "Retreat",
    "Wait",
    "Way",
]


# MERGED FROM wordsight.worlds.tabletop.acts:
# `Puppet`: the hand on the stage, as acts move it, and the ways it takes through the air.


Point = tuple[float, float]

_CLEARANCE = 0.035  # metres kept above everything one passes over
_GRIP_HEIGHT = 0.12  # share of a block's height above its middle at which it is taken
_WIDE = 0.042  # metres by which the fingers open further than what they shall hold
_CORNER_ROUNDS = 4  # times the corners of a way are cut


class Way:
    """A way through the air with rounded corners, gone with natural speed.

    Args:
        points: Corners in metres, from the beginning to the goal.
        speed: Mean speed in metres per second.

    Attributes:
        seconds: How long it takes.
    """

    def __init__(self, points: Sequence[Point], speed: float) -> None:
        corners = np.array(points, dtype=np.float64)
        for _ in range(_CORNER_ROUNDS):
            corners = _cut(corners)
        steps = np.hypot(*np.diff(corners, axis=0).T)
        self._corners = corners
        self._lengths: NDArray[np.float64] = np.concatenate([[0.0], np.cumsum(steps)])
        self.seconds = 0.28 + float(self._lengths[-1]) / speed

    def at(self, time: float) -> Point:
        """Return where one is some seconds after the start."""
        along = smooth(time / self.seconds) * self._lengths[-1]
        x, y = (float(np.interp(along, self._lengths, self._corners[:, k])) for k in (0, 1))
        return x, y


class Puppet:
    """The changing state of the hand.

    Args:
        blocks: All blocks of the film.
        physics: Where they are.
        place: Where the hand begins, metres.
        speed: How fast this person works, metres per second.

    Attributes:
        place: Where the point between the pads is.
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

    def pose(self) -> BlockHandPose:
        """Return the pose of the moment."""
        return BlockHandPose(*self.place, self.opening)

    def width(self, name: str) -> float:
        """Return the metres between the pads while a block is held."""
        return self._blocks[name].width

    def wide(self, name: str) -> float:
        """Return the metres between the pads when the hand opens for a block."""
        return self.width(name) + _WIDE

    def grip_point(self, name: str) -> Point:
        """Return where the hand takes a block now."""
        x, y, _ = self.physics.place(name)
        return x, y + _GRIP_HEIGHT * self._blocks[name].height

    def above(self, name: str, support: str | None, x: float) -> Point:
        """Return where the hand is when the block it holds is a little above its goal.

        Args:
            name: The block that is held.
            support: The block it shall stand on; None for the table.
            x: How far from the middle of ``support`` (or of the table) it shall stand.
        """
        block, top = self._blocks[name], 0.0
        if support is not None:
            middle, y, _ = self.physics.place(support)
            x, top = x + middle, y + self._blocks[support].height / 2
        # Where in the block the hand holds it was settled when it took it.
        hold = self.place[1] - self.physics.place(name)[1]
        return x, top + block.height / 2 + hold + 0.008

    def way_over(self, goal: Point) -> Way:
        """Return the way to ``goal`` up, over everything and down again."""
        height = max(self._safe_height(), self.place[1], goal[1] + 0.02)
        corners = [self.place, (self.place[0], height), (goal[0], height), goal]
        return Way(corners, self.speed)

    def _safe_height(self) -> float:
        held = self.physics.held
        tops = [
            self.physics.place(name)[1] + block.height / 2
            for name, block in self._blocks.items()
            if name != held
        ]
        below = self._blocks[held].height if held else 0.02
        return max(tops, default=0.0) + below + _CLEARANCE


def _cut(corners: NDArray[np.float64]) -> NDArray[np.float64]:
    # Chaikin's rule: replace every inner corner by two points beside it.
    before = corners[:-1] * 0.75 + corners[1:] * 0.25
    after = corners[:-1] * 0.25 + corners[1:] * 0.75
    inner = np.stack([before, after], axis=1).reshape(-1, 2)[1:-1]
    return np.concatenate([corners[:1], inner, corners[-1:]])


_CLOSING = 0.24  # seconds the fingers need to close or open
_HOLDING = 0.16  # seconds between closing the hand and moving it, and between standing and opening
_LOWERING = 0.06  # metres per second while feeling for the support
_PRESS = 0.0004  # metres a hand goes on when the block in it has reached its support
_DEEPEST = 0.03  # metres one goes on feeling for a support

Clock = Callable[[float], Iterator[float]]
"""Counts the steps of some seconds: yields the time since the beginning, after each step."""


class HandAct(Protocol):
    """Something the hand does for a while."""

    @property
    def name(self) -> str:
        """What it is called in the truth."""

    @property
    def block(self) -> str | None:
        """The block it is done to, if any."""

    def perform(self, hand: Puppet, clock: Clock) -> Iterator[None]:
        """Move the hand a little before each ``yield``; one step of time passes at each."""


@dataclass(frozen=True)
class Wait:
    """Keep still for some ``seconds``."""

    seconds: float
    name = "wait"
    block = None

    def perform(self, hand: Puppet, clock: Clock) -> Iterator[None]:
        """Do nothing."""
        for _ in clock(self.seconds):
            yield


@dataclass(frozen=True)
class Reach:
    """Go to a ``block`` and open the fingers on the way."""

    block: str
    name = "reach"

    def perform(self, hand: Puppet, clock: Clock) -> Iterator[None]:
        """Come down on it from above."""
        way, begin = hand.way_over(hand.grip_point(self.block)), hand.opening
        for time in clock(way.seconds):
            hand.place = way.at(time)
            hand.opening = glide(time, 0.0, way.seconds * 0.7, begin, hand.wide(self.block))
            yield


@dataclass(frozen=True)
class Grip:
    """Close the fingers on a ``block``; from then on the hand holds it."""

    block: str
    name = "grip"

    def perform(self, hand: Puppet, clock: Clock) -> Iterator[None]:
        """Close, hold, and wait a moment."""
        begin = hand.opening
        for time in clock(_CLOSING):
            hand.opening = glide(time, 0.0, _CLOSING, begin, hand.width(self.block))
            yield
        hand.physics.grip(self.block)
        for _ in clock(_HOLDING):
            yield


@dataclass(frozen=True)
class Lift:
    """Raise the ``block`` in the hand to ``goal``, metres from the table's middle."""

    block: str
    goal: tuple[float, float]
    name = "lift"

    def perform(self, hand: Puppet, clock: Clock) -> Iterator[None]:
        """Straight up first, then where it shall be."""
        goal = (self.goal[0], max(self.goal[1], hand.place[1] + 0.04))
        way = hand.way_over(goal)
        for time in clock(way.seconds):
            hand.place = way.at(time)
            yield


@dataclass(frozen=True)
class Carry:
    """Bring the ``block`` in the hand over its goal and lower it until it stands.

    Attributes:
        block: What is held.
        support: The block it shall stand on; None for the table.
        x: How far from the middle of ``support`` (or of the table) it shall stand, metres.
    """

    block: str
    support: str | None
    x: float
    name = "carry"

    def perform(self, hand: Puppet, clock: Clock) -> Iterator[None]:
        """Go over everything, then feel for the support."""
        way = hand.way_over(hand.above(self.block, self.support, self.x))
        for time in clock(way.seconds):
            hand.place = way.at(time)
            yield
        x, top = hand.place
        below = self.support or "table"
        for time in clock(_DEEPEST / _LOWERING):
            hand.place = (x, top - _LOWERING * time)
            yield
            if hand.physics.near(self.block, below) <= 0.0:
                break
        hand.place = (x, hand.place[1] - _PRESS)
        for _ in clock(_HOLDING):
            yield


@dataclass(frozen=True)
class Release:
    """Open the fingers and let go of the ``block``."""

    block: str
    name = "release"

    def perform(self, hand: Puppet, clock: Clock) -> Iterator[None]:
        """Let go at once, then open."""
        hand.physics.release()
        begin = hand.opening
        for time in clock(_CLOSING):
            hand.opening = glide(time, 0.0, _CLOSING, begin, hand.wide(self.block))
            yield


@dataclass(frozen=True)
class Retreat:
    """Go away to ``goal`` (metres) with an empty hand that relaxes."""

    goal: tuple[float, float]
    name = "retreat"
    block = None

    def perform(self, hand: Puppet, clock: Clock) -> Iterator[None]:
        """Up first, then away."""
        way, begin = hand.way_over(self.goal), hand.opening
        for time in clock(way.seconds):
            hand.place = way.at(time)
            hand.opening = glide(time, way.seconds * 0.4, way.seconds, begin, 0.05)
            yield
