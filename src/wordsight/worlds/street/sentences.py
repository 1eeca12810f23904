"""What a person would write about a film: two or three true sentences, not all there are."""

from collections.abc import Iterator

import numpy as np

from wordsight.language import LanguageError, sentence_of
from wordsight.records import Word
from wordsight.worlds.street.truth import StreetTruth
from wordsight.worlds.street.words import MANNERS, RELATIONS, STATIC_RELATIONS, StreetEvent

__all__ = ["num_tellings", "tell"]

_PLAIN_FIRST = 0.65  # share of films whose first sentence is only nouns and a verb
_MODIFIERS = (0.0, 0.65, 0.35)  # share of further sentences with 0, 1, 2 modifiers


def tell(truth: StreetTruth, verb: str, count: int, rng: np.random.Generator) -> tuple[str, ...]:
    """Choose ``count`` different true sentences.

    The first speaks of the main verb, mostly without any modifier; the others add how, where and
    whereto, or tell what else happened.

    Args:
        truth: What is true of the film.
        verb: What the film was made for.
        count: How many sentences.
        rng: Where the chance comes from.
    """
    main = [event for event in truth.events if event.verb == verb]
    others = [event for event in truth.events if event.verb != verb]
    chosen: list[str] = []
    for turn in range(60):
        if len(chosen) == count:
            break
        elsewhere = others and (turn % 2 == 0) and len(chosen) > 0
        event = _one_of(others if elsewhere else main, rng)
        plain = not chosen and rng.random() < _PLAIN_FIRST
        modifiers = 0 if plain or turn > 40 else int(rng.choice(3, p=_MODIFIERS))
        text = _told(truth, event, modifiers, rng)
        if text is not None and text not in chosen and truth.holds(text):
            chosen.append(text)
    return tuple(chosen)


def num_tellings(truth: StreetTruth) -> int:
    """Count the different sentences with at most one modifier that :func:`tell` could choose."""
    found: set[tuple[str, ...]] = set()
    for event in truth.events:
        base = (event.verb, truth.kinds[event.agent], truth.kinds[event.patient])
        for entry, individuals in [("", ()), *_modifiers(truth, event)]:
            everyone = {event.agent, event.patient, *individuals}
            if len({truth.kinds[one] for one in everyone}) == len(everyone):
                found.add((*base, entry, *(truth.kinds[one] for one in individuals)))
    return len(found)


def _told(
    truth: StreetTruth, event: StreetEvent, modifiers: int, rng: np.random.Generator
) -> str | None:
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
        for one in individuals:
            cast.setdefault(one, len(cast))
        words.append(Word(entry, tuple(cast[one] for one in individuals)))
    words.extend(Word(truth.kinds[one], (number,)) for one, number in cast.items())
    if len({truth.kinds[one] for one in cast}) < len(cast):
        return None  # two things of one name: people would tell them apart by other words
    try:
        return sentence_of(words).text
    except LanguageError:
        return None


def _modifiers(truth: StreetTruth, event: StreetEvent) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield what else is true while the event lasts and would be worth saying."""
    kinematics, bounds, span = truth.kinematics, truth.bounds, event.span
    for name in MANNERS:
        if MANNERS[name](kinematics, bounds, span, event.agent):
            yield name, (event.agent,)
    marks = [one for one in kinematics.kinds if one not in (event.agent, event.patient)]
    for name in RELATIONS:
        static = name in STATIC_RELATIONS
        for figure in (event.agent, event.patient) if static else (event.agent,):
            for mark in marks:
                if RELATIONS[name](kinematics, bounds, span, figure, mark):
                    yield name, (figure, mark)


def _kind(entry: str) -> str:
    if entry in MANNERS:
        return "manner"
    return "where" if entry in STATIC_RELATIONS else "whereto"


def _one_of(events: list[StreetEvent], rng: np.random.Generator) -> StreetEvent:
    return events[int(rng.integers(len(events)))]
