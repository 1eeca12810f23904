"""The physics of the street: things on the ground, and the hands of people that carry them."""

from collections.abc import Iterable

import pymunk

from wordsight.worlds.performance import GripPhysics
from wordsight.worlds.sketch import Point
from wordsight.worlds.street.things import Prop

__all__ = ["StreetPhysics"]

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
