"""`StreetRecording`: everything that happened in a film, frame by frame, in metres."""

from collections.abc import Generator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wordsight.worlds.sketch import turned
from wordsight.worlds.street.acts import Actor, StreetAct
from wordsight.worlds.street.people import PersonLook, Pose, joints_of, middle_of
from wordsight.worlds.street.physics import StreetPhysics
from wordsight.worlds.street.places.place import Place
from wordsight.worlds.street.things.thing import Prop
from wordsight.worlds.timing import Ticks

__all__ = [
    "Person",
    "PersonScript",
    "StreetActivity",
    "StreetRecording",
    "StreetScenario",
    "perform",
]


# MERGED FROM wordsight.worlds.street.recording:
# `StreetScenario`: a film before it is performed.


@dataclass(frozen=True)
class Person:
    """One individual person of a film.

    Attributes:
        name: Unique in the film, such as ``person-1``.
        look: Height, clothes and so on.
    """

    name: str
    look: PersonLook


@dataclass(frozen=True)
class PersonScript:
    """What one person does.

    Attributes:
        person: Who.
        x: Where they stand at the beginning, metres.
        facing: 1 looks right, -1 left.
        holding: Name of the thing they hold at the beginning, or None.
        acts: What they do, one after the other; then they stand until the end.
    """

    person: Person
    x: float
    facing: int
    holding: str | None
    acts: tuple[StreetAct, ...]

    def seconds(self) -> float:
        """How long all acts take."""
        total, x = 0.0, self.x
        for act in self.acts:
            total += act.seconds(x)
            x = act.leads_to(x)
        return total


@dataclass(frozen=True)
class StreetScenario:
    """A film before it is shot.

    Attributes:
        place: Where.
        props: All things.
        spots: x of the things that stand on the ground at the beginning, by name.
        parts: What the people do.
        duration: Seconds.
    """

    place: Place
    props: tuple[Prop, ...]
    spots: dict[str, float]
    parts: tuple[PersonScript, ...]
    duration: float


@dataclass(frozen=True)
class StreetActivity:
    """One act that was performed.

    Attributes:
        person: Who, by name.
        name: Which act, such as ``walk``.
        thing: What it was done to, by name, if anything.
        first: First frame in which it was under way.
        last: Last frame in which it was under way.
    """

    person: str
    name: str
    thing: str | None
    first: int
    last: int


@dataclass(frozen=True)
class StreetRecording:
    """What physics and script did.

    Attributes:
        scenario: What was planned.
        frame_rate: Frames per second.
        joints: ``(P, T, 18, 2)`` the joints of the people in metres.
        facings: ``(P, T)`` where they look.
        places: ``(M, T, 3)`` x, y of the foot and angle of the things.
        holders: ``(M, T)`` number of the person who holds the thing, -1 if nobody does.
        activities: The acts in the order they began.
    """

    scenario: StreetScenario
    frame_rate: float
    joints: NDArray[np.float64]
    facings: NDArray[np.float64]
    places: NDArray[np.float64]
    holders: NDArray[np.int64]
    activities: tuple[StreetActivity, ...]

    @property
    def num_frames(self) -> int:
        """How many frames there are."""
        return int(self.joints.shape[1])

    @property
    def people(self) -> tuple[str, ...]:
        """Names of the people, in the order of the arrays."""
        return tuple(part.person.name for part in self.scenario.parts)

    @property
    def things(self) -> tuple[str, ...]:
        """Names of the things, in the order of the arrays."""
        return tuple(prop.name for prop in self.scenario.props)

    def middles(self) -> dict[str, NDArray[np.float64]]:
        """Return the middle of every individual, ``(T, 2)`` metres each.

        The middle of a person lies half-way between head and pelvis, that of a thing at half its
        height.
        """
        people = dict(zip(self.people, middle_of(self.joints), strict=True))
        heights = np.array([prop.height for prop in self.scenario.props])
        centres = {}
        for name, height, place in zip(self.things, heights, self.places, strict=True):
            up = np.stack([turned((0.0, height / 2), angle) for angle in place[:, 2]])
            centres[name] = place[:, :2] + up
        return people | centres


