"""`StreetTruth`: what is true of a film of the street, for every sentence of its grammar."""

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from functools import cached_property, lru_cache
from itertools import pairwise, permutations, product
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wordsight.errors import RecordError
from wordsight.language import LanguageError, enumerate_sentences, parse
from wordsight.records import Sentence, Word
from wordsight.worlds.camera import Effects
from wordsight.worlds.checks import WorldError
from wordsight.worlds.framing import rounded_boxes, span_of
from wordsight.worlds.street.picture import boxes_of
from wordsight.worlds.street.recording import StreetRecording
from wordsight.worlds.street.words import (
    MANNERS,
    RELATIONS,
    STATIC_RELATIONS,
    VERBS,
    Bounds,
    FrameSpan,
    Kinematics,
    StreetEvent,
    events_of,
)

__all__ = ["StreetTruth", "street_sentences"]

_NOUNS = ("person", "backpack", "trash-can", "chair", "traffic-cone", "stool")


class StreetTruth:
    """What is known about one film.

    Args:
        recording: What happened, from script and physics.
        effects: How the picture is spoiled; kept in the record.
        offsets: ``(T, 2)`` pixels by which the camera's shake moves each frame; none if not given.
        bounds: Where words begin to be true.

    Attributes:
        recording: As above.
        kinematics: Positions, speeds, walks and grips.
        events: Every verb that is true, in order of time.
    """

    def __init__(
        self,
        recording: StreetRecording,
        effects: Effects | None = None,
        offsets: NDArray[np.float64] | None = None,
        bounds: Bounds | None = None,
    ) -> None:
        self.recording = recording
        self.kinematics = Kinematics(recording)
        self.bounds = Bounds() if bounds is None else bounds
        self.events: tuple[StreetEvent, ...] = tuple(events_of(self.kinematics, self.bounds))
        self._effects = Effects.at(0.0) if effects is None else effects
        still = np.zeros((recording.num_frames, 2))
        self._offsets = still if offsets is None else offsets

    @cached_property
    def boxes(self) -> Mapping[str, NDArray[np.float64]]:
        """For every individual ``(T, 4)`` pixels x1, y1, x2, y2; NaN while out of the picture.

        The boxes are whole: what something in front hides is part of them.
        """
        return MappingProxyType(boxes_of(self.recording, self._offsets))

    @property
    def kinds(self) -> dict[str, str]:
        """The noun of every individual."""
        return dict(self.kinematics.kinds)

    def holds(self, sentence: Sentence | str) -> bool:
        """Tell whether a sentence is true of the film.

        It is true if its participants can be filled with different individuals of the film, and
        there is a span of frames on which its verb is true of them and so are all other words.
        A sentence without a verb must be true of the whole film.

        Args:
            sentence: A text of the grammar, or a sentence that has been parsed.

        Raises:
            WorldError: If it cannot be read, or has words the street does not know.
        """
        words = _read(sentence) if isinstance(sentence, str) else sentence.words
        return self._decide(_claim(words))

    def true_sentences(self, *, max_participants: int = 2) -> list[Sentence]:
        """List the sentences of the grammar that are true, small ones first."""
        return [s for s in street_sentences(max_participants) if self.holds(s)]

    def record(self) -> dict[str, Any]:
        """Return the truth as JSON can hold it; see the guide to worlds for the fields."""
        scenario = self.recording.scenario
        return {
            "place": scenario.place.name,
            "effects": dict(vars(self._effects)),
            "individuals": self.kinds,
            "boxes": {name: rounded_boxes(boxes) for name, boxes in self.boxes.items()},
            "held_by": self._grips(),
            "events": [self._tell(event) for event in self.events],
        }

    def atoms(self, bounds: Bounds) -> set[tuple[str, ...]]:
        """Return every single fact that sentences are made of, as decided under ``bounds``."""
        events = events_of(self.kinematics, bounds)
        found: set[tuple[str, ...]] = {
            (event.verb, event.agent, event.patient, str(event.span)) for event in events
        }
        # The spans must not depend on the bounds, or facts could not be compared.
        spans = {(event.span, event.agent) for event in events_of(self.kinematics, Bounds.wide())}
        for span, agent in spans:
            found.update((*fact, str(span)) for fact in self._facts(span, agent, bounds))
        return found

    def is_clear(self) -> bool:
        """Whether every fact stays what it is when the bounds are a little tighter or wider."""
        return self.atoms(Bounds.tight()) == self.atoms(Bounds.wide())

    def _facts(self, span: FrameSpan, agent: str, bounds: Bounds) -> Iterator[tuple[str, ...]]:
        """Yield what can be said beside a verb: how its agent moves, and where all things are."""
        kinematics = self.kinematics
        for name in MANNERS:
            if MANNERS[name](kinematics, bounds, span, agent):
                yield name, agent
        for name in RELATIONS:
            movers = kinematics.kinds if name in STATIC_RELATIONS else [agent]
            for pair in product(movers, kinematics.kinds):
                if pair[0] != pair[1] and RELATIONS[name](kinematics, bounds, span, *pair):
                    yield (name, *pair)

    def _decide(self, claim: "_Claim") -> bool:
        if claim.verb is None:
            return any(True for _ in self._castings(claim, {}, self.kinematics.whole))
        for event in self.events:
            if event.verb != claim.verb.entry:
                continue
            agent, patient = claim.verb.participants
            if agent == patient:
                continue
            cast = {agent: event.agent, patient: event.patient}
            if any(True for _ in self._castings(claim, cast, event.span)):
                return True
        return False

    def _castings(
        self, claim: "_Claim", cast: dict[int, str], span: FrameSpan
    ) -> Iterator[dict[int, str]]:
        """Yield every way to fill the other participants so that all words are true."""
        kinds = self.kinematics.kinds
        if any(kinds[one] != claim.nouns.get(p, kinds[one]) for p, one in cast.items()):
            return
        rest = [p for p in range(claim.num_participants) if p not in cast]
        free = [name for name in kinds if name not in cast.values()]
        for chosen in permutations(free, len(rest)):
            full = cast | dict(zip(rest, chosen, strict=True))
            if all(kinds[full[p]] == claim.nouns.get(p, kinds[full[p]]) for p in rest) and all(
                self._true(word, full, span) for word in claim.others
            ):
                yield full

    def _true(self, word: Word, cast: dict[int, str], span: FrameSpan) -> bool:
        individuals = [cast[p] for p in word.participants]
        if word.entry in MANNERS:
            return MANNERS[word.entry](self.kinematics, self.bounds, span, individuals[0])
        if individuals[0] == individuals[1]:
            return False
        return RELATIONS[word.entry](self.kinematics, self.bounds, span, *individuals)

    def _grips(self) -> list[dict[str, Any]]:
        """Tell who held what from which frame to which."""
        grips = []
        for thing, row in zip(self.recording.things, self.recording.holders, strict=True):
            borders = np.flatnonzero(np.diff(row, prepend=-2, append=-2)).tolist()
            for first, after in pairwise(borders):
                if row[first] >= 0:
                    who = self.recording.people[row[first]]
                    grips.append({"person": who, "thing": thing, **self._span(first, after - 1)})
        return grips

    def _span(self, first: int, last: int) -> dict[str, Any]:
        return span_of(first, last, self.recording.frame_rate)

    def _tell(self, event: StreetEvent) -> dict[str, Any]:
        facts = sorted(self._facts(event.span, event.agent, self.bounds))
        return {
            "verb": event.verb,
            "agent": event.agent,
            "patient": event.patient,
            **self._span(event.span.first, event.span.last),
            "facts": [[fact[0], *fact[1:]] for fact in facts],
        }


