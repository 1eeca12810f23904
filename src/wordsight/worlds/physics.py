"""`GripPhysics`: things under gravity, and hands that hold them by joints."""

from collections.abc import Iterable, Mapping

import numpy as np
import pymunk
from numpy.typing import NDArray

from wordsight.worlds.sketch import Point

__all__ = ["GripPhysics"]

_GRAVITY = -9.81  # metres per second squared


class GripPhysics:
    """Bodies that rest, fall and are held.

    Args:
        slop: Metres by which resting bodies may overlap; the engine's default is meant for pixels.

    Attributes:
        holders: Name of the hand that holds each thing, for the things that are held.
    """

    def __init__(self, slop: float) -> None:
        self._space = pymunk.Space()
        self._space.gravity = (0.0, _GRAVITY)
        self._space.collision_slop = slop
        self._bodies: dict[str, pymunk.Body] = {}
        self._hands: dict[str, pymunk.Body] = {}
        self._joints: dict[str, list[pymunk.Constraint]] = {}
        self.holders: dict[str, str] = {}

    def _add_floor(self, half_width: float, thickness: float, friction: float) -> pymunk.Segment:
        ends = (-half_width, -thickness), (half_width, -thickness)
        floor = pymunk.Segment(self._space.static_body, *ends, thickness)
        floor.friction = friction
        self._space.add(floor)
        return floor

    def _add_hands(self, names: Iterable[str]) -> None:
        for name in names:
            self._hands[name] = pymunk.Body(body_type=pymunk.Body.KINEMATIC)
            self._space.add(self._hands[name])

    def _hold(
        self,
        hand: str,
        thing: str,
        pivot: pymunk.PivotJoint,
        rest_angle: float,
        moment: float,
        stiffness: float,
        damping: float,
    ) -> None:
        """Join a thing to a hand: a pivot carries it, a spring of a frequency keeps it upright."""
        spring = pymunk.DampedRotarySpring(
            self._hands[hand],
            self._bodies[thing],
            rest_angle,
            moment * stiffness**2,
            moment * damping,
        )
        self._joints[thing] = [pivot, spring]
        self.holders[thing] = hand
        self._space.add(pivot, spring)

    def release(self, thing: str) -> None:
        """Let go of a thing; it falls."""
        self._space.remove(*self._joints.pop(thing))
        del self.holders[thing]

    def place_hand(self, name: str, position: Point) -> None:
        """Put a hand somewhere at once, before the film begins."""
        self._hands[name].position = position

    def step(self, hands: Mapping[str, Point], seconds: float) -> None:
        """Let time pass while hands move to the given places."""
        for name, goal in hands.items():
            hand = self._hands[name]
            # Held things are pulled by the hand's speed, so it must arrive by moving.
            hand.velocity = (pymunk.Vec2d(*goal) - hand.position) / seconds
        self._space.step(seconds)

    def place(self, name: str) -> tuple[float, float, float]:
        """Return x and y of a thing's origin and its angle in radians."""
        body = self._bodies[name]
        return float(body.position.x), float(body.position.y), float(body.angle)

    def places(self) -> NDArray[np.float64]:
        """Return ``(M, 3)`` x, y and angle of all things, in order."""
        return np.array([self.place(name) for name in self._bodies])
