"""`StreetTruth`: what is true of a film of the street, for every sentence of its grammar."""

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from functools import cached_property, lru_cache
from itertools import permutations, product
from types import MappingProxyType
from typing import Any

import numpy as np

from wordsight.errors import RecordError
from wordsight.language import LanguageError, enumerate_sentences, parse, sentence_of
from wordsight.records import Sentence, Word
from wordsight.worlds.camera import Effects
from wordsight.worlds.checks import Rng, WorldError, pick
from wordsight.worlds.film import FilmTruth, runs
from wordsight.worlds.painter import Floats
from wordsight.worlds.sketch import moved
from wordsight.worlds.street.people import extent_of
from wordsight.worlds.street.recording import StreetRecording
from wordsight.worlds.street.words import (
    MANNERS,
    RELATIONS,
    STATIC_RELATIONS,
    VERBS,
    Bounds,
    FrameSpan,
    JudgedSpan,
    Kinematics,
    StreetEvent,
    events_of,
)

__all__ = ["StreetTruth", "choose_sentences", "count_sentences", "street_sentences"]

_NOUNS = ("person", "backpack", "trash-can", "chair", "traffic-cone", "stool")


class StreetTruth(FilmTruth[StreetRecording]):
    """Ground truth of one film.

    Args:
        recording: What happened, from script and physics.
        effects: Strengths of the effects on the picture; kept in the record.
        offsets: ``(T, 2)`` pixels by which the camera's shake moves each frame; 0 if not given.
        bounds: Where words begin to be true.

    Attributes:
        recording: As above.
        kinematics: Positions, speeds, walks and grips.
        kinds: The noun of every individual.
        events: Every verb that is true, in order of time.
    """

    def __init__(
        self,
        recording: StreetRecording,
        effects: Effects | None = None,
        offsets: Floats | None = None,
        bounds: Bounds | None = None,
    ) -> None:
        super().__init__(recording, effects, offsets)
        self.kinematics = Kinematics(recording)
        self.kinds = self.kinematics.kinds
        self.bounds = Bounds() if bounds is None else bounds
        self.events: tuple[StreetEvent, ...] = tuple(events_of(self.kinematics, self.bounds))

    @cached_property
    def boxes(self) -> Mapping[str, Floats]:
        """For every individual ``(T, 4)`` pixels x1, y1, x2, y2; NaN while out of the picture.

        The boxes are whole: what something in front hides is part of them.
        """
        scenario, points = self.recording.scenario, {}
        for script, joints in zip(scenario.scripts, self.recording.joints, strict=True):
            points[script.name] = extent_of(joints, script.look).reshape(-1, 2, 2)
        for prop, places in zip(scenario.props, self.recording.places, strict=True):
            points[prop.name] = moved(np.concatenate(prop.solids()), places)
        view = scenario.place.view
        return MappingProxyType({name: self._framed(view, each) for name, each in points.items()})

    def holds(self, sentence: Sentence | str) -> bool:
        """Decide whether a sentence is true of the film.

        It is true if its participants can be filled with different individuals of the film, and
        there is a span of frames on which its verb is true of them and so are all other words.
        A sentence without a verb must be true of the whole film.

        Args:
            sentence: A text of the grammar, or a sentence that has been parsed.

        Raises:
            WorldError: If it cannot be parsed, or has words the street does not know.
        """
        claim = _claim(_words(sentence) if isinstance(sentence, str) else sentence.words)
        if claim.verb is None:
            return self._can_cast(claim, {}, self.kinematics.whole)
        agent, patient = claim.verb.participants
        return agent != patient and any(
            self._can_cast(claim, {agent: event.agent, patient: event.patient}, event.span)
            for event in self.events
            if event.verb == claim.verb.entry
        )

    def true_sentences(self, *, max_participants: int = 2) -> list[Sentence]:
        """List the sentences of the grammar that are true, small ones first."""
        return [s for s in street_sentences(max_participants) if self.holds(s)]

    def record(self) -> dict[str, Any]:
        """Return the truth for ``truth.jsonl``."""
        return {
            "place": self.recording.scenario.place.name,
            "effects": dict(vars(self._effects)),
            "individuals": dict(self.kinds),
            "boxes": self._boxes_record(),
            "held_by": [
                {"person": self.recording.people[person], "thing": thing, **self._span(first, last)}
                for thing, row in zip(self.recording.things, self.recording.holders, strict=True)
                for person, first, last in runs(row.tolist())
                if person >= 0
            ],
            "events": [
                {
                    "verb": event.verb,
                    "agent": event.agent,
                    "patient": event.patient,
                    **self._span(event.span.first, event.span.last),
                    "facts": sorted(map(list, self._facts(event.span, event.agent, self.bounds))),
                }
                for event in self.events
            ],
        }

    def atoms(self, bounds: Bounds) -> set[tuple[str, ...]]:
        """Return every single fact that sentences are made of, as decided under ``bounds``."""
        atoms: set[tuple[str, ...]] = {
            (event.verb, event.agent, event.patient, str(event.span))
            for event in events_of(self.kinematics, bounds)
        }
        # The spans must not depend on the bounds, or facts could not be compared.
        spans = {(event.span, event.agent) for event in events_of(self.kinematics, Bounds.wide())}
        for span, agent in spans:
            atoms.update((*fact, str(span)) for fact in self._facts(span, agent, bounds))
        return atoms

    def is_clear(self) -> bool:
        """Whether every fact stays what it is when the bounds are a little tighter or wider."""
        return self.atoms(Bounds.tight()) == self.atoms(Bounds.wide())

    def _facts(self, span: FrameSpan, agent: str, bounds: Bounds) -> Iterator[tuple[str, ...]]:
        """Yield what can be said beside a verb: how its agent moves, and where all things are."""
        judged = JudgedSpan(self.kinematics, bounds, span)
        for name, manner in MANNERS.items():
            if manner(judged, agent):
                yield name, agent
        for name, relation in RELATIONS.items():
            movers = self.kinds if name in STATIC_RELATIONS else [agent]
            for pair in product(movers, self.kinds):
                if pair[0] != pair[1] and relation(judged, *pair):
                    yield (name, *pair)

    def _can_cast(self, claim: "_Claim", cast: dict[int, str], span: FrameSpan) -> bool:
        """Whether the other participants can be filled so that all words are true."""
        rest = [p for p in range(claim.num_participants) if p not in cast]
        free = [name for name in self.kinds if name not in cast.values()]
        castings = (
            cast | dict(zip(rest, chosen, strict=True)) for chosen in permutations(free, len(rest))
        )
        judged = JudgedSpan(self.kinematics, self.bounds, span)
        return self._fits(claim, cast) and any(
            self._fits(claim, full) and all(_true(word, full, judged) for word in claim.others)
            for full in castings
        )

    def _fits(self, claim: "_Claim", cast: Mapping[int, str]) -> bool:
        kinds = self.kinds
        return all(claim.nouns.get(p, kinds[name]) == kinds[name] for p, name in cast.items())


