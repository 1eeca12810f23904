"""Plots: short stories for one person and one thing, each written for the verbs it shows.

A plot is a function that takes ground from the draft and returns what the person does; see the
guide to worlds for how to add one.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from wordsight.worlds.checks import Registry
from wordsight.worlds.street.acts import REACH, PickUp, PutDown, StreetAct, Turn, Wait, Walk
from wordsight.worlds.street.people import cast_look
from wordsight.worlds.street.places.place import Place
from wordsight.worlds.street.recording import Person, PersonScript
from wordsight.worlds.street.things.thing import Prop, cast_prop

__all__ = ["PLOTS", "Draft", "Pace", "Plot", "Unfit", "plots_showing"]


# MERGED FROM wordsight.worlds.street.plots:
# `Draft`: a scenario in the making: who and what there is, and which ground is taken.


_MARGIN = 0.36  # metres that people keep from the edge of the picture
_BETWEEN_THINGS = 0.62  # metres between the middles of things
_BESIDE_FEET = 0.50  # metres between a thing and where someone stands who does not deal with it


class Unfit(Exception):
    """What was drawn at random does not fit together; another draw may."""


@dataclass(frozen=True)
class Pace:
    """How fast someone acts.

    Attributes:
        speed: Walking speed in metres per second.
        acceleration: Metres per second squared.
        down: Seconds to bend.
        up: Seconds to rise.
    """

    speed: float
    acceleration: float
    down: float
    up: float

    @classmethod
    def drawn(cls, quick: bool, rng: np.random.Generator) -> "Pace":
        """Draw a pace that is clearly quick or clearly slow."""
        ranges = (
            ((1.9, 2.4), (6.5, 8.0), (0.34, 0.42), (0.36, 0.44))
            if quick
            else ((0.56, 0.74), (1.8, 2.4), (0.95, 1.20), (0.95, 1.20))
        )
        return cls(*(float(rng.uniform(*limits)) for limits in ranges))


@dataclass
class Draft:
    """What has been decided so far.

    Attributes:
        place: Where the film is shot.
        rng: Where the chance comes from.
        props: The things so far.
        spots: x of the things that stand on the ground at the beginning.
        parts: What the people do, so far.
        things_at: x of every place where a thing stands at some time.
        feet_at: x of every place where someone stands for a while.
        room: Least and greatest x that the next part may use.
    """

    place: Place
    rng: np.random.Generator
    props: list[Prop] = field(default_factory=list)
    spots: dict[str, float] = field(default_factory=dict)
    parts: list[PersonScript] = field(default_factory=list)
    things_at: list[float] = field(default_factory=list)
    feet_at: list[float] = field(default_factory=list)
    room: tuple[float, float] = (0.0, 0.0)

    def __post_init__(self) -> None:
        half = self.place.half_width - _MARGIN
        self.room = (-half, half)

    def between(self, low: float, high: float) -> float:
        """Draw a number."""
        return float(self.rng.uniform(low, high))

    def chance(self, probability: float) -> bool:
        """Toss a coin."""
        return bool(self.rng.random() < probability)

    def side(self) -> int:
        """Draw a direction: 1 right, -1 left."""
        return 1 if self.chance(0.5) else -1

    def walk(self, least: float, most: float, behind: float, ahead: float) -> tuple[float, float]:
        """Draw the beginning and the end of a walk that fits into the room.

        Args:
            least: Shortest way in metres.
            most: Longest way.
            behind: Room needed behind the beginning.
            ahead: Room needed beyond the end.
        """
        low, high = self.room
        most = min(most, high - low - behind - ahead)
        if most < least:
            raise Unfit("no room for a walk")
        way = self.between(least, most)
        start = self.between(low + behind, high - ahead - way)
        return (start, start + way) if self.chance(0.5) else (-start, -start - way)

    def stand_thing(self, noun: str, x: float) -> Prop:
        """Put a new thing on the ground."""
        prop = self._cast(noun)
        self.reserve(x)
        self.spots[prop.name] = x
        return prop

    def hold_thing(self, noun: str) -> Prop:
        """Make a new thing that someone holds at the beginning."""
        return self._cast(noun)

    def reserve(self, x: float) -> None:
        """Take ground for a thing, now or later in the film."""
        inside = abs(x) <= self.place.half_width - 0.28
        if not inside or not _clear(x, self.things_at, _BETWEEN_THINGS):
            raise Unfit("no room for a thing")
        self.things_at.append(x)

    def person(self) -> Person:
        """Make a new person."""
        return Person(f"person-{len(self.parts) + 1}", cast_look(self.rng))

    def add_part(self, part: PersonScript) -> None:
        """Add what someone does, who must not stand in the way of others."""
        feet = [part.x]
        for act in part.acts:
            feet.append(act.leads_to(feet[-1]))
        low, high = self.room
        if not all(low <= x <= high for x in feet):
            raise Unfit("someone would leave the room")
        self.feet_at.extend(feet)
        self.parts.append(part)

    def add_bystander(self, noun: str) -> None:
        """Put a thing where nobody deals with it, if there is room."""
        half = self.place.half_width - 0.28
        for _ in range(12):
            x = self.between(-half, half)
            free = _clear(x, self.things_at, _BETWEEN_THINGS)
            if free and _clear(x, self.feet_at, _BESIDE_FEET):
                self.stand_thing(noun, x)
                return

    def _cast(self, noun: str) -> Prop:
        number = 1 + sum(prop.thing.noun == noun for prop in self.props)
        prop = cast_prop(noun, f"{noun}-{number}", self.rng)
        self.props.append(prop)
        return prop


def _clear(x: float, others: list[float], distance: float) -> bool:
    return all(abs(x - other) >= distance for other in others)


@dataclass(frozen=True)
class Plot:
    """A short story.

    Attributes:
        verbs: The verbs it shows, most striking first.
        room: Metres of ground it needs.
        write: Decides places and acts: ``write(draft, noun, goal)``; ``goal`` is the noun of
            something to go to or from, or None.
    """

    verbs: tuple[str, ...]
    room: float
    write: Callable[[Draft, str, str | None], PersonScript]


PLOTS: Registry[Plot] = Registry("plot")
"""All plots by name."""


def plots_showing(verb: str) -> list[Plot]:
    """Return the plots that show a verb."""
    found = [PLOTS[name] for name in PLOTS if verb in PLOTS[name].verbs]
    if not found:
        known = Registry[str]("action")
        for name in PLOTS:
            for shown in PLOTS[name].verbs:
                if shown not in known:
                    known.add(shown, shown)
        known.check([verb])
    return found


def _approach(draft: Draft, noun: str, goal: str | None) -> PersonScript:
    stop = draft.between(0.48, 0.66)
    start, end = draft.walk(1.15, 2.7, 0.0, stop)
    side = _direction(start, end)
    draft.stand_thing(noun, end + side * stop)
    return _part(draft, start, side, None, [_walk(draft, end)])


def _pick(draft: Draft, noun: str, goal: str | None) -> PersonScript:
    x, side = _stand(draft)
    prop = draft.stand_thing(noun, x + side * REACH)
    return _part(draft, x, side, None, [_pick_up(draft, prop.name)])


def _put(draft: Draft, noun: str, goal: str | None) -> PersonScript:
    x, side = _stand(draft)
    prop = draft.hold_thing(noun)
    draft.reserve(x + side * REACH)
    return _part(draft, x, side, prop.name, [_put_down(draft, prop.name)])


def _carry(draft: Draft, noun: str, goal: str | None) -> PersonScript:
    start, end = draft.walk(1.0, 2.6, 0.3, 0.6)
    prop = draft.hold_thing(noun)
    _mark(draft, goal, start, end)
    return _part(draft, start, _direction(start, end), prop.name, [_walk(draft, end)])


def _fetch(draft: Draft, noun: str, goal: str | None) -> PersonScript:
    """Walk to a thing and pick it up."""
    start, end = draft.walk(1.1, 2.4, 0.0, REACH)
    side = _direction(start, end)
    prop = draft.stand_thing(noun, end + side * REACH)
    return _part(draft, start, side, None, [_walk(draft, end), _pick_up(draft, prop.name)])


def _take_along(draft: Draft, noun: str, goal: str | None) -> PersonScript:
    """Pick a thing up and carry it on."""
    start, end = draft.walk(1.0, 2.2, 0.0, 0.6)
    side = _direction(start, end)
    prop = draft.stand_thing(noun, start + side * REACH)
    _mark(draft, goal, start, end)
    return _part(draft, start, side, None, [_pick_up(draft, prop.name), _walk(draft, end)])


def _bring(draft: Draft, noun: str, goal: str | None) -> PersonScript:
    """Carry a thing somewhere and put it down."""
    start, end = draft.walk(1.0, 2.2, 0.3, 0.6)
    side = _direction(start, end)
    prop = draft.hold_thing(noun)
    draft.reserve(end + side * REACH)
    if goal is not None:
        draft.stand_thing(goal, start - side * draft.between(0.5, 0.7))
    return _part(draft, start, side, prop.name, [_walk(draft, end), _put_down(draft, prop.name)])


def _leave_behind(draft: Draft, noun: str, goal: str | None) -> PersonScript:
    """Put a thing down and walk away to something else."""
    stop = draft.between(0.5, 0.65)
    start, end = draft.walk(1.1, 2.2, REACH, stop)
    side = _direction(start, end)
    prop = draft.hold_thing(noun)
    draft.reserve(start - side * REACH)
    if goal is not None:
        draft.stand_thing(goal, end + side * stop)
    acts: list[StreetAct] = [_put_down(draft, prop.name), Turn(side), _walk(draft, end)]
    return _part(draft, start, -side, prop.name, acts)


def _mark(draft: Draft, goal: str | None, start: float, end: float) -> None:
    """Stand something where a walk leads to, or where it comes from."""
    if goal is None:
        return
    side = _direction(start, end)
    if draft.chance(0.6):
        draft.stand_thing(goal, end + side * draft.between(0.80, 0.88))
    else:
        draft.stand_thing(goal, start - side * draft.between(0.5, 0.7))


def _part(
    draft: Draft, x: float, facing: int, holding: str | None, acts: Sequence[StreetAct]
) -> PersonScript:
    pauses: list[StreetAct] = []
    for act in acts:
        pauses.extend([Wait(draft.between(0.12, 0.35)), act])
    return PersonScript(draft.person(), x, facing, holding, tuple(pauses))


def _stand(draft: Draft) -> tuple[float, int]:
    side = draft.side()
    low, high = draft.room
    return draft.between(low + (REACH if side < 0 else 0), high - (REACH if side > 0 else 0)), side


def _direction(start: float, end: float) -> int:
    return 1 if end > start else -1


def _pace(draft: Draft) -> Pace:
    return Pace.drawn(draft.chance(0.5), draft.rng)


def _walk(draft: Draft, goal: float) -> Walk:
    pace = _pace(draft)
    return Walk(goal, pace.speed, pace.acceleration)


def _pick_up(draft: Draft, thing: str) -> PickUp:
    pace = _pace(draft)
    return PickUp(thing, pace.down, pace.up)


def _put_down(draft: Draft, thing: str) -> PutDown:
    pace = _pace(draft)
    return PutDown(thing, pace.down, pace.up)


for _name, _plot in (
    ("approach", Plot(("approached",), 2.0, _approach)),
    ("pick", Plot(("picked-up",), 0.8, _pick)),
    ("put", Plot(("put-down",), 0.8, _put)),
    ("carry", Plot(("carried",), 2.2, _carry)),
    ("fetch", Plot(("approached", "picked-up"), 2.0, _fetch)),
    ("take along", Plot(("carried", "picked-up"), 2.2, _take_along)),
    ("bring", Plot(("carried", "put-down"), 2.4, _bring)),
    ("leave behind", Plot(("put-down",), 2.4, _leave_behind)),
):
    PLOTS.add(_name, _plot)
