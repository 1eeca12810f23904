"""What performances of all worlds share: acts, the log of activities, the steps of time."""

from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol, TypeVar

__all__ = ["Act", "Activity", "Clock", "Stage", "Wait"]

_TICKS_PER_SECOND = 240  # joints that hold things, and stacks, need short steps

Clock = Callable[[float], Iterator[float]]
"""Counts the steps of some seconds: yields the time since the beginning, after each step."""

Actor = TypeVar("Actor", contravariant=True)


class Act(Protocol[Actor]):
    """Something a person or a hand does for a while."""

    @property
    def name(self) -> str:
        """Name in the log of the film."""

    @property
    def thing(self) -> str | None:
        """Name of the thing it is done to, if any."""

    def perform(self, actor: Actor, clock: Clock) -> Iterator[None]:
        """Move the actor a little before each ``yield``; one step of time passes at each."""


@dataclass(frozen=True)
class Wait:
    """Keep still for some ``duration`` in seconds."""

    duration: float
    name = "wait"
    thing = None

    def seconds(self, x: float) -> float:
        """Return the duration."""
        return self.duration

    def leads_to(self, x: float) -> float:
        """Stay at ``x``."""
        return x

    def perform(self, actor: object, clock: Clock) -> Iterator[None]:
        """Do nothing."""
        for _ in clock(self.duration):
            yield


@dataclass(frozen=True)
class Activity:
    """One act that was performed."""

    agent: str
    name: str  # of the act, such as walk
    thing: str | None  # what it was done to, if anything
    first: int  # frame in which it began
    last: int  # frame in which it ended


class Stage:
    """Time and the log of activities while acts are performed with physics.

    Args:
        frame_rate: Frames per second.

    Attributes:
        frame: Number of the frame that is performed.
        activities: The acts so far, in the order they ended.
        per_frame: Short steps in a frame.
        tick: Seconds of such a step.
    """

    def __init__(self, frame_rate: float) -> None:
        self.frame_rate = frame_rate
        self.frame = 0
        self.activities: list[Activity] = []
        self.per_frame = max(round(_TICKS_PER_SECOND / frame_rate), 1)
        self.tick = 1.0 / (frame_rate * self.per_frame)

    def clock(self, seconds: float) -> Iterator[float]:
        """Count the steps of some seconds."""
        for step in range(1, max(round(seconds / self.tick), 1) + 1):
            yield min(step * self.tick, seconds)

    def script(
        self, agent: str, actor: Actor, acts: Iterable[Act[Actor]], *, ends_before: int = 0
    ) -> Generator[None]:
        """Perform acts one after the other and log them.

        Args:
            agent: Name of the actor in the log.
            actor: Whom the acts move.
            acts: What is done.
            ends_before: Frames before the present one that count as an act's last.
        """
        for act in acts:
            first = self.frame
            try:
                yield from act.perform(actor, self.clock)
            finally:  # also when the film ends in the middle of it
                last = max(self.frame - ends_before, first)
                self.activities.append(Activity(agent, act.name, act.thing, first, last))