def _true(word: Word, cast: dict[int, str], judged: JudgedSpan) -> bool:
    individuals = [cast[p] for p in word.participants]
    if word.entry in MANNERS:
        return MANNERS[word.entry](judged, individuals[0])
    return individuals[0] != individuals[1] and RELATIONS[word.entry](judged, *individuals)


class _Claim:
    """The words of a sentence by what they do: the nouns of participants, the verb, the others."""

    def __init__(self, words: tuple[Word, ...]) -> None:
        self.nouns: dict[int, str] = {}
        self.verb: Word | None = None
        self.others: list[Word] = []
        if not words:
            raise WorldError("a sentence must be parsed before it can be judged; pass its text.")
        participants = [p for word in words for p in word.participants]
        self.num_participants = 1 + max(participants, default=-1)
        for word in words:
            self._sort(word)

    def _sort(self, word: Word) -> None:
        arities = {1: (*MANNERS, *_NOUNS), 2: (*VERBS, *RELATIONS)}
        if word.entry not in arities.get(len(word.participants), ()):
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


_claim = lru_cache(maxsize=65536)(_Claim)  # the same sentences are asked of every film


@lru_cache(maxsize=4)
def street_sentences(max_participants: int = 2) -> tuple[Sentence, ...]:
    """List the sentences of the street's grammar with a verb and so many participants.

    There are 360 with up to two participants and some ten thousand with three.
    """
    return tuple(enumerate_sentences(max_participants=max_participants))


