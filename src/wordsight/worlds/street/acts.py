"""What people do, step by step, and the physics of the things they hold.

The guide to worlds shows how to add an act.
"""

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import pymunk

from wordsight.worlds.performance import (
    Act,
    Clock,
    GripPhysics,
    cruise,
    cruise_time,
    glide,
    idle,
    overshoot,
    smooth,
)
from wordsight.worlds.sketch import Point
from wordsight.worlds.street.people import Pose
from wordsight.worlds.street.things import Prop

__all__ = [
    "REACH",
    "Actor",
    "StreetAct",
    "StreetPhysics",
    "pick_up",
    "put_down",
    "turn",
    "wait",
    "walk",
]

REACH = 0.46  # metres before the body at which things are taken and put down
_CARRYING = 0.38  # metres before the body at which things are carried
_LIFT = 0.45  # metres by which a thing is lifted
_HANGING = 0.5  # swing from which one hand is enough
_GRASP = 0.12  # seconds the fingers need to close or open
_TURNING = 0.35  # seconds to turn round
_LET_FALL = 0.03  # metres above the ground at which a thing is let go
_MOST_STIFFNESS = 18.0  # radians per second; how firmly hands keep a thing upright
_DAMPING = 8.0  # per second; how soon a thing stops swinging
_GROUND, _STANDING, _HELD = 1, 2, 4  # collision categories


class StreetPhysics(GripPhysics):
    """Things that fall, rest and hang from hands.

    Args:
        props: The things; they must be put somewhere with :meth:`stand` or :meth:`grip`.
        people: Names of those who have hands.

    Attributes:
        props: The things by name.
    """

    def __init__(self, props: Iterable[Prop], people: Iterable[str]) -> None:
        super().__init__(slop=0.002)
        ground = self._add_floor(50.0, 1.0, friction=0.9)
        ground.elasticity = 0.25
        ground.filter = pymunk.ShapeFilter(categories=_GROUND)
        self.props = {prop.name: prop for prop in props}
        for name, prop in self.props.items():
            self._bodies[name] = self._solid(prop)
        self._add_hands(people)

    def stand(self, name: str, x: float) -> None:
        """Put a thing on the ground with its middle at ``x``."""
        self._bodies[name].position = (x, 0.0)

    def grip(self, person: str, name: str, *, hanging: bool = False) -> None:
        """Let a person take hold of a thing where the hand is.

        A ``hanging`` thing is put into the hand first, as at the beginning of a film.
        """
        hand, body, prop = self._hands[person], self._bodies[name], self.props[name]
        if hanging:
            body.position = hand.position - (0.0, prop.grip)
            body.velocity, body.angle = (0.0, 0.0), 0.0
        pivot = pymunk.PivotJoint(hand, body, (0.0, 0.0), (0.0, prop.grip))
        # What swings, swings around the hand, not around its own middle.
        moment = body.moment + body.mass * (prop.grip - body.center_of_gravity.y) ** 2
        stiffness = _MOST_STIFFNESS * (1.0 - 0.8 * prop.thing.swing)
        self._hold(person, name, pivot, (0.0, moment * stiffness**2, moment * _DAMPING))
        # A held thing passes in front of the others; the ground always counts.
        self._collide(name, _HELD, _GROUND)

    def release(self, thing: str) -> None:
        """Let go of a thing; it falls."""
        super().release(thing)
        self._collide(thing, _STANDING, _GROUND | _STANDING)

    def grip_point(self, name: str) -> Point:
        """Return where hands would take a thing now."""
        point = self._bodies[name].local_to_world((0.0, self.props[name].grip))
        return float(point.x), float(point.y)

    def _solid(self, prop: Prop) -> pymunk.Body:
        mass, height = prop.thing.mass, prop.height
        body = pymunk.Body(mass, mass * (prop.width**2 + height**2) / 12.0)
        body.center_of_gravity = (0.0, 0.42 * height)
        self._space.add(body)
        for part in prop.solids():
            shape = pymunk.Poly(body, [(float(x), float(y)) for x, y in part], radius=0.002)
            shape.friction, shape.elasticity = 0.9, 0.15
            shape.filter = pymunk.ShapeFilter(categories=_STANDING, mask=_GROUND | _STANDING)
            self._space.add(shape)
        return body

    def _collide(self, name: str, category: int, mask: int) -> None:
        for shape in self._bodies[name].shapes:
            shape.filter = pymunk.ShapeFilter(categories=category, mask=mask)


