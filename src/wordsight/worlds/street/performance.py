"""Performing a scenario: scripts move the people, physics moves the things, frames are recorded."""

from collections.abc import Generator

import numpy as np
from numpy.typing import NDArray

from wordsight.worlds.street.actor import Actor
from wordsight.worlds.street.people.body import Pose, joints_of
from wordsight.worlds.street.physics import Physics
from wordsight.worlds.street.recording import Activity, Recording
from wordsight.worlds.street.scenario import Part, Scenario
from wordsight.worlds.timing import Ticks

__all__ = ["perform"]

_SETTLING = 0.7  # seconds before the film in which things come to rest


def perform(scenario: Scenario, frame_rate: float = 30.0) -> Recording:
    """Let a scenario happen.

    Args:
        scenario: What shall happen.
        frame_rate: How often it is recorded, per second.
    """
    stage = _Stage(scenario, frame_rate)
    stage.settle()
    return stage.shoot()


class _Stage:
    def __init__(self, scenario: Scenario, frame_rate: float) -> None:
        self.scenario = scenario
        self.frame_rate = frame_rate
        self.ticks = Ticks(frame_rate)
        props = {prop.name: prop for prop in scenario.props}
        self.actors = [
            Actor(part.person.name, part.x, float(part.facing), props) for part in scenario.parts
        ]
        self.physics = Physics(scenario.props, [actor.name for actor in self.actors])
        self.frame = 0
        self.activities: list[Activity] = []

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

    def shoot(self) -> Recording:
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

    def _script(self, actor: Actor, part: Part) -> Generator[None]:
        for act in part.acts:
            first = self.frame
            try:
                yield from act.perform(actor, self.physics, self.ticks.during)
            finally:  # also when the film ends in the middle of it
                self.activities.append(
                    Activity(actor.name, act.name, act.thing, first, max(self.frame, first))
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
    ) -> Recording:
        heights = [part.person.look.height for part in self.scenario.parts]
        joints = [
            [joints_of(moment[who], height) for moment in poses]
            for who, height in enumerate(heights)
        ]
        facings = [[moment[who].facing for moment in poses] for who in range(len(heights))]
        return Recording(
            scenario=self.scenario,
            frame_rate=self.frame_rate,
            joints=np.array(joints),
            facings=np.array(facings),
            places=np.array(places).transpose(1, 0, 2),
            holders=np.array(holders).T,
            activities=tuple(sorted(self.activities, key=lambda act: (act.first, act.person))),
        )