def _words(text: str) -> tuple[Word, ...]:
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


# The sentences given with a film: two or three true ones, not all there are.

_PLAIN_FIRST = 0.65  # share of films whose first sentence is only nouns and a verb
_MODIFIERS = (0.0, 0.65, 0.35)  # share of further sentences with 0, 1, 2 modifiers


def choose_sentences(truth: StreetTruth, verb: str, count: int, rng: Rng) -> tuple[str, ...]:
    """Draw ``count`` different true sentences about a film that was made for a verb.

    The first is about this verb, mostly without any modifier; the others add how, where and in
    which direction, or are about other events.
    """
    main = [event for event in truth.events if event.verb == verb]
    others = [event for event in truth.events if event.verb != verb]
    chosen: list[str] = []
    for turn in range(60):
        if len(chosen) == count:
            break
        elsewhere = others and (turn % 2 == 0) and len(chosen) > 0
        event = pick(others if elsewhere else main, rng)
        plain = not chosen and rng.random() < _PLAIN_FIRST
        modifiers = 0 if plain or turn > 40 else int(rng.choice(3, p=_MODIFIERS))
        text = _write(truth, event, modifiers, rng)
        if text is not None and text not in chosen and truth.holds(text):
            chosen.append(text)
    return tuple(chosen)


def count_sentences(truth: StreetTruth) -> int:
    """Count the sentences with at most one modifier that `choose_sentences` could draw."""
    sentences: set[tuple[str, ...]] = set()
    kinds = truth.kinds
    for event in truth.events:
        base = (event.verb, kinds[event.agent], kinds[event.patient])
        for entry, individuals in [("", ()), *_modifiers(truth, event)]:
            everyone = {event.agent, event.patient, *individuals}
            if len({kinds[name] for name in everyone}) == len(everyone):
                sentences.add((*base, entry, *(kinds[name] for name in individuals)))
    return len(sentences)


def _write(truth: StreetTruth, event: StreetEvent, modifiers: int, rng: Rng) -> str | None:
    cast = {event.agent: 0, event.patient: 1}
    words = [Word(event.verb, (0, 1))]
    options = list(_modifiers(truth, event))
    kinds: set[str] = set()
    for at in rng.permutation(len(options)):
        entry, individuals = options[int(at)]
        kind = _kind(entry)
        if len(kinds) == modifiers or kind in kinds:
            continue
        kinds.add(kind)
        for name in individuals:
            cast.setdefault(name, len(cast))
        words.append(Word(entry, tuple(cast[name] for name in individuals)))
    nouns = truth.kinds
    words.extend(Word(nouns[name], (number,)) for name, number in cast.items())
    if len({nouns[name] for name in cast}) < len(cast):
        return None  # two individuals of one noun: people would distinguish them by other words
    try:
        return sentence_of(words).text
    except LanguageError:
        return None


def _modifiers(truth: StreetTruth, event: StreetEvent) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield what else is true while the event lasts and worth saying."""
    judged = JudgedSpan(truth.kinematics, truth.bounds, event.span)
    for name, manner in MANNERS.items():
        if manner(judged, event.agent):
            yield name, (event.agent,)
    marks = [one for one in truth.kinds if one not in (event.agent, event.patient)]
    for name, relation in RELATIONS.items():
        static = name in STATIC_RELATIONS
        for figure in (event.agent, event.patient) if static else (event.agent,):
            for mark in marks:
                if relation(judged, figure, mark):
                    yield name, (figure, mark)


def _kind(entry: str) -> str:
    if entry in MANNERS:
        return "manner"
    return "where" if entry in STATIC_RELATIONS else "whereto"
