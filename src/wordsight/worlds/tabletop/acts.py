"""What the hand does: each act moves it step by step, and physics does the rest."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wordsight.worlds.acts import Act, Clock
from wordsight.worlds.sketch import Point
from wordsight.worlds.tabletop.blocks import TABLE, Block
from wordsight.worlds.tabletop.hand import TabletopPose
from wordsight.worlds.tabletop.physics import BlockPhysics
from wordsight.worlds.timing import glide, smooth

__all__ = ["Carry", "Grip", "HandAct", "Lift", "Puppet", "Reach", "Release", "Retreat"]

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
    """A way through the air with rounded corners, travelled at natural speed.

    Args:
        points: Corners in metres, from the beginning to the goal.
        speed: Mean speed in metres per second.
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
        """Return the position some seconds after the start."""
        along = smooth(time / self.seconds) * self._lengths[-1]
        x, y = (float(np.interp(along, self._lengths, self._corners[:, k])) for k in (0, 1))
        return x, y


def _cut(corners: NDArray[np.float64]) -> NDArray[np.float64]:
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


@dataclass(frozen=True)
class Reach:
    """Go to a block and open the fingers on the way."""

    thing: str
    name = "reach"

    def perform(self, actor: Puppet, clock: Clock) -> Iterator[None]:
        """Come down on it from above."""
        begin, wide = actor.opening, actor.width(self.thing) + _WIDE
        for time, total in actor.go(actor.grip_point(self.thing), clock):
            actor.opening = glide(time, 0.0, total * 0.7, begin, wide)
            yield


@dataclass(frozen=True)
class Grip:
    """Close the fingers on a block; from then on the hand holds it."""

    thing: str
    name = "grip"

    def perform(self, actor: Puppet, clock: Clock) -> Iterator[None]:
        """Close, hold, and wait a moment."""
        yield from actor.open_to(actor.width(self.thing), clock)
        actor.physics.grip(self.thing)
        for _ in clock(_HOLDING):
            yield


@dataclass(frozen=True)
class Lift:
    """Raise the block in the hand to ``goal``, metres from the table's middle."""

    thing: str
    goal: Point
    name = "lift"

    def perform(self, actor: Puppet, clock: Clock) -> Iterator[None]:
        """Straight up first, then to the goal."""
        goal = (self.goal[0], max(self.goal[1], actor.place[1] + 0.04))
        for _ in actor.go(goal, clock):
            yield


@dataclass(frozen=True)
class Carry:
    """Bring the block in the hand over its goal and lower it until it stands."""

    thing: str
    support: str | None  # the block it shall stand on; None for the table
    x: float  # metres from the middle of the support (or of the table)
    name = "carry"

    def perform(self, actor: Puppet, clock: Clock) -> Iterator[None]:
        """Go over everything, then feel for the support."""
        for _ in actor.go(actor.above(self.thing, self.support, self.x), clock):
            yield
        x, top = actor.place
        for time in clock(_DEEPEST / _LOWERING):
            actor.place = (x, top - _LOWERING * time)
            yield
            if actor.physics.distance(self.thing, self.support or TABLE) <= 0.0:
                break
        actor.place = (x, actor.place[1] - _PRESS)
        for _ in clock(_HOLDING):
            yield


@dataclass(frozen=True)
class Release:
    """Open the fingers and let go of a block."""

    thing: str
    name = "release"

    def perform(self, actor: Puppet, clock: Clock) -> Iterator[None]:
        """Let go at once, then open."""
        actor.physics.release(self.thing)
        yield from actor.open_to(actor.width(self.thing) + _WIDE, clock)


@dataclass(frozen=True)
class Retreat:
    """Go away to ``goal`` (metres) with an empty hand that relaxes."""

    goal: Point
    name = "retreat"
    thing = None

    def perform(self, actor: Puppet, clock: Clock) -> Iterator[None]:
        """Up first, then away."""
        begin = actor.opening
        for time, total in actor.go(self.goal, clock):
            actor.opening = glide(time, total * 0.4, total, begin, 0.05)
            yield