class _Claim:
    """The words of a sentence, sorted by what they do."""

    def __init__(self, words: tuple[Word, ...]) -> None:
        self.nouns: dict[int, str] = {}
        self.verb: Word | None = None
        self.others: list[Word] = []
        self.num_participants = 1 + max(
            (p for word in words for p in word.participants), default=-1
        )
        if not words:
            raise WorldError("a sentence must be parsed before it can be judged; pass its text.")
        for word in words:
            self._sort(word)

    def _sort(self, word: Word) -> None:
        places = {1: (*MANNERS, *_NOUNS), 2: (*VERBS, *RELATIONS)}
        if word.entry not in places.get(len(word.participants), ()):
            _refuse(word)
        if word.entry in VERBS:
            if self.verb is not None:
                raise WorldError(f"a sentence has one verb, got {self.verb} and {word}.")
            self.verb = word
        elif word.entry in _NOUNS:
            former = self.nouns.setdefault(word.participants[0], word.entry)
            if former != word.entry:
                raise WorldError(f"one thing cannot be a {former} and a {word.entry} at once.")
        else:
            self.others.append(word)


@lru_cache(maxsize=65536)  # the same sentences are asked of every film
def _claim(words: tuple[Word, ...]) -> _Claim:
    return _Claim(words)


def street_sentences(max_participants: int = 2) -> tuple[Sentence, ...]:
    """List the sentences of the street's grammar with a verb and so many participants.

    There are 360 with up to two participants and some ten thousand with three.
    """
    return _sentences(max_participants)


@lru_cache(maxsize=4)
def _sentences(max_participants: int) -> tuple[Sentence, ...]:
    return tuple(enumerate_sentences(max_participants=max_participants))


def _read(text: str) -> tuple[Word, ...]:
    try:
        return parse(text).words
    except (LanguageError, RecordError) as error:
        raise WorldError(f"no sentence of the street: {error}") from error


def _refuse(word: Word) -> None:
    known: tuple[str, ...] = (*_NOUNS, *VERBS, *MANNERS, *RELATIONS)
    if word.entry in known:
        raise WorldError(f"{word} has the wrong number of participants for the street.")
    near = get_close_matches(word.entry, known, n=3, cutoff=0.5) or known
    raise WorldError(f"the street has no word {word.entry!r}; it knows {', '.join(near)}.")