# MERGED FROM wordsight.worlds.street.recording:
# Performing a scenario: scripts move the people, physics moves the things, frames are recorded.


_SETTLING = 0.7  # seconds before the film in which things come to rest


def perform(scenario: StreetScenario, frame_rate: float = 30.0) -> StreetRecording:
    """Let a scenario happen.

    Args:
        scenario: What shall happen.
        frame_rate: How often it is recorded, per second.
    """
    stage = _Stage(scenario, frame_rate)
    stage.settle()
    return stage.shoot()


class _Stage:
    def __init__(self, scenario: StreetScenario, frame_rate: float) -> None:
        self.scenario = scenario
        self.frame_rate = frame_rate
        self.ticks = Ticks(frame_rate)
        props = {prop.name: prop for prop in scenario.props}
        self.actors = [
            Actor(part.person.name, part.x, float(part.facing), props) for part in scenario.parts
        ]
        self.physics = StreetPhysics(scenario.props, [actor.name for actor in self.actors])
        self.frame = 0
        self.activities: list[StreetActivity] = []

    def settle(self) -> None:
        for name, x in self.scenario.spots.items():
            self.physics.stand(name, x)
        for actor, part in zip(self.actors, self.scenario.parts, strict=True):
            if part.holding is not None:
                actor.take(part.holding)
                actor.settle()
                self.physics.place_hand(actor.name, actor.reach)
                self.physics.grip(actor.name, part.holding, hanging=True)
        for _ in range(round(_SETTLING / self.ticks.seconds)):
            self._step_physics()

    def shoot(self) -> StreetRecording:
        scripts = [
            self._script(actor, part)
            for actor, part in zip(self.actors, self.scenario.parts, strict=True)
        ]
        poses, places, holders = [], [], []
        for frame in range(max(round(self.scenario.duration * self.frame_rate), 1)):
            self.frame = frame
            poses.append([actor.pose() for actor in self.actors])
            places.append(self.physics.places())
            holders.append(self._holders())
            for _ in range(self.ticks.per_frame):
                for actor, script in zip(self.actors, scripts, strict=True):
                    next(script, None)
                    actor.settle()
                self._step_physics()
        for script in scripts:
            script.close()
        return self._recording(poses, places, holders)

    def _script(self, actor: Actor, part: PersonScript) -> Generator[None]:
        for act in part.acts:
            first = self.frame
            try:
                yield from act.perform(actor, self.physics, self.ticks.during)
            finally:  # also when the film ends in the middle of it
                self.activities.append(
                    StreetActivity(actor.name, act.name, act.thing, first, max(self.frame, first))
                )

    def _step_physics(self) -> None:
        hands = {actor.name: actor.reach for actor in self.actors if actor.holding is not None}
        self.physics.step(hands, self.ticks.seconds)

    def _holders(self) -> NDArray[np.int64]:
        number = {actor.name: index for index, actor in enumerate(self.actors)}
        names = [self.physics.holder_of(prop.name) for prop in self.scenario.props]
        return np.array([-1 if name is None else number[name] for name in names], dtype=np.int64)

    def _recording(
        self,
        poses: list[list[Pose]],
        places: list[NDArray[np.float64]],
        holders: list[NDArray[np.int64]],
    ) -> StreetRecording:
        heights = [part.person.look.height for part in self.scenario.parts]
        joints = [
            [joints_of(moment[who], height) for moment in poses]
            for who, height in enumerate(heights)
        ]
        facings = [[moment[who].facing for moment in poses] for who in range(len(heights))]
        return StreetRecording(
            scenario=self.scenario,
            frame_rate=self.frame_rate,
            joints=np.array(joints),
            facings=np.array(facings),
            places=np.array(places).transpose(1, 0, 2),
            holders=np.array(holders).T,
            activities=tuple(sorted(self.activities, key=lambda act: (act.first, act.person))),
        )
