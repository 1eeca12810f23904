"""The physics of the tabletop: blocks under gravity on a table, and a hand that can hold one."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import pymunk
from numpy.typing import NDArray

from wordsight.worlds.tabletop.blocks import Block

__all__ = ["TABLE", "BlockPhysics", "Touch"]

TABLE = "table"
"""What the table is called among the things that blocks touch."""

_GRAVITY = -9.81  # metres per second squared
_DENSITY = 45.0  # kilograms per square metre of front: solid wood, 7 cm deep
_SLOP = 0.0003  # metres by which resting blocks may overlap, so that their contact persists
_FAR = 0.01  # metres beyond which distances are not measured
_GRIP_FORCE = 40.0  # newtons; a hand gives way rather than push blocks through each other


@dataclass(frozen=True)
class Touch:
    """How two things were to each other during one frame.

    Attributes:
        pushed: Whether the physics engine had them push each other.
        distance: Metres between their outlines at the end; at most 1 cm, below 0 if they overlap.
    """

    pushed: bool
    distance: float


class BlockPhysics:
    """Blocks that rest, fall and are held.

    Args:
        blocks: The blocks.
        places: x and y of the middle of each block, in metres; y = 0 is the top of the table.
    """

    def __init__(self, blocks: Sequence[Block], places: Mapping[str, tuple[float, float]]) -> None:
        self._space = pymunk.Space(threaded=False)
        self._space.gravity = (0.0, _GRAVITY)
        self._space.collision_slop = _SLOP
        self._space.iterations = 30
        table = pymunk.Segment(self._space.static_body, (-9.0, -0.5), (9.0, -0.5), 0.5)
        table.friction = 0.8
        self._space.add(table)
        self._shapes: dict[str, pymunk.Shape] = {}
        self._bodies: dict[str, pymunk.Body] = {}
        for block in blocks:
            self._add(block, places[block.name])
        self._shapes[TABLE] = table
        self._names = {shape: name for name, shape in self._shapes.items()}
        self._hand = pymunk.Body(body_type=pymunk.Body.KINEMATIC)
        self._space.add(self._hand)
        self._grip: list[pymunk.Constraint] = []
        self._pushes: set[frozenset[str]] = set()
        self._space.on_collision(None, None, post_solve=self._note_push)
        self.held: str | None = None

    def put_hand(self, position: tuple[float, float]) -> None:
        """Put the hand somewhere at once, before the film begins."""
        self._hand.position = position

    def grip(self, name: str) -> None:
        """Hold a block where the hand is now."""
        body = self._bodies[name]
        pivot = pymunk.PivotJoint(self._hand, body, self._hand.position)
        pivot.max_force = _GRIP_FORCE
        stiffness, damping = body.moment * 40.0**2, body.moment * 30.0
        spring = pymunk.DampedRotarySpring(self._hand, body, -body.angle, stiffness, damping)
        self._grip = [pivot, spring]
        self._space.add(*self._grip)
        self.held = name

    def release(self) -> None:
        """Let go of what is held."""
        self._space.remove(*self._grip)
        self._grip, self.held = [], None

    def step(self, hand: tuple[float, float], seconds: float) -> None:
        """Let time pass while the hand moves to a place."""
        # What is held is pulled by the hand's speed, so it must arrive by moving.
        self._hand.velocity = (pymunk.Vec2d(*hand) - self._hand.position) / seconds
        self._space.step(seconds)

    def place(self, name: str) -> tuple[float, float, float]:
        """Return x and y of the middle of a block and its angle in radians."""
        body = self._bodies[name]
        return float(body.position.x), float(body.position.y), float(body.angle)

    def places(self) -> NDArray[np.float64]:
        """Return ``(M, 3)`` x, y of the middle and angle of all blocks, in order."""
        return np.array([self.place(name) for name in self._bodies])

    def near(self, one: str, other: str) -> float:
        """Return the metres between the outlines of two things, at most 1 cm."""
        shape, against = self._shapes[one], self._shapes[other]
        if not _grown(shape.bb, _FAR).intersects(against.bb):
            return _FAR
        return min(_least(shape, against), _least(against, shape), _FAR)

    def touches(self) -> dict[tuple[str, str], Touch]:
        """Return how each pair of things was since the last call; the table comes second."""
        pushes, self._pushes = self._pushes, set()
        return {
            (one, other): Touch(frozenset((one, other)) in pushes, self.near(one, other))
            for one, other in combinations(self._shapes, 2)
        }

    def _add(self, block: Block, place: tuple[float, float]) -> None:
        mass = _DENSITY * block.width * block.height
        size = (block.width, block.height)
        body = pymunk.Body(mass, pymunk.moment_for_box(mass, size))
        body.position = place
        shape = pymunk.Poly.create_box(body, size)
        shape.friction = 0.8
        self._space.add(body, shape)
        self._bodies[block.name], self._shapes[block.name] = body, shape

    def _note_push(self, arbiter: pymunk.Arbiter, space: pymunk.Space, data: Any) -> None:
        if arbiter.total_impulse.length > 0:
            self._pushes.add(frozenset(self._names[shape] for shape in arbiter.shapes))


def _grown(box: pymunk.BB, margin: float) -> pymunk.BB:
    return pymunk.BB(box.left - margin, box.bottom - margin, box.right + margin, box.top + margin)


def _least(shape: pymunk.Shape, against: pymunk.Shape) -> float:
    """Return the least distance of the corners of one shape from another shape."""
    if not isinstance(shape, pymunk.Poly) or shape.body is None:
        return _FAR
    corners = map(shape.body.local_to_world, shape.get_vertices())
    return min(float(against.point_query(corner).distance) for corner in corners)
