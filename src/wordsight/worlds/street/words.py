"""What every word of the street means: its exact truth conditions on script and physics.

"Distance" is the horizontal distance between the middles of two individuals; the middle of a person
lies half-way between head and pelvis. A verb is true of an agent, a patient and a *span* of frames;
all other words of a sentence must be true on that same span.

===================  ===============================================================================
word                 is true when
===================  ===============================================================================
a noun               the individual is of that kind
``picked-up``        the span is that of the agent bending for the patient and rising again; no one
                     held the patient before, the agent's hands hold it at the end, and its middle
                     is at least 0.2 m higher than at the beginning
``put-down``         the reverse: in the agent's hands at the beginning, in no one's at the end,
                     at least 0.2 m lower
``carried``          the span is that of one walk of the agent, who holds the patient all along
                     and comes at least 0.6 m further
``approached``       the span is that of one walk of the agent, or one on which the agent is
                     carried; the patient rests; the distance is at least 1.2 m at first, at most
                     1.0 m in the end, has shrunk by at least 0.6 m, and the agent has not passed
                     the patient
``quickly``          the agent's middle reaches at least 1.5 m/s, in any direction
``slowly``           the agent's middle moves, and never faster than 0.95 m/s
``to-the-left-of``   the figure's middle is at least 0.25 m left of the referent's in every frame,
                     and neither holds the other
``to-the-right-of``  likewise, on the other side
``towards``          the distance to the goal, which rests, shrinks by at least 0.5 m without the
                     agent passing it
``away-from``        the distance to the source, which rests, grows by at least 0.5 m, the agent
                     staying on one side of it
===================  ===============================================================================

Scripts keep clear of these bounds: a film in which some word would change its truth if the bounds
were a little tighter or wider is not made (see :meth:`Bounds.tight` and :meth:`Bounds.wide`).
Adding a word takes one function and one line in the tables at the end of this file.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wordsight.worlds.acts import Activity
from wordsight.worlds.street.recording import StreetRecording

__all__ = [
    "MANNERS",
    "RELATIONS",
    "STATIC_RELATIONS",
    "VERBS",
    "Bounds",
    "FrameSpan",
    "Kinematics",
    "StreetEvent",
    "events_of",
]

_STILL = 0.10  # metres a resting individual may sway or rock


@dataclass(frozen=True)
class Bounds:
    """The numbers in the table above, in metres and metres per second."""

    lift: float = 0.20
    carry: float = 0.60
    far: float = 1.20
    near: float = 1.00
    shrink: float = 0.60
    quick: float = 1.50
    slow: float = 0.95
    moving: float = 0.15
    side: float = 0.25
    change: float = 0.50

    @classmethod
    def tight(cls) -> "Bounds":
        """Bounds under which every word is true less often."""
        return cls(0.28, 0.72, 1.32, 0.90, 0.72, 1.62, 0.86, 0.22, 0.33, 0.60)

    @classmethod
    def wide(cls) -> "Bounds":
        """Bounds under which every word is true more often."""
        return cls(0.12, 0.48, 1.08, 1.10, 0.48, 1.38, 1.04, 0.08, 0.17, 0.40)


@dataclass(frozen=True, order=True)
class FrameSpan:
    """Consecutive frames from ``first`` to ``last``, both included."""

    first: int
    last: int

    @property
    def frames(self) -> slice:
        """The frames as an index."""
        return slice(self.first, self.last + 1)


@dataclass(frozen=True, order=True)
class StreetEvent:
    """A verb that is true of two individuals during a span of frames."""

    verb: str
    agent: str
    patient: str
    span: FrameSpan


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

    def __init__(self, recording: StreetRecording) -> None:
        self.recording = recording
        self.kinds = dict.fromkeys(recording.people, "person") | {
            prop.name: prop.thing.noun for prop in recording.scenario.props
        }
        self.middles = recording.middles()
        self.speeds = {
            name: _speed(middle, recording.frame_rate) for name, middle in self.middles.items()
        }
        self._holders = dict(zip(recording.things, recording.holders, strict=True))

    @property
    def whole(self) -> FrameSpan:
        """All frames of the film."""
        return FrameSpan(0, self.recording.num_frames - 1)

    def x(self, name: str, span: FrameSpan) -> NDArray[np.float64]:
        """Return the horizontal positions of an individual, ``(n,)`` metres."""
        return self.middles[name][span.frames, 0]

    def y(self, name: str, frame: int) -> float:
        """Return the height of the middle of an individual in metres."""
        return float(self.middles[name][frame, 1])

    def acts(self, kind: str) -> Iterator[tuple[Activity, FrameSpan]]:
        """Yield the acts of one kind with their frames."""
        for activity in self.recording.activities:
            if activity.name == kind:
                yield activity, FrameSpan(activity.first, activity.last)

    def holder(self, thing: str, frame: int) -> str | None:
        """Return who holds a thing in a frame, if anyone."""
        person = self._holders[thing][frame]
        return None if person < 0 else self.recording.people[person]

    def holds_throughout(self, person: str, thing: str, span: FrameSpan) -> bool:
        """Whether a person has a thing in the hands in all frames."""
        return bool(np.all(self._grip(person, thing)[span.frames]))

    def ever_joined(self, one: str, other: str, span: FrameSpan) -> bool:
        """Whether one of two individuals has the other in the hands in some frame."""
        pairs = ((one, other), (other, one))
        return any(bool(np.any(self._grip(*pair)[span.frames])) for pair in pairs)

    def walks(self, name: str) -> Iterator[FrameSpan]:
        """Yield the frames of each walk of a person, or each walk on which a thing is carried."""
        for activity, span in self.acts("walk"):
            if activity.agent == name or self.holds_throughout(activity.agent, name, span):
                yield span

    def rests(self, name: str, span: FrameSpan) -> bool:
        """Whether an individual stays where it is and is not held."""
        if name in self._holders and np.any(self._holders[name][span.frames] >= 0):
            return False
        return bool(np.ptp(self.x(name, span)) <= _STILL)

    def _grip(self, person: str, thing: str) -> NDArray[np.bool_]:
        if person not in self.recording.people or thing not in self._holders:
            return np.zeros(self.recording.num_frames, dtype=bool)
        return np.asarray(self._holders[thing] == self.recording.people.index(person))


def _speed(middle: NDArray[np.float64], frame_rate: float) -> NDArray[np.float64]:
    if len(middle) < 2:
        return np.zeros(len(middle))
    return np.asarray(np.hypot(*np.gradient(middle, axis=0).T) * frame_rate)


def events_of(kinematics: Kinematics, bounds: Bounds) -> list[StreetEvent]:
    """Return every verb that is true of a film, in order of time."""
    events = (event for find in VERBS.values() for event in find(kinematics, bounds))
    return sorted(events, key=lambda event: (event.span, event.verb, event.agent, event.patient))


def _picked_up(kinematics: Kinematics, bounds: Bounds) -> Iterator[StreetEvent]:
    for activity, span in kinematics.acts("pick-up"):
        if _lifts(kinematics, bounds, activity, free=span.first, held=span.last):
            yield StreetEvent("picked-up", activity.agent, str(activity.thing), span)


def _put_down(kinematics: Kinematics, bounds: Bounds) -> Iterator[StreetEvent]:
    for activity, span in kinematics.acts("put-down"):
        if _lifts(kinematics, bounds, activity, free=span.last, held=span.first):
            yield StreetEvent("put-down", activity.agent, str(activity.thing), span)


def _lifts(
    kinematics: Kinematics, bounds: Bounds, activity: Activity, *, free: int, held: int
) -> bool:
    """Whether a thing is higher in the frame in which the agent holds it than when it is free."""
    thing = str(activity.thing)
    rise = kinematics.y(thing, held) - kinematics.y(thing, free)
    holders = kinematics.holder(thing, free), kinematics.holder(thing, held)
    return holders == (None, activity.agent) and rise >= bounds.lift


def _carried(kinematics: Kinematics, bounds: Bounds) -> Iterator[StreetEvent]:
    for person in kinematics.recording.people:
        for span in kinematics.walks(person):
            way = kinematics.x(person, span)
            for thing in kinematics.recording.things:
                held = kinematics.holds_throughout(person, thing, span)
                if held and abs(way[-1] - way[0]) >= bounds.carry:
                    yield StreetEvent("carried", person, thing, span)


def _approached(kinematics: Kinematics, bounds: Bounds) -> Iterator[StreetEvent]:
    for agent in kinematics.kinds:
        for span in kinematics.walks(agent):
            for patient in kinematics.kinds:
                if patient != agent and _comes_near(kinematics, bounds, span, agent, patient):
                    yield StreetEvent("approached", agent, patient, span)


def _comes_near(
    kinematics: Kinematics, bounds: Bounds, span: FrameSpan, agent: str, patient: str
) -> bool:
    if not kinematics.rests(patient, span):
        return False
    gap = kinematics.x(patient, span) - kinematics.x(agent, span)
    start, end = abs(gap[0]), abs(gap[-1])
    far_to_near = start >= bounds.far and end <= bounds.near and start - end >= bounds.shrink
    return bool(far_to_near and gap[0] * gap[-1] > 0)


def _quickly(kinematics: Kinematics, bounds: Bounds, span: FrameSpan, agent: str) -> bool:
    return bool(kinematics.speeds[agent][span.frames].max() >= bounds.quick)


def _slowly(kinematics: Kinematics, bounds: Bounds, span: FrameSpan, agent: str) -> bool:
    return bool(bounds.moving <= kinematics.speeds[agent][span.frames].max() <= bounds.slow)


def _left_of(
    kinematics: Kinematics, bounds: Bounds, span: FrameSpan, figure: str, referent: str
) -> bool:
    gap = kinematics.x(referent, span) - kinematics.x(figure, span)
    return bool(gap.min() >= bounds.side) and not kinematics.ever_joined(figure, referent, span)


def _right_of(
    kinematics: Kinematics, bounds: Bounds, span: FrameSpan, figure: str, referent: str
) -> bool:
    return _left_of(kinematics, bounds, span, referent, figure)


def _towards(
    kinematics: Kinematics, bounds: Bounds, span: FrameSpan, mover: str, goal: str
) -> bool:
    return _distance_growth(kinematics, span, mover, goal) <= -bounds.change


def _away_from(
    kinematics: Kinematics, bounds: Bounds, span: FrameSpan, mover: str, source: str
) -> bool:
    return _distance_growth(kinematics, span, mover, source) >= bounds.change


def _distance_growth(kinematics: Kinematics, span: FrameSpan, mover: str, mark: str) -> float:
    """Return by how much a distance grows; 0 if the mark moves or the mover passes it."""
    if not kinematics.rests(mark, span):
        return 0.0
    gap = kinematics.x(mark, span) - kinematics.x(mover, span)
    if np.any(gap * gap[0] <= 0):
        return 0.0
    return float(abs(gap[-1]) - abs(gap[0]))


VERBS: dict[str, Callable[[Kinematics, Bounds], Iterator[StreetEvent]]] = {
    "picked-up": _picked_up,
    "put-down": _put_down,
    "carried": _carried,
    "approached": _approached,
}
"""Verbs by entry: each finds its events in a film."""

MANNERS: dict[str, Callable[[Kinematics, Bounds, FrameSpan, str], bool]] = {
    "quickly": _quickly,
    "slowly": _slowly,
}
"""Adverbs by entry: each judges the agent on a span."""

RELATIONS: dict[str, Callable[[Kinematics, Bounds, FrameSpan, str, str], bool]] = {
    "to-the-left-of": _left_of,
    "to-the-right-of": _right_of,
    "towards": _towards,
    "away-from": _away_from,
}
"""Prepositions by entry: each judges two individuals on a span."""

STATIC_RELATIONS = ("to-the-left-of", "to-the-right-of")
"""Prepositions about any two individuals; the others are about the agent's movement."""