class Actor(Pose):
    """A person whose pose changes step by step, among things that physics moves."""

    def __init__(self, name: str, x: float, facing: float, physics: StreetPhysics) -> None:
        super().__init__(x, facing, reach=(x, 0.0))
        self.name = name
        self.physics = physics
        self.holding: str | None = None  # name of the thing in the hands

    def needs_both_hands(self, thing: str) -> bool:
        """Whether a thing is carried with two hands; what swings hangs from one."""
        return self.physics.props[thing].thing.swing < _HANGING

    def take(self, thing: str) -> None:
        """Have a thing in the hands from now on."""
        self.holding, self.reaching = thing, 1.0
        self.both_hands = self.needs_both_hands(thing)

    def carrying_point(self) -> Point:
        """Return where the hand carries what it holds, swaying a little with the steps."""
        grip = self.physics.props[self.holding].grip if self.holding else 0.0
        sway = 0.02 * math.cos(4 * math.pi * self.phase) * min(self.stride, 1.0)
        return self.x + self.facing * _CARRYING, grip + _LIFT + sway

    def settle(self) -> None:
        """Keep what is carried with the body; called after every step of an act."""
        if self.holding and self.crouch == 0.0:
            self.reach = self.carrying_point()


@dataclass(frozen=True)
class StreetAct(Act[Actor]):
    """Something a person does for a while."""

    seconds: Callable[[float], float]  # how long it takes for someone who stands at x
    goal: float | None = None  # where someone stands afterwards; None for the same place

    def leads_to(self, x: float) -> float:
        """Return where someone stands afterwards who stood at ``x``."""
        return x if self.goal is None else self.goal


def wait(duration: float) -> StreetAct:
    """Stand still for some seconds."""
    return StreetAct("wait", None, idle(duration), lambda x: duration)


def turn(facing: int) -> StreetAct:
    """Turn to ``facing``: 1 right, -1 left."""

    def perform(actor: Actor, clock: Clock) -> Iterator[None]:
        begin = actor.facing
        for time in clock(_TURNING):
            actor.facing = glide(time, 0.0, _TURNING, begin, float(facing))
            yield
        actor.facing = float(facing)

    return StreetAct("turn", None, perform, lambda x: _TURNING)


def walk(goal: float, speed: float, acceleration: float) -> StreetAct:
    """Walk to ``goal`` (metres) at top ``speed``, with what one holds."""

    def seconds(x: float) -> float:
        return cruise_time(goal - x, speed, acceleration)

    def perform(actor: Actor, clock: Clock) -> Iterator[None]:
        begin, before = actor.x, 0.0
        distance = goal - begin
        full_stride = 0.62 + 0.46 * speed  # metres; people who hurry take longer steps
        for time in clock(seconds(begin)):
            way = cruise(time, distance, speed, acceleration)
            ahead = cruise(time + 1e-3, distance, speed, acceleration)
            actor.x = begin + way
            actor.speed = abs(ahead - way) / 1e-3
            actor.stride = full_stride * smooth(actor.speed / (0.5 * speed))
            # The gait follows the way, so that feet do not slide.
            actor.phase += abs(way - before) / full_stride
            before = way
            yield
        actor.x, actor.speed, actor.stride = goal, 0.0, 0.0

    return StreetAct("walk", None, perform, seconds, goal)


def pick_up(thing: str, down: float, up: float) -> StreetAct:
    """Bend ``down`` to a thing (seconds), take it, and rise with it: lift too far and settle."""

    def perform(actor: Actor, clock: Clock) -> Iterator[None]:
        actor.both_hands = actor.needs_both_hands(thing)
        actor.reach = actor.physics.grip_point(thing)
        for time in clock(down):
            actor.reaching = actor.crouch = smooth(time / down)
            yield
        yield from idle(_GRASP)(actor, clock)
        actor.physics.place_hand(actor.name, actor.reach)
        actor.physics.grip(actor.name, thing)
        actor.take(thing)
        low = actor.reach
        for time in clock(up):
            actor.crouch = 1.0 - smooth(time / up)
            actor.reach = _between(low, actor.carrying_point(), overshoot(time / up, 0.06))
            yield
        actor.crouch = 0.0

    return StreetAct("pick-up", thing, perform, lambda x: down + _GRASP + up)


def put_down(thing: str, down: float, up: float) -> StreetAct:
    """Bend ``down`` with the thing one holds (seconds), let it go, and rise empty-handed."""

    def perform(actor: Actor, clock: Clock) -> Iterator[None]:
        low = (actor.x + actor.facing * REACH, actor.physics.props[thing].grip + _LET_FALL)
        high = actor.reach
        for time in clock(down):
            actor.crouch = smooth(time / down)
            actor.reach = _between(high, low, actor.crouch)
            yield
        actor.physics.release(thing)
        actor.holding = None
        yield from idle(_GRASP)(actor, clock)
        for time in clock(up):
            actor.reaching = actor.crouch = 1.0 - smooth(time / up)
            yield
        actor.reaching = actor.crouch = 0.0

    return StreetAct("put-down", thing, perform, lambda x: down + _GRASP + up)


def _between(one: Point, other: Point, share: float) -> Point:
    return one[0] + (other[0] - one[0]) * share, one[1] + (other[1] - one[1]) * share
