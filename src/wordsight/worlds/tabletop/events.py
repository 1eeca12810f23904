"""The event types of the tabletop: what each means, how it is played, how people tell it.

An event is made of pick-ups and put-downs between blocks; the table is no block, so taking a block
from the table or leaving it there is none of these. See the guide to worlds for how to add one.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from wordsight.worlds.checks import Registry
from wordsight.worlds.tabletop.acts import Carry, Grip, HandAct, Lift, Reach, Release, Retreat, Wait
from wordsight.worlds.tabletop.blocks import Room

__all__ = ["AGENT", "EVENTS", "EventPlan", "SupportChange", "TabletopEvent"]

AGENT = "hand"
"""Who does everything."""

Cast = Mapping[str, str]
"""The blocks by the role they play."""


@dataclass(frozen=True)
class SupportChange:
    """One change of support between blocks, of which events are made.

    Attributes:
        name: ``pick-up`` (held and touching, then held only) or ``put-down`` (the reverse).
        object: Role of the block that is held.
        support: Role of the block it is taken from or put on.
    """

    name: str
    object: str
    support: str


@dataclass(frozen=True)
class EventPlan:
    """How an event is to be played.

    Attributes:
        towers: The blocks at the beginning, by role, each tower from the bottom to the top.
        held: Role of the block in the hand at the beginning, if any.
        acts: Gives the acts once everything has its place.
    """

    towers: tuple[tuple[str, ...], ...]
    held: str | None
    acts: Callable[[Cast, Room], list[HandAct]]


@dataclass(frozen=True)
class TabletopEvent:
    """A type of event.

    Attributes:
        name: Its name in the registry and in the truth.
        roles: The roles of its blocks, in the order of its arguments after the agent.
        parts: The pick-ups and put-downs that make it, in order.
        plan: Chooses one of the ways to play it.
        tellings: Sentences about it with ``{role}`` for colours.
    """

    name: str
    roles: tuple[str, ...]
    parts: tuple[SupportChange, ...]
    plan: Callable[[np.random.Generator], EventPlan]
    tellings: tuple[str, ...]


EVENTS: Registry[TabletopEvent] = Registry("event")
"""All event types by name."""


def _take(block: str) -> list[HandAct]:
    return [Reach(block), Grip(block)]


def _leave(block: str, support: str | None, x: float) -> list[HandAct]:
    return [Carry(block, support, x), Release(block)]


def _pick_up(rng: np.random.Generator) -> EventPlan:
    def acts(cast: Cast, room: Room) -> list[HandAct]:
        block = cast["object"]
        return [*_take(block), Lift(block, room.air(cast["support"])), Wait(room.pause())]

    return EventPlan((("support", "object"),), None, acts)


def _put_down(rng: np.random.Generator) -> EventPlan:
    def acts(cast: Cast, room: Room) -> list[HandAct]:
        onto = _leave(cast["object"], cast["support"], room.offset())
        return [Wait(room.pause()), *onto, Retreat(room.away())]

    return EventPlan((("support",),), "object", acts)


def _stack(rng: np.random.Generator) -> EventPlan:
    def acts(cast: Cast, room: Room) -> list[HandAct]:
        block = cast["object"]
        begin = [Wait(room.pause())] if in_hand else _take(block)
        onto = _leave(block, cast["support"], room.offset())
        return [*begin, *onto, Retreat(room.away())]

    in_hand = bool(rng.random() < 0.5)
    if in_hand:
        return EventPlan((("base", "support"),), "object", acts)
    return EventPlan((("base", "support"), ("object",)), None, acts)


def _unstack(rng: np.random.Generator) -> EventPlan:
    keeps = bool(rng.random() < 0.5)

    def acts(cast: Cast, room: Room) -> list[HandAct]:
        block = cast["object"]
        if keeps:
            return [*_take(block), Lift(block, room.air(cast["base"])), Wait(room.pause())]
        return [*_take(block), *_leave(block, None, room.spot()), Retreat(room.away())]

    return EventPlan((("base", "support", "object"),), None, acts)


def _move(rng: np.random.Generator) -> EventPlan:
    def acts(cast: Cast, room: Room) -> list[HandAct]:
        block = cast["object"]
        onto = _leave(block, cast["goal"], room.offset())
        return [*_take(block), *onto, Retreat(room.away())]

    return EventPlan((("source", "object"), ("goal",)), None, acts)


def _assemble(rng: np.random.Generator) -> EventPlan:
    def acts(cast: Cast, room: Room) -> list[HandAct]:
        acts: list[HandAct] = []
        for block, onto in (("support", "base"), ("object", "support")):
            acts += _take(cast[block])
            acts += _leave(cast[block], cast[onto], room.offset())
        return [*acts, Retreat(room.away())]

    return EventPlan((("base",), ("support",), ("object",)), None, acts)


def _disassemble(rng: np.random.Generator) -> EventPlan:
    keeps = bool(rng.random() < 0.5)

    def acts(cast: Cast, room: Room) -> list[HandAct]:
        top, middle = cast["object"], cast["support"]
        begin = [*_take(top), *_leave(top, None, room.spot()), *_take(middle)]
        if keeps:
            return [*begin, Lift(middle, room.air(cast["base"])), Wait(room.pause())]
        return [*begin, *_leave(middle, None, room.spot()), Retreat(room.away())]

    return EventPlan((("base", "support", "object"),), None, acts)


EVENTS.add(
    "pick-up",
    TabletopEvent(
        "pick-up",
        ("object", "support"),
        (SupportChange("pick-up", "object", "support"),),
        _pick_up,
        (
            "The hand picked up the {object} block from the {support} block.",
            "The {object} block was lifted off the {support} block.",
        ),
    ),
)
EVENTS.add(
    "put-down",
    TabletopEvent(
        "put-down",
        ("object", "support"),
        (SupportChange("put-down", "object", "support"),),
        _put_down,
        (
            "The hand put down the {object} block on the {support} block.",
            "The {object} block was set on the {support} block.",
        ),
    ),
)
EVENTS.add(
    "stack",
    TabletopEvent(
        "stack",
        ("object", "support", "base"),
        (SupportChange("put-down", "object", "support"),),
        _stack,
        (
            "The hand stacked the {object} block on the {support} block.",
            "The {object} block was stacked on the {support} block, which stood on the "
            "{base} block.",
        ),
    ),
)
EVENTS.add(
    "unstack",
    TabletopEvent(
        "unstack",
        ("object", "support", "base"),
        (SupportChange("pick-up", "object", "support"),),
        _unstack,
        (
            "The hand unstacked the {object} block from the {support} block.",
            "The {object} block was taken off the tower of the {support} block and the "
            "{base} block.",
        ),
    ),
)
EVENTS.add(
    "move",
    TabletopEvent(
        "move",
        ("object", "source", "goal"),
        (SupportChange("pick-up", "object", "source"), SupportChange("put-down", "object", "goal")),
        _move,
        (
            "The hand moved the {object} block from the {source} block to the {goal} block.",
            "The {object} block went from the {source} block to the {goal} block.",
        ),
    ),
)
EVENTS.add(
    "assemble",
    TabletopEvent(
        "assemble",
        ("object", "support", "base"),
        (
            SupportChange("put-down", "support", "base"),
            SupportChange("put-down", "object", "support"),
        ),
        _assemble,
        (
            "The hand assembled a tower of the {base} block, the {support} block and the "
            "{object} block.",
            "A tower was built with the {object} block on the {support} block on the {base} block.",
        ),
    ),
)
EVENTS.add(
    "disassemble",
    TabletopEvent(
        "disassemble",
        ("object", "support", "base"),
        (
            SupportChange("pick-up", "object", "support"),
            SupportChange("pick-up", "support", "base"),
        ),
        _disassemble,
        (
            "The hand disassembled the tower of the {object} block, the {support} block and the "
            "{base} block.",
            "The {object} block and then the {support} block were taken off the {base} block.",
        ),
    ),
)
