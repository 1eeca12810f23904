"""The physics of the tabletop: blocks on a table, their contacts, and a hand that can hold one."""

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import pymunk

from wordsight.worlds.performance import GripPhysics
from wordsight.worlds.sketch import Point
from wordsight.worlds.tabletop.blocks import TABLE, Block

__all__ = ["BlockPhysics"]

_DENSITY = 45.0  # kilograms per square metre of front: solid wood, 7 cm deep
_SLOP = 0.0003  # metres by which resting blocks may overlap, so that their contact persists
_FAR = 0.01  # metres beyond which distances are not measured
_GRIP_FORCE = 40.0  # newtons; a hand gives way rather than push blocks through each other
_HAND = "hand"


class BlockPhysics(GripPhysics):
    """Blocks that rest, fall and are held.

    Args:
        blocks: The blocks.
        places: x and y of the middle of each block, in metres; y = 0 is the top of the table.

    Attributes:
        pairs: All pairs of things; the table comes second.
    """

    def __init__(self, blocks: Sequence[Block], places: Mapping[str, Point]) -> None:
        super().__init__(_SLOP)
        self._space.iterations = 30
        self._shapes: dict[str, pymunk.Shape] = {}
        table = self._add_floor(9.0, 0.5, friction=0.8)
        for block in blocks:
            self._add(block, places[block.name])
        self._shapes[TABLE] = table
        self._names = {shape: name for name, shape in self._shapes.items()}
        self._add_hands([_HAND])
        self._pushes: set[frozenset[str]] = set()
        self._space.on_collision(None, None, post_solve=self._note_push)
        self.pairs = tuple(combinations(self._shapes, 2))

    @property
    def held(self) -> str | None:
        """Name of the block in the hand, if any."""
        return next(iter(self.holders), None)

    def put_hand(self, position: Point) -> None:
        """Put the hand somewhere at once, before the film begins."""
        self.place_hand(_HAND, position)

    def move_hand(self, goal: Point, seconds: float) -> None:
        """Let time pass while the hand moves to a place."""
        self.step({_HAND: goal}, seconds)

    def grip(self, name: str) -> None:
        """Hold a block where the hand is now."""
        hand, body = self._hands[_HAND], self._bodies[name]
        pivot = pymunk.PivotJoint(hand, body, hand.position)
        pivot.max_force = _GRIP_FORCE
        self._hold(_HAND, name, pivot, (-body.angle, body.moment * 40.0**2, body.moment * 30.0))

    def distance(self, one: str, other: str) -> float:
        """Return the metres between the outlines of two things: at most 1 cm, 0 at a contact."""
        shape, against = self._shapes[one], self._shapes[other]
        box = shape.bb
        near = pymunk.BB(box.left - _FAR, box.bottom - _FAR, box.right + _FAR, box.top + _FAR)
        if not near.intersects(against.bb):
            return _FAR
        return min(_least(shape, against), _least(against, shape), _FAR)

    def contacts(self) -> tuple[list[bool], list[float]]:
        """Return for each pair whether the two pushed each other since the last call, and metres.

        The metres are those between their outlines now, below 0 if they overlap.
        """
        pushes, self._pushes = self._pushes, set()
        pushed = [frozenset(pair) in pushes for pair in self.pairs]
        return pushed, [self.distance(*pair) for pair in self.pairs]

    def _add(self, block: Block, place: Point) -> None:
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


def _least(shape: pymunk.Shape, against: pymunk.Shape) -> float:
    """Return the least distance of the corners of one shape from another shape."""
    if not isinstance(shape, pymunk.Poly) or shape.body is None:
        return _FAR
    corners = map(shape.body.local_to_world, shape.get_vertices())
    return min(float(against.point_query(corner).distance) for corner in corners)
