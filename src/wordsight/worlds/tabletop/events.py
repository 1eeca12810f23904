"""The event types of the tabletop: what each means, how it is played, sentences about it.

An event is made of pick-ups and put-downs between blocks; the table is no block, so taking a block
from the table or leaving it there is none of these. The guide to worlds shows how to add one.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from wordsight.worlds.chance import Rng
from wordsight.worlds.checks import Registry
from wordsight.worlds.tabletop.acts import (
    HandAct,
    carry,
    grip,
    lift,
    reach,
    release,
    retreat,
    wait,
)
from wordsight.worlds.tabletop.blocks import Room

__all__ = ["EVENTS", "SupportChange", "TabletopEvent"]

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
