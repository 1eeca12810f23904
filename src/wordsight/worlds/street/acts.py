"""What people do: each act moves a person step by step and says how long it takes.

An act is a small class with three methods; the guide to worlds shows how to add one.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Protocol

from wordsight.worlds.acts import Act, Clock
from wordsight.worlds.sketch import Point
from wordsight.worlds.street.people import Pose
from wordsight.worlds.street.physics import StreetPhysics
from wordsight.worlds.street.things import Prop
from wordsight.worlds.timing import cruise, cruise_time, glide, overshoot, smooth

__all__ = ["REACH", "Actor", "PickUp", "PutDown", "StreetAct", "Turn", "Walk"]

REACH = 0.46  # metres before the body at which things are taken and put down
_CARRYING = 0.38  # metres before the body at which things are carried
_LIFT = 0.45  # metres by which a thing is lifted
_HANGING = 0.5  # swing from which one hand is enough
_GRASP = 0.12  # seconds the fingers need to close or open
_TURNING = 0.35  # seconds to turn round
_LET_FALL = 0.03  # metres above the ground at which a thing is let go


class Actor:
    """The changing state of one person; the attributes are those of `Pose`.

    Args:
        name: Name of the person.
        x: Position in metres.
        facing: 1 looks right, -1 left.
        props: All things of the film by name.
        physics: The physics that moves them.

    Attributes:
        holding: Name of the thing in the hands, or None.
    """

    def __init__(
        self,
        name: str,
        x: float,
        facing: float,
        props: Mapping[str, Prop],
        physics: StreetPhysics,
    ) -> None:
        self.name = name
        self.x = x
        self.facing = facing
        self.physics = physics
        self._props = props
        self.crouch = self.phase = self.stride = self.speed = self.reaching = 0.0
        self.reach = (x, 0.0)
        self.both_hands = False
        self.holding: str | None = None

    def needs_both_hands(self, thing: str) -> bool:
        """Whether a thing is carried with two hands; what swings hangs from one."""
        return self._props[thing].thing.swing < _HANGING

    def take(self, thing: str) -> None:
        """Have a thing in the hands from now on."""
        self.holding, self.reaching = thing, 1.0
        self.both_hands = self.needs_both_hands(thing)

    def carrying_point(self) -> Point:
        """Return where the hand carries what it holds, swaying a little with the steps."""
        grip = self._props[self.holding].grip if self.holding else 0.0
        sway = 0.02 * math.cos(4 * math.pi * self.phase) * min(self.stride, 1.0)
        return self.x + self.facing * _CARRYING, grip + _LIFT + sway

    def ground_point(self, thing: str, above: float) -> Point:
        """Return where the hand is when ``thing`` is ``above`` the ground before the feet."""
        return self.x + self.facing * REACH, self._props[thing].grip + above

    def settle(self) -> None:
        """Keep what is carried with the body; called after every step of an act."""
        if self.holding and self.crouch == 0.0:
            self.reach = self.carrying_point()

    def pose(self) -> Pose:
        """Return the present pose."""
        gait = (self.crouch, self.phase, self.stride, self.speed)
        return Pose(self.x, self.facing, *gait, self.reach, self.reaching, self.both_hands)


class StreetAct(Act[Actor], Protocol):
    """Something a person does for a while."""

    def seconds(self, x: float) -> float:
        """Return how long it takes for someone who stands at ``x``."""

    def leads_to(self, x: float) -> float:
        """Return where someone stands afterwards who stood at ``x``."""


class _OnTheSpot:
    def leads_to(self, x: float) -> float:
        """Stay at ``x``."""
        return x


@dataclass(frozen=True)
class Turn(_OnTheSpot):
    """Turn to ``facing``: 1 right, -1 left."""

    facing: int
    name = "turn"
    thing = None

    def seconds(self, x: float) -> float:
        """Return how long turning takes."""
        return _TURNING

    def perform(self, actor: Actor, clock: Clock) -> Iterator[None]:
        """Turn smoothly."""
        begin = actor.facing
        for time in clock(_TURNING):
            actor.facing = glide(time, 0.0, _TURNING, begin, float(self.facing))
            yield
        actor.facing = float(self.facing)


@dataclass(frozen=True)
class Walk:
    """Walk to ``goal`` (metres) at top ``speed``, with what one holds."""

    goal: float
    speed: float  # metres per second
    acceleration: float  # metres per second squared, at the start and at the end
    name = "walk"
    thing = None

    def seconds(self, x: float) -> float:
        """Return the time from standing to standing."""
        return cruise_time(self.goal - x, self.speed, self.acceleration)

    def leads_to(self, x: float) -> float:
        """Arrive at the goal."""
        return self.goal

    def perform(self, actor: Actor, clock: Clock) -> Iterator[None]:
        """Walk; the gait follows the way, so that feet do not slide."""
        begin, before = actor.x, 0.0
        distance = self.goal - begin
        full_stride = 0.62 + 0.46 * self.speed  # metres; people who hurry take longer steps
        for time in clock(self.seconds(begin)):
            way = cruise(time, distance, self.speed, self.acceleration)
            ahead = cruise(time + 1e-3, distance, self.speed, self.acceleration)
            actor.x = begin + way
            actor.speed = abs(ahead - way) / 1e-3
            actor.stride = full_stride * smooth(actor.speed / (0.5 * self.speed))
            actor.phase += abs(way - before) / full_stride
            before = way
            yield
        actor.x, actor.speed, actor.stride = self.goal, 0.0, 0.0


@dataclass(frozen=True)
class _Bending(_OnTheSpot):
    thing: str
    down: float  # seconds to bend
    up: float  # seconds to rise

    def seconds(self, x: float) -> float:
        """Return the time from upright to upright."""
        return self.down + _GRASP + self.up


@dataclass(frozen=True)
class PickUp(_Bending):
    """Bend down to a thing, take it and rise with it."""

    name = "pick-up"

    def perform(self, actor: Actor, clock: Clock) -> Iterator[None]:
        """Reach for the grip, close the hand, lift a little too far and settle."""
        actor.both_hands = actor.needs_both_hands(self.thing)
        actor.reach = actor.physics.grip_point(self.thing)
        for time in clock(self.down):
            actor.reaching = actor.crouch = smooth(time / self.down)
            yield
        for _ in clock(_GRASP):
            yield
        actor.physics.place_hand(actor.name, actor.reach)
        actor.physics.grip(actor.name, self.thing)
        actor.take(self.thing)
        low = actor.reach
        for time in clock(self.up):
            actor.crouch = 1.0 - smooth(time / self.up)
            actor.reach = _between(low, actor.carrying_point(), overshoot(time / self.up, 0.06))
            yield
        actor.crouch = 0.0


@dataclass(frozen=True)
class PutDown(_Bending):
    """Bend down with the thing one holds, let it go and rise."""

    name = "put-down"

    def perform(self, actor: Actor, clock: Clock) -> Iterator[None]:
        """Lower the thing almost to the ground, open the hand, rise empty-handed."""
        high, low = actor.reach, actor.ground_point(self.thing, _LET_FALL)
        for time in clock(self.down):
            actor.crouch = smooth(time / self.down)
            actor.reach = _between(high, low, actor.crouch)
            yield
        actor.physics.release(self.thing)
        actor.holding = None
        for _ in clock(_GRASP):
            yield
        for time in clock(self.up):
            actor.reaching = actor.crouch = 1.0 - smooth(time / self.up)
            yield
        actor.reaching = actor.crouch = 0.0


def _between(one: Point, other: Point, share: float) -> Point:
    return one[0] + (other[0] - one[0]) * share, one[1] + (other[1] - one[1]) * share
