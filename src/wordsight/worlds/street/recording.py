"""Scenarios of the street, how they are performed, and the recordings this gives.

Scripts move the people, physics moves the things, every frame is recorded in metres.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wordsight.worlds.painter import Floats
from wordsight.worlds.performance import Activity, Stage
from wordsight.worlds.sketch import turned
from wordsight.worlds.street.acts import Actor, StreetAct, StreetPhysics
from wordsight.worlds.street.people import PersonLook, joints_of, middle_of
from wordsight.worlds.street.places import Place
from wordsight.worlds.street.things import Prop

__all__ = ["PersonScript", "StreetRecording", "StreetScenario", "perform"]

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
