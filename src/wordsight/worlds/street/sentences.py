"""The sentences given with a film of the street: two or three true ones, not all there are."""

from collections.abc import Iterator

import numpy as np

from wordsight.language import LanguageError, sentence_of
from wordsight.records import Word
from wordsight.worlds.film import pick
from wordsight.worlds.street.truth import StreetTruth
from wordsight.worlds.street.words import MANNERS, RELATIONS, STATIC_RELATIONS, StreetEvent

__all__ = ["choose_sentences", "count_sentences"]

_PLAIN_FIRST = 0.65  # share of films whose first sentence is only nouns and a verb
_MODIFIERS = (0.0, 0.65, 0.35)  # share of further sentences with 0, 1, 2 modifiers


def choose_sentences(
    truth: StreetTruth, verb: str, count: int, rng: np.random.Generator
) -> tuple[str, ...]:
    """Draw ``count`` different true sentences.

    The first is about the main verb, mostly without any modifier; the others add how, where and in
    which direction, or are about other events.

    Args:
        truth: What is true of the film.
        verb: What the film was made for.
        count: Number of sentences.
        rng: Random generator.
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


def _write(
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
    scene = truth.kinematics, truth.bounds, event.span
    for name, manner in MANNERS.items():
        if manner(*scene, event.agent):
            yield name, (event.agent,)
    marks = [one for one in truth.kinds if one not in (event.agent, event.patient)]
    for name, relation in RELATIONS.items():
        static = name in STATIC_RELATIONS
        for figure in (event.agent, event.patient) if static else (event.agent,):
            for mark in marks:
                if relation(*scene, figure, mark):
                    yield name, (figure, mark)


def _kind(entry: str) -> str:
    if entry in MANNERS:
        return "manner"
    return "where" if entry in STATIC_RELATIONS else "whereto"
