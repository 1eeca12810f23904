"""What the hand can do: each act moves it step by step, and physics does the rest."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol

from wordsight.worlds.tabletop.puppet import Puppet
from wordsight.worlds.timing import glide

__all__ = ["Act", "Carry", "Grip", "Lift", "Reach", "Release", "Retreat", "Wait"]

_CLOSING = 0.24  # seconds the fingers need to close or open
_HOLDING = 0.16  # seconds between closing the hand and moving it, and between standing and opening
_LOWERING = 0.06  # metres per second while feeling for the support
_PRESS = 0.0004  # metres a hand goes on when the block in it has reached its support
_DEEPEST = 0.03  # metres one goes on feeling for a support

Clock = Callable[[float], Iterator[float]]
"""Counts the steps of some seconds: yields the time since the beginning, after each step."""


class Act(Protocol):
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
