"""The physics of the street: things under gravity on the ground, and hands that hold them."""

from collections.abc import Iterable

import numpy as np
import pymunk
from numpy.typing import NDArray

from wordsight.worlds.street.things.thing import Prop

__all__ = ["StreetPhysics"]

_GRAVITY = -9.81  # metres per second squared
_MOST_STIFFNESS = 18.0  # radians per second; how firmly hands keep a thing upright
_DAMPING = 8.0  # per second; how soon a thing stops swinging
_GROUND, _STANDING, _HELD = 1, 2, 4  # collision categories


class StreetPhysics:
    """Things that fall, rest and hang from hands.

    Args:
        props: The things; they must be put somewhere with :meth:`stand` or :meth:`grip`.
        people: Names of those who have hands.
    """

    def __init__(self, props: Iterable[Prop], people: Iterable[str]) -> None:
        self._space = pymunk.Space()
        self._space.gravity = (0.0, _GRAVITY)
        self._space.collision_slop = 0.002  # metres; the default is meant for pixels
        ground = pymunk.Segment(self._space.static_body, (-50.0, -1.0), (50.0, -1.0), 1.0)
        ground.friction, ground.elasticity = 0.9, 0.25
        ground.filter = pymunk.ShapeFilter(categories=_GROUND)
        self._space.add(ground)
        self._props = {prop.name: prop for prop in props}
        self._bodies = {name: self._solid(prop) for name, prop in self._props.items()}
        self._hands = {name: self._hand() for name in people}
        self._joints: dict[str, list[pymunk.Constraint]] = {}
        self._holders: dict[str, str] = {}

    def stand(self, name: str, x: float) -> None:
        """Put a thing on the ground with its middle at ``x``."""
        self._bodies[name].position = (x, 0.0)

    def grip(self, person: str, name: str, *, hanging: bool = False) -> None:
        """Let a person take hold of a thing where the hand is.

        Args:
            person: Who.
            name: What.
            hanging: Whether the thing is put into the hand first, as at the beginning of a film.
        """
        hand, body, prop = self._hands[person], self._bodies[name], self._props[name]
        if hanging:
            body.position = hand.position - (0.0, prop.grip)
            body.velocity, body.angle = (0.0, 0.0), 0.0
        pivot = pymunk.PivotJoint(hand, body, (0.0, 0.0), (0.0, prop.grip))
        # What swings, swings around the hand, not around its own middle.
        moment = body.moment + body.mass * (prop.grip - body.center_of_gravity.y) ** 2
        stiffness = moment * (_MOST_STIFFNESS * (1.0 - 0.8 * prop.thing.swing)) ** 2
        damping = moment * _DAMPING
        spring = pymunk.DampedRotarySpring(hand, body, 0.0, stiffness, damping)
        self._joints[name] = [pivot, spring]
        self._holders[name] = person
        self._space.add(pivot, spring)
        self._collide(name, _HELD, _GROUND)

    def release(self, name: str) -> None:
        """Let go of a thing; it falls."""
        self._space.remove(*self._joints.pop(name))
        del self._holders[name]
        self._collide(name, _STANDING, _GROUND | _STANDING)

    def holder_of(self, name: str) -> str | None:
        """Return who holds a thing, if anyone does."""
        return self._holders.get(name)

    def place_hand(self, person: str, position: tuple[float, float]) -> None:
        """Put a hand somewhere at once, before the film begins."""
        self._hands[person].position = position

    def step(self, hands: dict[str, tuple[float, float]], seconds: float) -> None:
        """Let time pass while hands move to the given places."""
        for name, goal in hands.items():
            hand = self._hands[name]
            # Held things are pulled by the hand's speed, so it must arrive by moving.
            hand.velocity = (pymunk.Vec2d(*goal) - hand.position) / seconds
        self._space.step(seconds)

    def grip_point(self, name: str) -> tuple[float, float]:
        """Return where hands would take a thing now."""
        point = self._bodies[name].local_to_world((0.0, self._props[name].grip))
        return float(point.x), float(point.y)

    def places(self) -> NDArray[np.float64]:
        """Return ``(M, 3)`` x, y of the foot and angle in radians of all things, in order."""
        return np.array([(*body.position, body.angle) for body in self._bodies.values()])

    def _solid(self, prop: Prop) -> pymunk.Body:
        mass, height = prop.thing.mass, prop.height
        body = pymunk.Body(mass, mass * (prop.width**2 + height**2) / 12.0)
        body.center_of_gravity = (0.0, 0.42 * height)
        self._space.add(body)
        for part in prop.solids():
            shape = pymunk.Poly(body, [(float(x), float(y)) for x, y in part], radius=0.002)
            shape.friction, shape.elasticity = 0.9, 0.15
            shape.filter = pymunk.ShapeFilter(
                group=0, categories=_STANDING, mask=_GROUND | _STANDING
            )
            self._space.add(shape)
        return body

    def _hand(self) -> pymunk.Body:
        hand = pymunk.Body(body_type=pymunk.Body.KINEMATIC)
        self._space.add(hand)
        return hand

    def _collide(self, name: str, category: int, mask: int) -> None:
        # A held thing passes in front of the others; the ground always counts.
        for shape in self._bodies[name].shapes:
            shape.filter = pymunk.ShapeFilter(categories=category, mask=mask)
