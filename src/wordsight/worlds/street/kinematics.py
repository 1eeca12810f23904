"""`Kinematics`: who was where, moved how fast and held what, read off a recording."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wordsight.worlds.street.recording import Activity, Recording

__all__ = ["Kinematics", "Span"]

_STILL = 0.10  # metres a resting individual may sway or rock


@dataclass(frozen=True, order=True)
class Span:
    """Some frames in a row.

    Attributes:
        first: First frame.
        last: Last frame, included.
    """

    first: int
    last: int

    @property
    def frames(self) -> slice:
        """The frames as an index."""
        return slice(self.first, self.last + 1)


class Kinematics:
    """Positions, speeds, walks and grips of all individuals of a film.

    Args:
        recording: What happened.

    Attributes:
        recording: As above.
        kinds: The noun of every individual.
        middles: ``(T, 2)`` metres for every individual.
        speeds: ``(T,)`` metres per second for every individual.
    """

    def __init__(self, recording: Recording) -> None:
        self.recording = recording
        self.kinds = dict.fromkeys(recording.people, "person") | {
            prop.name: prop.thing.noun for prop in recording.scenario.props
        }
        self.middles = recording.middles()
        self.speeds = {
            name: _speed(middle, recording.frame_rate) for name, middle in self.middles.items()
        }

    @property
    def whole(self) -> Span:
        """All frames of the film."""
        return Span(0, self.recording.num_frames - 1)

    def x(self, name: str, span: Span) -> NDArray[np.float64]:
        """Return the horizontal positions of an individual, ``(n,)`` metres."""
        return self.middles[name][span.frames, 0]

    def y(self, name: str, frame: int) -> float:
        """Return how high the middle of an individual is, metres."""
        return float(self.middles[name][frame, 1])

    def acts(self, kind: str) -> Iterator[tuple[Activity, Span]]:
        """Yield the acts of one kind with their frames."""
        for activity in self.recording.activities:
            if activity.name == kind:
                yield activity, Span(activity.first, activity.last)

    def holder(self, thing: str, frame: int) -> str | None:
        """Return who holds a thing in a frame, if anyone."""
        person = self.recording.holders[self.recording.things.index(thing), frame]
        return None if person < 0 else self.recording.people[person]

    def holds_throughout(self, person: str, thing: str, span: Span) -> bool:
        """Whether a person has a thing in the hands in all frames."""
        return bool(np.all(self._grip(person, thing)[span.frames]))

    def ever_joined(self, one: str, other: str, span: Span) -> bool:
        """Whether one of two individuals has the other in the hands in some frame."""
        pairs = ((one, other), (other, one))
        return any(bool(np.any(self._grip(*pair)[span.frames])) for pair in pairs)

    def walks(self, name: str) -> Iterator[Span]:
        """Yield the frames of each walk of a person, or each walk on which a thing is carried."""
        for activity, span in self.acts("walk"):
            if activity.person == name or self.holds_throughout(activity.person, name, span):
                yield span

    def rests(self, name: str, span: Span) -> bool:
        """Whether an individual stays where it is and nobody holds it."""
        if name in self.recording.things:
            row = self.recording.holders[self.recording.things.index(name), span.frames]
            if np.any(row >= 0):
                return False
        return bool(np.ptp(self.x(name, span)) <= _STILL)

    def _grip(self, person: str, thing: str) -> NDArray[np.bool_]:
        if person not in self.recording.people or thing not in self.recording.things:
            return np.zeros(self.recording.num_frames, dtype=bool)
        row = self.recording.holders[self.recording.things.index(thing)]
        return np.asarray(row == self.recording.people.index(person))


def _speed(middle: NDArray[np.float64], frame_rate: float) -> NDArray[np.float64]:
    if len(middle) < 2:
        return np.zeros(len(middle))
    return np.asarray(np.hypot(*np.gradient(middle, axis=0).T) * frame_rate)
