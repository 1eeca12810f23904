"""The event types of the tabletop: what each means, how it is played, sentences about it.

An event is made of pick-ups and put-downs between blocks; the table is no block, so taking a block
from the table or leaving it there is none of these. The guide to worlds shows how to add one.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from wordsight.worlds.acts import Wait
from wordsight.worlds.checks import Registry
from wordsight.worlds.tabletop.acts import Carry, Grip, HandAct, Lift, Reach, Release, Retreat
from wordsight.worlds.tabletop.blocks import Room

__all__ = ["AGENT", "EVENTS", "EventPlan", "SupportChange", "TabletopEvent"]

AGENT = "hand"
"""The agent of all events."""

Cast = Mapping[str, str]
"""The blocks by the role they play."""


@dataclass(frozen=True)
class SupportChange:
    """One change of support between blocks, of which events are made."""

    name: str  # pick-up (held and touching, then held only) or put-down (the reverse)
    object: str  # role of the block that is held
    support: str  # role of the block it is taken from or put on


@dataclass(frozen=True)
class EventPlan:
    """How an event is to be played."""

    towers: tuple[tuple[str, ...], ...]  # roles at the beginning, each tower from the bottom up
    held: str | None  # role of the block in the hand at the beginning
    acts: Callable[[Cast, Room], list[HandAct]]  # once everything has its place


@dataclass(frozen=True)
class TabletopEvent:
    """A type of event."""

    name: str
    roles: tuple[str, ...]  # of its blocks, in the order of its arguments after the agent
    parts: tuple[SupportChange, ...]  # the pick-ups and put-downs that make it, in order
    plan: Callable[[np.random.Generator], EventPlan]  # draws one of the ways to play it
    sentences: tuple[str, ...]  # with {role} for the blocks


EVENTS: Registry[TabletopEvent] = Registry("event")
"""All event types by name."""

Planner = Callable[[np.random.Generator], EventPlan]

_OFF, _ON = (SupportChange(name, "object", "support") for name in ("pick-up", "put-down"))
_TWO, _THREE = ("object", "support"), ("object", "support", "base")


def _event(
    name: str, roles: tuple[str, ...], parts: tuple[SupportChange, ...], *sentences: str
) -> Callable[[Planner], Planner]:
    """Register a function that plans an event."""

    def register(plan: Planner) -> Planner:
        EVENTS.add(name, TabletopEvent(name, roles, parts, plan, sentences))
        return plan

    return register


def _take(block: str) -> list[HandAct]:
    return [Reach(block), Grip(block)]


def _leave(block: str, support: str | None, x: float) -> list[HandAct]:
    return [Carry(block, support, x), Release(block)]


def _raise(block: str, above: str, room: Room) -> list[HandAct]:
    return [Lift(block, room.air(above)), Wait(room.pause())]


@_event(
    "pick-up",
    _TWO,
    (_OFF,),
    "The hand picked up the {object} from the {support}.",
    "The {object} was lifted off the {support}.",
)
def _pick_up(rng: np.random.Generator) -> EventPlan:
    def acts(cast: Cast, room: Room) -> list[HandAct]:
        return [*_take(cast["object"]), *_raise(cast["object"], cast["support"], room)]

    return EventPlan((("support", "object"),), None, acts)


@_event(
    "put-down",
    _TWO,
    (_ON,),
    "The hand put down the {object} on the {support}.",
    "The {object} was set on the {support}.",
)
def _put_down(rng: np.random.Generator) -> EventPlan:
    def acts(cast: Cast, room: Room) -> list[HandAct]:
        onto = _leave(cast["object"], cast["support"], room.offset())
        return [Wait(room.pause()), *onto, Retreat(room.away())]

    return EventPlan((("support",),), "object", acts)


@_event(
    "stack",
    _THREE,
    (_ON,),
    "The hand stacked the {object} on the {support}.",
    "The {object} was stacked on the {support}, which stood on the {base}.",
)
def _stack(rng: np.random.Generator) -> EventPlan:
    in_hand = bool(rng.random() < 0.5)

    def acts(cast: Cast, room: Room) -> list[HandAct]:
        begin = [Wait(room.pause())] if in_hand else _take(cast["object"])
        onto = _leave(cast["object"], cast["support"], room.offset())
        return [*begin, *onto, Retreat(room.away())]

    if in_hand:
        return EventPlan((("base", "support"),), "object", acts)
    return EventPlan((("base", "support"), ("object",)), None, acts)


@_event(
    "unstack",
    _THREE,
    (_OFF,),
    "The hand unstacked the {object} from the {support}.",
    "The {object} was taken off the tower of the {support} and the {base}.",
)
def _unstack(rng: np.random.Generator) -> EventPlan:
    keeps = bool(rng.random() < 0.5)

    def acts(cast: Cast, room: Room) -> list[HandAct]:
        block = cast["object"]
        if keeps:
            return [*_take(block), *_raise(block, cast["base"], room)]
        return [*_take(block), *_leave(block, None, room.spot()), Retreat(room.away())]

    return EventPlan((("base", "support", "object"),), None, acts)


@_event(
    "move",
    ("object", "source", "goal"),
    (SupportChange("pick-up", "object", "source"), SupportChange("put-down", "object", "goal")),
    "The hand moved the {object} from the {source} to the {goal}.",
    "The {object} went from the {source} to the {goal}.",
)
def _move(rng: np.random.Generator) -> EventPlan:
    def acts(cast: Cast, room: Room) -> list[HandAct]:
        onto = _leave(cast["object"], cast["goal"], room.offset())
        return [*_take(cast["object"]), *onto, Retreat(room.away())]

    return EventPlan((("source", "object"), ("goal",)), None, acts)


@_event(
    "assemble",
    _THREE,
    (SupportChange("put-down", "support", "base"), _ON),
    "The hand assembled a tower of the {base}, the {support} and the {object}.",
    "A tower was built with the {object} on the {support} on the {base}.",
)
def _assemble(rng: np.random.Generator) -> EventPlan:
    def acts(cast: Cast, room: Room) -> list[HandAct]:
        acts: list[HandAct] = []
        for block, onto in (("support", "base"), ("object", "support")):
            acts += _take(cast[block])
            acts += _leave(cast[block], cast[onto], room.offset())
        return [*acts, Retreat(room.away())]

    return EventPlan((("base",), ("support",), ("object",)), None, acts)


@_event(
    "disassemble",
    _THREE,
    (_OFF, SupportChange("pick-up", "support", "base")),
    "The hand disassembled the tower of the {object}, the {support} and the {base}.",
    "The {object} and then the {support} were taken off the {base}.",
)
def _disassemble(rng: np.random.Generator) -> EventPlan:
    keeps = bool(rng.random() < 0.5)

    def acts(cast: Cast, room: Room) -> list[HandAct]:
        top, middle = cast["object"], cast["support"]
        begin = [*_take(top), *_leave(top, None, room.spot()), *_take(middle)]
        if keeps:
            return [*begin, *_raise(middle, cast["base"], room)]
        return [*begin, *_leave(middle, None, room.spot()), Retreat(room.away())]

    return EventPlan((("base", "support", "object"),), None, acts)
