"""`Recording`: everything that happened in a film, frame by frame, in metres."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wordsight.worlds.sketch import turned
from wordsight.worlds.street.people.body import middle_of
from wordsight.worlds.street.scenario import Scenario

__all__ = ["Activity", "Recording"]


@dataclass(frozen=True)
class Activity:
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
class Recording:
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

    scenario: Scenario
    frame_rate: float
    joints: NDArray[np.float64]
    facings: NDArray[np.float64]
    places: NDArray[np.float64]
    holders: NDArray[np.int64]
    activities: tuple[Activity, ...]

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
