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

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wordsight.language import default_lexicon, parse
from wordsight.records import Word
from wordsight.worlds.checks import WorldError
from wordsight.worlds.painter import Floats
from wordsight.worlds.performance import Activity
from wordsight.worlds.street.recording import StreetRecording

__all__ = [
    "LANGUAGES",
    "MANNERS",
    "RELATIONS",
    "STATIC_RELATIONS",
    "VERBS",
    "Bounds",
    "FrameSpan",
    "JudgedSpan",
    "Kinematics",
    "StreetEvent",
    "events_of",
    "translated",
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
    """Positions, speeds, walks and grips of all individuals of a recording.

    Attributes:
        recording: What happened.
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

    def acts(self, kind: str) -> Iterator[tuple[Activity, FrameSpan]]:
        """Yield the acts of one kind with their frames."""
        for activity in self.recording.activities:
            if activity.name == kind:
                yield activity, FrameSpan(activity.first, activity.last)

    def walks(self, name: str) -> Iterator[FrameSpan]:
        """Yield the frames of each walk of a person, or each walk on which a thing is carried."""
        for activity, span in self.acts("walk"):
            if activity.agent == name or np.all(self.grip(activity.agent, name)[span.frames]):
                yield span

    def grip(self, person: str, thing: str) -> NDArray[np.bool_]:
        """Return ``(T,)`` whether a person holds a thing."""
        if person not in self.recording.people or thing not in self._holders:
            return np.zeros(self.recording.num_frames, dtype=bool)
        return np.asarray(self._holders[thing] == self.recording.people.index(person))

    def holder(self, thing: str, frame: int) -> str | None:
        """Return who holds a thing in a frame, if anyone."""
        person = self._holders[thing][frame]
        return None if person < 0 else self.recording.people[person]

    def is_held(self, name: str, span: FrameSpan) -> bool:
        """Whether anyone holds an individual in some frame."""
        return name in self._holders and bool(np.any(self._holders[name][span.frames] >= 0))


def _speed(middle: Floats, frame_rate: float) -> Floats:
    if len(middle) < 2:
        return np.zeros(len(middle))
    return np.asarray(np.hypot(*np.gradient(middle, axis=0).T) * frame_rate)


@dataclass(frozen=True)
class JudgedSpan:
    """A span of frames on which words are judged under some bounds."""

    kinematics: Kinematics
    bounds: Bounds
    span: FrameSpan

    def x(self, name: str) -> Floats:
        """Return the horizontal positions of an individual, ``(n,)`` metres."""
        return self.kinematics.middles[name][self.span.frames, 0]

    def gap(self, one: str, other: str) -> Floats:
        """Return how far another individual is to the right of one, ``(n,)`` metres."""
        return self.x(other) - self.x(one)

    def rests(self, name: str) -> bool:
        """Whether an individual stays where it is and is not held."""
        held = self.kinematics.is_held(name, self.span)
        return not held and bool(np.ptp(self.x(name)) <= _STILL)

    def joined(self, one: str, other: str) -> bool:
        """Whether one of two individuals holds the other in some frame."""
        grips = self.kinematics.grip(one, other), self.kinematics.grip(other, one)
        return any(bool(np.any(grip[self.span.frames])) for grip in grips)

    def top_speed(self, name: str) -> float:
        """Return the greatest speed of an individual in metres per second."""
        return float(self.kinematics.speeds[name][self.span.frames].max())

    def distance_growth(self, mover: str, mark: str) -> float:
        """Return by how much a distance grows; 0 if the mark moves or the mover passes it."""
        if not self.rests(mark):
            return 0.0
        gap = self.gap(mover, mark)
        if np.any(gap * gap[0] <= 0):
            return 0.0
        return float(abs(gap[-1]) - abs(gap[0]))


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
    heights = kinematics.middles[thing][:, 1]
    holders = kinematics.holder(thing, free), kinematics.holder(thing, held)
    lifted = float(heights[held]) - float(heights[free]) >= bounds.lift
    return holders == (None, activity.agent) and lifted


def _carried(kinematics: Kinematics, bounds: Bounds) -> Iterator[StreetEvent]:
    for person in kinematics.recording.people:
        for span in kinematics.walks(person):
            way = kinematics.middles[person][span.frames, 0]
            for thing in kinematics.recording.things:
                held = np.all(kinematics.grip(person, thing)[span.frames])
                if held and abs(way[-1] - way[0]) >= bounds.carry:
                    yield StreetEvent("carried", person, thing, span)


def _approached(kinematics: Kinematics, bounds: Bounds) -> Iterator[StreetEvent]:
    for agent in kinematics.kinds:
        for span in kinematics.walks(agent):
            for patient in kinematics.kinds:
                if patient != agent and _comes_near(
                    JudgedSpan(kinematics, bounds, span), agent, patient
                ):
                    yield StreetEvent("approached", agent, patient, span)


def _comes_near(judged: JudgedSpan, agent: str, patient: str) -> bool:
    if not judged.rests(patient):
        return False
    bounds, gap = judged.bounds, judged.gap(agent, patient)
    start, end = abs(gap[0]), abs(gap[-1])
    far_to_near = start >= bounds.far and end <= bounds.near and start - end >= bounds.shrink
    return bool(far_to_near and gap[0] * gap[-1] > 0)


def _left_of(judged: JudgedSpan, figure: str, referent: str) -> bool:
    apart = bool(judged.gap(figure, referent).min() >= judged.bounds.side)
    return apart and not judged.joined(figure, referent)


VERBS: dict[str, Callable[[Kinematics, Bounds], Iterator[StreetEvent]]] = {
    "picked-up": _picked_up,
    "put-down": _put_down,
    "carried": _carried,
    "approached": _approached,
}
"""Verbs by entry: each finds its events in a film."""

MANNERS: dict[str, Callable[[JudgedSpan, str], bool]] = {
    "quickly": lambda s, agent: s.top_speed(agent) >= s.bounds.quick,
    "slowly": lambda s, agent: s.bounds.moving <= s.top_speed(agent) <= s.bounds.slow,
}
"""Adverbs by entry: each judges the agent on a span."""

RELATIONS: dict[str, Callable[[JudgedSpan, str, str], bool]] = {
    "to-the-left-of": _left_of,
    "to-the-right-of": lambda s, figure, referent: _left_of(s, referent, figure),
    "towards": lambda s, mover, goal: s.distance_growth(mover, goal) <= -s.bounds.change,
    "away-from": lambda s, mover, source: s.distance_growth(mover, source) >= s.bounds.change,
}
"""Prepositions by entry: each judges two individuals on a span."""

STATIC_RELATIONS = ("to-the-left-of", "to-the-right-of")
"""Prepositions about any two individuals; the others are about the agent's movement."""


LANGUAGES = ("english", "german", "spanish")

_GERMAN_NOUNS = {
    "person": "Person",
    "backpack": "Rucksack",
    "trash-can": "Mülleimer",
    "chair": "Stuhl",
    "traffic-cone": "Verkehrskegel",
    "stool": "Hocker",
}
_GERMAN_ARTICLES = {"subject": "der", "object": "den", "dative": "dem", "genitive": "des"}
_SPANISH_NOUNS = {
    "person": "la persona",
    "backpack": "la mochila",
    "trash-can": "el basurero",
    "chair": "la silla",
    "traffic-cone": "el cono",
    "stool": "el taburete",
}
# Words before the adverb, between adverb and object, the object's case, and the particle.
_GERMAN_VERBS = {
    "picked-up": ("hob", "", "object", "auf"),
    "put-down": ("stellte", "", "object", "ab"),
    "carried": ("trug", "", "object", ""),
    "approached": ("näherte sich", "", "dative", ""),
}
_SPANISH_VERBS = {
    "picked-up": ("recogió", "", "object", ""),
    "put-down": ("dejó", "", "object", ""),
    "carried": ("llevó", "", "object", ""),
    "approached": ("se acercó", "a", "object", ""),
}
_GERMAN_MANNERS = {"quickly": "schnell", "slowly": "langsam"}
_SPANISH_MANNERS = {"quickly": "rápidamente", "slowly": "lentamente"}
_GERMAN_RELATIONS = {
    "to-the-left-of": ("links von", "dative"),
    "to-the-right-of": ("rechts von", "dative"),
    "towards": ("in Richtung", "genitive"),
    "away-from": ("weg von", "dative"),
}
_SPANISH_RELATIONS = {
    "to-the-left-of": ("a la izquierda de", "object"),
    "to-the-right-of": ("a la derecha de", "object"),
    "towards": ("hacia", "object"),
    "away-from": ("lejos de", "object"),
}


def translated(text: str, language: str) -> str:
    """Return a sentence of the street in another language.

    Args:
        text: An English sentence of its grammar.
        language: One of :data:`LANGUAGES`.

    Raises:
        WorldError: If the language is another.
    """
    if language == "english":
        return text
    if language == "german":
        return _sentence(text, _german, _GERMAN_VERBS, _GERMAN_MANNERS, _GERMAN_RELATIONS)
    if language == "spanish":
        said = _sentence(text, _spanish, _SPANISH_VERBS, _SPANISH_MANNERS, _SPANISH_RELATIONS)
        return said.replace(" a el ", " al ").replace(" de el ", " del ")
    raise WorldError(f"the street speaks {', '.join(LANGUAGES)}, not {language!r}.")


def _german(noun: str, case: str) -> str:
    if noun == "person":
        return f"{'der' if case in ('dative', 'genitive') else 'die'} Person"
    ending = "s" if case == "genitive" else ""
    return f"{_GERMAN_ARTICLES[case]} {_GERMAN_NOUNS[noun]}{ending}"


def _spanish(noun: str, case: str) -> str:
    return _SPANISH_NOUNS[noun]


def _sentence(
    text: str,
    name: Callable[[str, str], str],
    verbs: dict[str, tuple[str, str, str, str]],
    manners: dict[str, str],
    relations: dict[str, tuple[str, str]],
) -> str:
    words = parse(text, default_lexicon()).words
    nouns = {word.participants[0]: word.entry for word in words if word.entry in _GERMAN_NOUNS}
    verb = next(word for word in words if word.entry in VERBS)
    said, joint, case, particle = verbs[verb.entry]

    def relation(word: Word) -> str:
        preposition, its_case = relations[word.entry]
        return f"{preposition} {name(nouns[word.participants[1]], its_case)}"

    def phrase(participant: int, its_case: str) -> str:
        where = [
            relation(word)
            for word in words
            if word.entry in STATIC_RELATIONS and word.participants[0] == participant
        ]
        return " ".join([name(nouns[participant], its_case), *where])

    agent, patient = verb.participants
    parts: Sequence[str] = (
        phrase(agent, "subject"),
        said,
        *(manners[word.entry] for word in words if word.entry in manners),
        joint,
        phrase(patient, case),
        *(
            relation(word)
            for word in words
            if word.entry in relations and word.entry not in STATIC_RELATIONS
        ),
        particle,
    )
    joined = " ".join(part for part in parts if part)
    return f"{joined[0].upper()}{joined[1:]}."
