"""Scenarios of the street, how they are performed, and the recordings this gives.

Scripts move the people, physics moves the things, every frame is recorded in metres.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wordsight.worlds.checks import Registry, Rng
from wordsight.worlds.painter import Floats
from wordsight.worlds.performance import Activity, Stage
from wordsight.worlds.sketch import turned
from wordsight.worlds.street.acts import (
    REACH,
    Actor,
    StreetAct,
    StreetPhysics,
    pick_up,
    put_down,
    turn,
    wait,
    walk,
)
from wordsight.worlds.street.people import PersonLook, cast_look, joints_of, middle_of
from wordsight.worlds.street.places import Place
from wordsight.worlds.street.things import Prop, cast_prop

__all__ = [
    "PLOTS",
    "Draft",
    "PersonScript",
    "Plot",
    "StreetRecording",
    "StreetScenario",
    "Unfit",
    "perform",
    "plots_showing",
]

_SETTLING = 0.7  # seconds before the film in which things come to rest


@dataclass(frozen=True)
class PersonScript:
    """One person of a film, and what the person does."""

    name: str  # unique in the film, such as person-1
    look: PersonLook
    x: float  # position at the beginning, metres
    facing: int  # 1 looks right, -1 left
    holding: str | None  # name of the thing held at the beginning
    acts: tuple[StreetAct, ...]  # one after the other; then the person stands until the end

    def seconds(self) -> float:
        """Return how long all acts take."""
        total, x = 0.0, self.x
        for act in self.acts:
            total += act.seconds(x)
            x = act.leads_to(x)
        return total


@dataclass(frozen=True)
class StreetScenario:
    """A film before it is performed."""

    place: Place
    props: tuple[Prop, ...]
    spots: dict[str, float]  # x of the things that stand on the ground at the beginning, by name
    scripts: tuple[PersonScript, ...]
    duration: float  # seconds


@dataclass(frozen=True)
class StreetRecording:
    """What happened in T frames to P people and M things."""

    scenario: StreetScenario
    frame_rate: float  # per second
    joints: Floats  # (P, T, 18, 2) metres
    facings: Floats  # (P, T)
    places: Floats  # (M, T, 3) x, y of the foot and angle of the things
    holders: NDArray[np.int64]  # (M, T) number of the person who holds the thing, -1 for none
    activities: tuple[Activity, ...]  # in the order they began

    @property
    def num_frames(self) -> int:
        """Number of frames."""
        return int(self.joints.shape[1])

    @property
    def people(self) -> tuple[str, ...]:
        """Names of the people, in the order of the arrays."""
        return tuple(script.name for script in self.scenario.scripts)

    @property
    def things(self) -> tuple[str, ...]:
        """Names of the things, in the order of the arrays."""
        return tuple(prop.name for prop in self.scenario.props)

    def middles(self) -> dict[str, Floats]:
        """Return the middle of every individual, ``(T, 2)`` metres each.

        The middle of a person lies half-way between head and pelvis, that of a thing at half its
        height.
        """
        middles = dict(zip(self.people, middle_of(self.joints), strict=True))
        for prop, place in zip(self.scenario.props, self.places, strict=True):
            up = np.stack([turned((0.0, prop.height / 2), angle) for angle in place[:, 2]])
            middles[prop.name] = place[:, :2] + up
        return middles


def perform(scenario: StreetScenario, frame_rate: float = 30.0) -> StreetRecording:
    """Perform a scenario and record it ``frame_rate`` times per second."""
    stage = Stage(frame_rate)
    people, things = scenario.scripts, [prop.name for prop in scenario.props]
    physics = StreetPhysics(scenario.props, [person.name for person in people])
    actors = [Actor(person.name, person.x, float(person.facing), physics) for person in people]

    def step() -> None:
        hands = {actor.name: actor.reach for actor in actors if actor.holding is not None}
        physics.step(hands, stage.tick)

    for name, x in scenario.spots.items():
        physics.stand(name, x)
    for actor, person in zip(actors, people, strict=True):
        if person.holding is not None:
            actor.take(person.holding)
            actor.settle()
            physics.place_hand(actor.name, actor.reach)
            physics.grip(actor.name, person.holding, hanging=True)
    for _ in range(round(_SETTLING / stage.tick)):
        step()
    scripts = [
        stage.script(actor.name, actor, person.acts)
        for actor, person in zip(actors, people, strict=True)
    ]
    numbers = {actor.name: number for number, actor in enumerate(actors)}
    joints, facings, places, holders = [], [], [], []
    for frame in range(max(round(scenario.duration * frame_rate), 1)):
        stage.frame = frame
        joints.append([joints_of(a, p.look.height) for a, p in zip(actors, people, strict=True)])
        facings.append([actor.facing for actor in actors])
        places.append(physics.places())
        holders.append([numbers.get(physics.holders.get(name, ""), -1) for name in things])
        for _ in range(stage.per_frame):
            for actor, script in zip(actors, scripts, strict=True):
                next(script, None)
                actor.settle()
            step()
    for script in scripts:
        script.close()
    return StreetRecording(
        scenario=scenario,
        frame_rate=frame_rate,
        joints=np.array(joints).swapaxes(0, 1),
        facings=np.array(facings).T,
        places=np.array(places).swapaxes(0, 1),
        holders=np.array(holders, dtype=np.int64).T,
        activities=tuple(sorted(stage.activities, key=lambda act: (act.first, act.agent))),
    )


_MARGIN = 0.36  # metres that people keep from the edge of the picture
_BETWEEN_THINGS = 0.62  # metres between the middles of things
_BESIDE_FEET = 0.50  # metres between a thing and where someone stands who does not deal with it

# Ranges of walking speed, acceleration, seconds to bend and seconds to rise; nothing in between.
_QUICK = ((1.9, 2.4), (6.5, 8.0), (0.34, 0.42), (0.36, 0.44))
_SLOW = ((0.56, 0.74), (1.8, 2.4), (0.95, 1.20), (0.95, 1.20))


class Unfit(Exception):
    """What was drawn at random does not fit together; another draw may."""


class Draft:
    """A scenario in the making."""

    def __init__(self, place: Place, rng: Rng) -> None:
        self.place = place
        self.rng = rng
        self.props: list[Prop] = []
        self.spots: dict[str, float] = {}  # x of the things that stand on the ground at first
        self.scripts: list[PersonScript] = []
        self.things_at: list[float] = []  # x of every place where a thing stands at some time
        self.feet_at: list[float] = []  # x of every place where someone stands for a while
        half = place.half_width - _MARGIN
        self.room = (-half, half)  # least and greatest x that the next script may use

    def between(self, low: float, high: float) -> float:
        """Draw a number."""
        return float(self.rng.uniform(low, high))

    def chance(self, probability: float) -> bool:
        """Draw True with a probability."""
        return bool(self.rng.random() < probability)

    def side(self) -> int:
        """Draw a direction: 1 right, -1 left."""
        return 1 if self.chance(0.5) else -1

    def path(
        self, least: float, most: float, behind: float, ahead: float
    ) -> tuple[float, float, int]:
        """Draw the start, the end and the direction of a walk that fits into the room.

        It is ``least`` to ``most`` metres long, with room ``behind`` its start and ``ahead``.
        """
        low, high = self.room
        most = min(most, high - low - behind - ahead)
        if most < least:
            raise Unfit("no room for a walk")
        way = self.between(least, most)
        start = self.between(low + behind, high - ahead - way)
        return (start, start + way, 1) if self.chance(0.5) else (-start, -start - way, -1)

    def spot(self) -> tuple[float, int]:
        """Draw a place to stand and a direction with room to reach to the ground."""
        side = self.side()
        low, high = self.room
        x = self.between(low + (REACH if side < 0 else 0), high - (REACH if side > 0 else 0))
        return x, side

    def stand_thing(self, noun: str, x: float) -> str:
        """Put a new thing on the ground; return its name."""
        name = self.hold_thing(noun)
        self.reserve(x)
        self.spots[name] = x
        return name

    def hold_thing(self, noun: str) -> str:
        """Make a new thing that someone holds at the beginning; return its name."""
        number = 1 + sum(prop.thing.noun == noun for prop in self.props)
        self.props.append(cast_prop(noun, f"{noun}-{number}", self.rng))
        return self.props[-1].name

    def reserve(self, x: float) -> None:
        """Take ground for a thing, now or later in the film."""
        inside = abs(x) <= self.place.half_width - 0.28
        if not inside or not _clear(x, self.things_at, _BETWEEN_THINGS):
            raise Unfit("no room for a thing")
        self.things_at.append(x)

    def script(self, x: float, facing: int, holding: str | None, *acts: StreetAct) -> PersonScript:
        """Let a new person do something, with short waits before each act."""
        waits_and_acts: list[StreetAct] = []
        for act in acts:
            waits_and_acts += [wait(self.between(0.12, 0.35)), act]
        return PersonScript(*self.person(), x, facing, holding, tuple(waits_and_acts))

    def person(self) -> tuple[str, PersonLook]:
        """Draw a new person: a name and a look."""
        return f"person-{len(self.scripts) + 1}", cast_look(self.rng)

    def add_script(self, script: PersonScript) -> None:
        """Add what someone does, who must not leave the room."""
        feet = [script.x]
        for act in script.acts:
            feet.append(act.leads_to(feet[-1]))
        low, high = self.room
        if not all(low <= x <= high for x in feet):
            raise Unfit("someone would leave the room")
        self.feet_at.extend(feet)
        self.scripts.append(script)

    def add_bystander(self, noun: str) -> None:
        """Put a thing where no one deals with it, if there is room."""
        half = self.place.half_width - 0.28
        for _ in range(12):
            x = self.between(-half, half)
            free = _clear(x, self.things_at, _BETWEEN_THINGS)
            if free and _clear(x, self.feet_at, _BESIDE_FEET):
                self.stand_thing(noun, x)
                return

    def walk(self, goal: float) -> StreetAct:
        """Walk somewhere, quickly or slowly."""
        return walk(goal, *self._pace()[:2])

    def pick_up(self, thing: str) -> StreetAct:
        """Pick a thing up, quickly or slowly."""
        return pick_up(thing, *self._pace()[2:])

    def put_down(self, thing: str) -> StreetAct:
        """Put a thing down, quickly or slowly."""
        return put_down(thing, *self._pace()[2:])

    def _pace(self) -> tuple[float, ...]:
        return tuple(self.between(*limits) for limits in (_QUICK if self.chance(0.5) else _SLOW))


def _clear(x: float, others: list[float], distance: float) -> bool:
    return all(abs(x - other) >= distance for other in others)


@dataclass(frozen=True)
class Plot:
    """A short story."""

    verbs: tuple[str, ...]  # the verbs it shows, most striking first
    room: float  # metres of ground it needs
    write: Callable[[Draft, str, str | None], PersonScript]
    """Decides places and acts, with the noun of the thing and of something to go to or from."""


def plots_showing(verb: str) -> list[Plot]:
    """Return the plots that show a verb."""
    shown = [plot for plot in PLOTS.values() if verb in plot.verbs]
    if not shown:
        verbs = (verb for plot in PLOTS.values() for verb in plot.verbs)
        Registry("action", dict.fromkeys(verbs, "")).check([verb])
    return shown


def _approach(draft: Draft, noun: str, goal: str | None) -> PersonScript:
    stop = draft.between(0.48, 0.66)
    start, end, side = draft.path(1.15, 2.7, 0.0, stop)
    draft.stand_thing(noun, end + side * stop)
    return draft.script(start, side, None, draft.walk(end))


def _pick(draft: Draft, noun: str, goal: str | None) -> PersonScript:
    x, side = draft.spot()
    thing = draft.stand_thing(noun, x + side * REACH)
    return draft.script(x, side, None, draft.pick_up(thing))


def _put(draft: Draft, noun: str, goal: str | None) -> PersonScript:
    x, side = draft.spot()
    thing = draft.hold_thing(noun)
    draft.reserve(x + side * REACH)
    return draft.script(x, side, thing, draft.put_down(thing))


def _carry(draft: Draft, noun: str, goal: str | None) -> PersonScript:
    start, end, side = draft.path(1.0, 2.6, 0.3, 0.6)
    thing = draft.hold_thing(noun)
    _mark(draft, goal, start, end, side)
    return draft.script(start, side, thing, draft.walk(end))


def _fetch(draft: Draft, noun: str, goal: str | None) -> PersonScript:
    """Walk to a thing and pick it up."""
    start, end, side = draft.path(1.1, 2.4, 0.0, REACH)
    thing = draft.stand_thing(noun, end + side * REACH)
    return draft.script(start, side, None, draft.walk(end), draft.pick_up(thing))


def _take_along(draft: Draft, noun: str, goal: str | None) -> PersonScript:
    """Pick a thing up and carry it on."""
    start, end, side = draft.path(1.0, 2.2, 0.0, 0.6)
    thing = draft.stand_thing(noun, start + side * REACH)
    _mark(draft, goal, start, end, side)
    return draft.script(start, side, None, draft.pick_up(thing), draft.walk(end))


def _bring(draft: Draft, noun: str, goal: str | None) -> PersonScript:
    """Carry a thing somewhere and put it down."""
    start, end, side = draft.path(1.0, 2.2, 0.3, 0.6)
    thing = draft.hold_thing(noun)
    draft.reserve(end + side * REACH)
    if goal is not None:
        draft.stand_thing(goal, start - side * draft.between(0.5, 0.7))
    return draft.script(start, side, thing, draft.walk(end), draft.put_down(thing))


def _leave_behind(draft: Draft, noun: str, goal: str | None) -> PersonScript:
    """Put a thing down and walk away to something else."""
    stop = draft.between(0.5, 0.65)
    start, end, side = draft.path(1.1, 2.2, REACH, stop)
    thing = draft.hold_thing(noun)
    draft.reserve(start - side * REACH)
    if goal is not None:
        draft.stand_thing(goal, end + side * stop)
    return draft.script(start, -side, thing, draft.put_down(thing), turn(side), draft.walk(end))


def _mark(draft: Draft, goal: str | None, start: float, end: float, side: int) -> None:
    """Stand something where a walk leads to, or where it comes from."""
    if goal is None:
        return
    if draft.chance(0.6):
        draft.stand_thing(goal, end + side * draft.between(0.80, 0.88))
    else:
        draft.stand_thing(goal, start - side * draft.between(0.5, 0.7))


PLOTS = Registry(
    "plot",
    {
        "approach": Plot(("approached",), 2.0, _approach),
        "pick": Plot(("picked-up",), 0.8, _pick),
        "put": Plot(("put-down",), 0.8, _put),
        "carry": Plot(("carried",), 2.2, _carry),
        "fetch": Plot(("approached", "picked-up"), 2.0, _fetch),
        "take along": Plot(("carried", "picked-up"), 2.2, _take_along),
        "bring": Plot(("carried", "put-down"), 2.4, _bring),
        "leave behind": Plot(("put-down",), 2.4, _leave_behind),
    },
)
"""All plots by name."""
