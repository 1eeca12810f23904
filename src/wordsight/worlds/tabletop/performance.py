"""Performing a scenario of the tabletop: the script moves the hand, physics moves the blocks."""

from collections.abc import Iterator

import numpy as np

from wordsight.worlds.tabletop.physics import Physics, Touch
from wordsight.worlds.tabletop.puppet import Puppet
from wordsight.worlds.tabletop.recording import Activity, Recording
from wordsight.worlds.tabletop.scenario import Scenario
from wordsight.worlds.timing import Ticks

__all__ = ["perform"]

_SETTLING = 0.5  # seconds before the film in which blocks come to rest


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
        self.physics = Physics(scenario.blocks, scenario.places)
        self.hand = Puppet(scenario.blocks, self.physics, scenario.start, scenario.speed)
        self.frame = 0
        self.activities: list[Activity] = []

    def settle(self) -> None:
        self.physics.put_hand(self.scenario.start)
        if self.scenario.held is not None:
            self.hand.opening = self.hand.width(self.scenario.held)
            self.physics.grip(self.scenario.held)
        for _ in range(round(_SETTLING / self.ticks.seconds)):
            self.physics.step(self.hand.place, self.ticks.seconds)
        self.physics.touches()  # forget what happened while settling
        self._frame_of_time()

    def shoot(self) -> Recording:
        poses, places, held, touches = [], [], [], []
        script = self._script()
        running = True
        while running:
            poses.append(self.hand.pose())
            places.append(self.physics.places())
            held.append(self.physics.held)
            touches.append(self.physics.touches())
            running = self._play_frame(script)
            self.frame += 1
        return Recording(
            self.scenario,
            self.frame_rate,
            tuple(poses),
            np.stack(places, axis=1),
            tuple(held),
            tuple(touches[0]),
            *_as_arrays(touches),
            tuple(self.activities),
        )

    def _play_frame(self, script: Iterator[None]) -> bool:
        for _ in range(self.ticks.per_frame):
            if next(script, StopIteration) is StopIteration:
                return False
            self.physics.step(self.hand.place, self.ticks.seconds)
        return True

    def _frame_of_time(self) -> None:
        for _ in range(self.ticks.per_frame):
            self.physics.step(self.hand.place, self.ticks.seconds)

    def _script(self) -> Iterator[None]:
        for act in self.scenario.acts:
            first = self.frame
            yield from act.perform(self.hand, self.ticks.during)
            self.activities.append(Activity(act.name, act.block, first, max(self.frame - 1, first)))


def _as_arrays(
    touches: list[dict[tuple[str, str], Touch]],
) -> tuple[np.ndarray[tuple[int, int], np.dtype[np.bool_]],
           np.ndarray[tuple[int, int], np.dtype[np.float64]]]:  # fmt: skip
    pushed = np.array([[touch.pushed for touch in frame.values()] for frame in touches]).T
    distances = np.array([[touch.distance for touch in frame.values()] for frame in touches]).T
    return pushed, distances
