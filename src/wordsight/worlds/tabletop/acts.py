"""The hand of the tabletop and the physics of its blocks: acts, and the events made of them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import pymunk

from wordsight.worlds.checks import Registry, Rng
from wordsight.worlds.painter import Floats
from wordsight.worlds.performance import Act, Clock, GripPhysics, glide, idle, smooth
from wordsight.worlds.sketch import Point
from wordsight.worlds.tabletop.things import AGENT, TABLE, Block, Room, TabletopPose

__all__ = [
    "EVENTS",
    "BlockPhysics",
    "HandAct",
    "Puppet",
    "SupportChange",
    "TabletopEvent",
    "carry",
    "grip",
    "lift",
    "reach",
    "release",
    "retreat",
    "wait",
]

_DENSITY = 45.0  # kilograms per square metre of front: solid wood, 7 cm deep
_SLOP = 0.0003  # metres by which resting blocks may overlap, so that their contact persists
_FAR = 0.01  # metres beyond which distances are not measured
_GRIP_FORCE = 40.0  # newtons; a hand gives way rather than push blocks through each other
_CLEARANCE = 0.035  # metres kept above everything one passes over
_GRIP_HEIGHT = 0.12  # share of a block's height above its middle at which it is taken
_WIDE = 0.042  # metres by which the fingers open further than what they are to hold
_CORNER_ROUNDS = 4  # times the corners of a way are cut
_CLOSING = 0.24  # seconds the fingers need to close or open
_HOLDING = 0.16  # seconds between closing the hand and moving it, and between standing and opening
_LOWERING = 0.06  # metres per second while feeling for the support
_PRESS = 0.0004  # metres a hand goes on when the block in it has reached its support
_DEEPEST = 0.03  # metres one goes on feeling for a support


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
        self._add_hands([AGENT])
        self._pushes: set[frozenset[str]] = set()
        self._space.on_collision(None, None, post_solve=self._note_push)
        self.pairs = tuple(combinations(self._shapes, 2))

    @property
    def held(self) -> str | None:
        """Name of the block in the hand, if any."""
        return next(iter(self.holders), None)

    def grip(self, name: str) -> None:
        """Hold a block where the hand is now."""
        hand, body = self._hands[AGENT], self._bodies[name]
        pivot = pymunk.PivotJoint(hand, body, hand.position)
        pivot.max_force = _GRIP_FORCE
        self._hold(AGENT, name, pivot, (-body.angle, body.moment * 40.0**2, body.moment * 30.0))

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


def _cut(corners: Floats) -> Floats:
    # Chaikin's rule: replace every inner corner by two points beside it.
    before = corners[:-1] * 0.75 + corners[1:] * 0.25
    after = corners[:-1] * 0.25 + corners[1:] * 0.75
    inner = np.stack([before, after], axis=1).reshape(-1, 2)[1:-1]
    return np.concatenate([corners[:1], inner, corners[-1:]])


class Puppet:
    """The changing state of the hand among blocks that physics moves."""

    def __init__(
        self, blocks: Sequence[Block], physics: BlockPhysics, place: Point, speed: float
    ) -> None:
        self.physics = physics
        self.place = place  # of the point between the pads, metres
        self.opening = 0.05  # metres between the pads
        self._speed = speed  # metres per second
        self._blocks = {block.name: block for block in blocks}

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

        It is to stand on a block or (None) the table, ``x`` metres from the middle of this support.
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
        corners = np.array([self.place, (self.place[0], height), (goal[0], height), goal])
        for _ in range(_CORNER_ROUNDS):
            corners = _cut(corners)
        steps = np.hypot(*np.diff(corners, axis=0).T)
        lengths: Floats = np.concatenate([[0.0], np.cumsum(steps)])
        total = 0.28 + float(lengths[-1]) / self._speed
        for time in clock(total):
            along = smooth(time / total) * lengths[-1]
            x, y = (float(np.interp(along, lengths, corners[:, k])) for k in (0, 1))
            self.place = (x, y)
            yield time, total

    def open_to(self, opening: float, clock: Clock) -> Iterator[None]:
        """Open or close the fingers."""
        begin = self.opening
        for time in clock(_CLOSING):
            self.opening = glide(time, 0.0, _CLOSING, begin, opening)
            yield


HandAct = Act[Puppet]
"""Something the hand does for a while."""


def wait(seconds: float) -> HandAct:
    """Keep still for some seconds."""
    return Act("wait", None, idle(seconds))


def reach(block: str) -> HandAct:
    """Come down on a block from above and open the fingers on the way."""

    def perform(hand: Puppet, clock: Clock) -> Iterator[None]:
        begin, wide = hand.opening, hand.width(block) + _WIDE
        for time, total in hand.go(hand.grip_point(block), clock):
            hand.opening = glide(time, 0.0, total * 0.7, begin, wide)
            yield

    return Act("reach", block, perform)


def grip(block: str) -> HandAct:
    """Close the fingers on a block and wait a moment; from then on the hand holds it."""

    def perform(hand: Puppet, clock: Clock) -> Iterator[None]:
        yield from hand.open_to(hand.width(block), clock)
        hand.physics.grip(block)
        yield from idle(_HOLDING)(hand, clock)

    return Act("grip", block, perform)


def lift(block: str, goal: Point) -> HandAct:
    """Raise the block in the hand, straight up first, to ``goal``."""

    def perform(hand: Puppet, clock: Clock) -> Iterator[None]:
        for _ in hand.go((goal[0], max(goal[1], hand.place[1] + 0.04)), clock):
            yield

    return Act("lift", block, perform)


def carry(block: str, support: str | None, x: float) -> HandAct:
    """Bring the block in the hand over its goal and lower it until it stands.

    It is to stand on a block or (None) the table, ``x`` metres from the middle of this support.
    """

    def perform(hand: Puppet, clock: Clock) -> Iterator[None]:
        for _ in hand.go(hand.above(block, support, x), clock):
            yield
        column, top = hand.place
        for time in clock(_DEEPEST / _LOWERING):
            hand.place = (column, top - _LOWERING * time)
            yield
            if hand.physics.distance(block, support or TABLE) <= 0.0:
                break
        hand.place = (column, hand.place[1] - _PRESS)
        yield from idle(_HOLDING)(hand, clock)

    return Act("carry", block, perform)


def release(block: str) -> HandAct:
    """Let go of a block at once, then open the fingers."""

    def perform(hand: Puppet, clock: Clock) -> Iterator[None]:
        hand.physics.release(block)
        yield from hand.open_to(hand.width(block) + _WIDE, clock)

    return Act("release", block, perform)


def retreat(goal: Point) -> HandAct:
    """Go away to ``goal``, up first, with an empty hand that relaxes."""

    def perform(hand: Puppet, clock: Clock) -> Iterator[None]:
        begin = hand.opening
        for time, total in hand.go(goal, clock):
            hand.opening = glide(time, total * 0.4, total, begin, 0.05)
            yield

    return Act("retreat", None, perform)


Cast = Mapping[str, str]
"""The blocks by the role they play."""


@dataclass(frozen=True)
class SupportChange:
    """One change of support between blocks, of which events are made."""

    name: str  # pick-up (held and touching, then held only) or put-down (the reverse)
    object: str  # role of the block that is held
    support: str  # role of the block it is taken from or put on


Acts = Callable[[Cast, Room, bool], list[HandAct]]
"""Gives the acts once everything has its place; the flag chooses one of two ways to play it."""


@dataclass(frozen=True)
class TabletopEvent:
    """A type of event."""

    name: str
    roles: tuple[str, ...]  # of its blocks, in the order of its arguments after the agent
    parts: tuple[SupportChange, ...]  # the pick-ups and put-downs that make it, in order
    towers: str  # roles at the beginning, each tower from the bottom up, separated by commas
    sentences: tuple[str, ...]  # with {role} for the blocks
    acts: Acts
    in_hand: bool | None = False  # whether the object is held at the beginning; None for both
    two_endings: bool = False

    def plan(self, rng: Rng) -> tuple[list[list[str]], bool, bool]:
        """Draw one of the ways to play it: towers, whether the object is held, and the ending."""
        way = (self.in_hand is None or self.two_endings) and bool(rng.random() < 0.5)
        held = way if self.in_hand is None else self.in_hand
        towers = [tower.split() for tower in self.towers.split(",")]
        return [t for t in towers if not held or t != ["object"]], held, way


def _take(block: str) -> list[HandAct]:
    return [reach(block), grip(block)]


def _leave(block: str, support: str | None, x: float) -> list[HandAct]:
    return [carry(block, support, x), release(block)]


def _raise(block: str, above: str, room: Room) -> list[HandAct]:
    return [lift(block, room.air(above)), wait(room.pause())]


def _pick_up(cast: Cast, room: Room, way: bool) -> list[HandAct]:
    return [*_take(cast["object"]), *_raise(cast["object"], cast["support"], room)]


def _put_down(cast: Cast, room: Room, way: bool) -> list[HandAct]:
    onto = _leave(cast["object"], cast["support"], room.offset())
    return [wait(room.pause()), *onto, retreat(room.away())]


def _stack(cast: Cast, room: Room, in_hand: bool) -> list[HandAct]:
    begin = [wait(room.pause())] if in_hand else _take(cast["object"])
    onto = _leave(cast["object"], cast["support"], room.offset())
    return [*begin, *onto, retreat(room.away())]


def _unstack(cast: Cast, room: Room, keeps: bool) -> list[HandAct]:
    block = cast["object"]
    if keeps:
        return [*_take(block), *_raise(block, cast["base"], room)]
    return [*_take(block), *_leave(block, None, room.spot()), retreat(room.away())]


def _move(cast: Cast, room: Room, way: bool) -> list[HandAct]:
    onto = _leave(cast["object"], cast["goal"], room.offset())
    return [*_take(cast["object"]), *onto, retreat(room.away())]


def _assemble(cast: Cast, room: Room, way: bool) -> list[HandAct]:
    acts: list[HandAct] = []
    for block, onto in (("support", "base"), ("object", "support")):
        acts += [*_take(cast[block]), *_leave(cast[block], cast[onto], room.offset())]
    return [*acts, retreat(room.away())]


def _disassemble(cast: Cast, room: Room, keeps: bool) -> list[HandAct]:
    top, middle = cast["object"], cast["support"]
    begin = [*_take(top), *_leave(top, None, room.spot()), *_take(middle)]
    if keeps:
        return [*begin, *_raise(middle, cast["base"], room)]
    return [*begin, *_leave(middle, None, room.spot()), retreat(room.away())]


_OFF, _ON = (SupportChange(name, "object", "support") for name in ("pick-up", "put-down"))
_TWO, _THREE = ("object", "support"), ("object", "support", "base")

# fmt: off
_ALL = (
    TabletopEvent("pick-up", _TWO, (_OFF,), "support object",
                  ("The hand picked up the {object} from the {support}.",
                   "The {object} was lifted off the {support}."), _pick_up),
    TabletopEvent("put-down", _TWO, (_ON,), "support",
                  ("The hand put down the {object} on the {support}.",
                   "The {object} was set on the {support}."), _put_down, in_hand=True),
    TabletopEvent("stack", _THREE, (_ON,), "base support, object",
                  ("The hand stacked the {object} on the {support}.",
                   "The {object} was stacked on the {support}, which stood on the {base}."),
                  _stack, in_hand=None),
    TabletopEvent("unstack", _THREE, (_OFF,), "base support object",
                  ("The hand unstacked the {object} from the {support}.",
                   "The {object} was taken off the tower of the {support} and the {base}."),
                  _unstack, two_endings=True),
    TabletopEvent("move", ("object", "source", "goal"),
                  (SupportChange("pick-up", "object", "source"),
                   SupportChange("put-down", "object", "goal")), "source object, goal",
                  ("The hand moved the {object} from the {source} to the {goal}.",
                   "The {object} went from the {source} to the {goal}."), _move),
    TabletopEvent("assemble", _THREE, (SupportChange("put-down", "support", "base"), _ON),
                  "base, support, object",
                  ("The hand assembled a tower of the {base}, the {support} and the {object}.",
                   "A tower was built with the {object} on the {support} on the {base}."),
                  _assemble),
    TabletopEvent("disassemble", _THREE, (_OFF, SupportChange("pick-up", "support", "base")),
                  "base support object",
                  ("The hand disassembled the tower of the {object}, the {support} and the {base}.",
                   "The {object} and then the {support} were taken off the {base}."),
                  _disassemble, two_endings=True),
)
# fmt: on

EVENTS = Registry("event", {event.name: event for event in _ALL})
"""All event types by name."""
