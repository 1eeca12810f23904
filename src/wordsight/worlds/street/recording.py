"""Scenarios of the street, how they are performed, and the recordings this gives.

Scripts move the people, physics moves the things, every frame is recorded in metres.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wordsight.worlds.acts import Activity, Stage
from wordsight.worlds.sketch import turned
from wordsight.worlds.street.acts import Actor, StreetAct
from wordsight.worlds.street.people import PersonLook, joints_of, middle_of
from wordsight.worlds.street.physics import StreetPhysics
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
    joints: NDArray[np.float64]  # (P, T, 18, 2) metres
    facings: NDArray[np.float64]  # (P, T)
    places: NDArray[np.float64]  # (M, T, 3) x, y of the foot and angle of the things
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

    def middles(self) -> dict[str, NDArray[np.float64]]:
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
    stage = _StreetStage(scenario, frame_rate)
    stage.settle()
    return stage.shoot()


class _StreetStage(Stage):
    def __init__(self, scenario: StreetScenario, frame_rate: float) -> None:
        super().__init__(frame_rate)
        self.scenario = scenario
        props = {prop.name: prop for prop in scenario.props}
        self.physics = StreetPhysics(scenario.props, [script.name for script in scenario.scripts])
        self.actors = [
            Actor(script.name, script.x, float(script.facing), props, self.physics)
            for script in scenario.scripts
        ]

    def settle(self) -> None:
        for name, x in self.scenario.spots.items():
            self.physics.stand(name, x)
        for actor, script in zip(self.actors, self.scenario.scripts, strict=True):
            if script.holding is not None:
                actor.take(script.holding)
                actor.settle()
                self.physics.place_hand(actor.name, actor.reach)
                self.physics.grip(actor.name, script.holding, hanging=True)
        for _ in range(round(_SETTLING / self.tick)):
            self._step_physics()

    def shoot(self) -> StreetRecording:
        scripts = [
            self.script(actor.name, actor, script.acts)
            for actor, script in zip(self.actors, self.scenario.scripts, strict=True)
        ]
        poses, places, holders = [], [], []
        numbers = {actor.name: number for number, actor in enumerate(self.actors)}
        things = [prop.name for prop in self.scenario.props]
        for frame in range(max(round(self.scenario.duration * self.frame_rate), 1)):
            self.frame = frame
            poses.append([actor.pose() for actor in self.actors])
            places.append(self.physics.places())
            holders.append([numbers.get(self.physics.holders.get(name, ""), -1) for name in things])
            for _ in range(self.per_frame):
                for actor, script in zip(self.actors, scripts, strict=True):
                    next(script, None)
                    actor.settle()
                self._step_physics()
        for script in scripts:
            script.close()
        heights = [script.look.height for script in self.scenario.scripts]
        people = list(zip(heights, zip(*poses, strict=True), strict=True))
        return StreetRecording(
            scenario=self.scenario,
            frame_rate=self.frame_rate,
            joints=np.array([[joints_of(pose, tall) for pose in track] for tall, track in people]),
            facings=np.array([[pose.facing for pose in track] for _, track in people]),
            places=np.array(places).transpose(1, 0, 2),
            holders=np.array(holders, dtype=np.int64).T,
            activities=tuple(sorted(self.activities, key=lambda act: (act.first, act.agent))),
        )

    def _step_physics(self) -> None:
        hands = {actor.name: actor.reach for actor in self.actors if actor.holding is not None}
        self.physics.step(hands, self.tick)
