"""Twins: a true sentence and one that differs a little and is false of the same film.

Kinds: ``role_people`` and ``role_things`` exchange two people, or two things of one class, in the
roles of a verb; ``verb``, ``preposition`` and ``noun`` replace one word, nouns by those of other
things that are in the film; ``order`` exchanges two events, one after the other. Twins of roles
hold the same words, so that nothing can be guessed from them; what guessing gives is measured for
every kind.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import permutations
from typing import Any

import numpy as np

from wordsight.language import (
    LanguageError,
    PartOfSpeech,
    Statement,
    Understood,
    default_lexicon,
    near_misses,
    parse,
    sentence_of,
)
from wordsight.meaning import LearnedLexicon
from wordsight.meaning.model.calibration import RolePriors
from wordsight.meaning.tasks.answer import find
from wordsight.records import Clip, Sentence, Word
from wordsight.worlds.street import StreetFilm

__all__ = ["KINDS", "JudgedTwin", "Twin", "judge_twins", "looking_only", "sum_up_twins", "twins_of"]

KINDS = ("role_people", "role_things", "verb", "preposition", "noun", "order")

_SIDES = ("to-the-left-of", "to-the-right-of")
_REPLACED = {
    "verb": (PartOfSpeech.VERB,),
    "preposition": (PartOfSpeech.SPATIAL_PREPOSITION, PartOfSpeech.MOTION_PREPOSITION),
    "noun": (PartOfSpeech.NOUN,),
}


@dataclass(frozen=True)
class Twin:
    """A true sentence and its false twin; of ``order``, the sentences of two events in turn."""

    kind: str
    true: tuple[Sentence, ...]
    false: tuple[Sentence, ...]


@dataclass(frozen=True)
class JudgedTwin:
    """What came of a twin.

    Attributes:
        kind: One of :data:`KINDS`.
        preferred: Whether the true sentence fits better.
        strict: Whether the true sentence is judged true and its twin false.
        rates: Share of the training films of which each is true.
    """

    kind: str
    preferred: bool
    strict: bool
    rates: tuple[float, float]


def twins_of(film: StreetFilm) -> list[Twin]:
    """Return the twins of a film, every pair once."""
    found = [*_roles(film), *_replaced(film), *_orders(film)]
    return list(
        {(twin.kind, _words(twin.true), _words(twin.false)): twin for twin in found}.values()
    )


def judge_twins(
    lexicon: LearnedLexicon, clip: Clip, twins: Sequence[Twin], known: Sequence[StreetFilm]
) -> list[JudgedTwin]:
    """Judge twins by what is seen alone.

    Args:
        lexicon: The words; what is usually said does not count.
        clip: What is seen of the film.
        twins: Its twins.
        known: Training films, for what guessing gives.
    """
    words = looking_only(lexicon)
    seen = words.observe(clip)
    scorer = words.scorer(seen)
    judged = []
    for twin in twins:
        if twin.kind == "order":
            scores, held = zip(*(_in_order(words, clip, two) for two in _both(twin)), strict=True)
        else:
            pair = [one for two in _both(twin) for one in two]
            scores = words.preferences(seen, pair, scorer=scorer).tolist()
            held = words.scores(seen, pair, scorer) >= words.threshold
        rates = [float(np.mean([_holds(film, two) for film in known])) for two in _both(twin)]
        won = bool(scores[0] > scores[1])
        judged.append(
            JudgedTwin(twin.kind, won, bool(held[0] and not held[1]), (rates[0], rates[1]))
        )
    return judged


def sum_up_twins(judged: Sequence[JudgedTwin]) -> dict[str, dict[str, float]]:
    """Return shares per kind, beside chance and the best that can be had without looking.

    ``blind`` prefers what is true of more training films. ``blind_strict`` takes a sentence for
    true if it is true of so many training films, how many being the best in hindsight.
    """
    table = {}
    for kind in KINDS:
        own = [one for one in judged if one.kind == kind]
        if not own:
            continue
        rates = np.array([one.rates for one in own])
        better = np.where(rates[:, 0] == rates[:, 1], 0.5, rates[:, 0] > rates[:, 1])
        limits = np.unique(rates)[:, None]
        strict = ((rates[:, 0] >= limits) & (rates[:, 1] < limits)).mean(axis=1)
        values = {
            "preferred": np.mean([one.preferred for one in own]),
            "strict": np.mean([one.strict for one in own]),
            "blind": better.mean(),
            "blind_strict": strict.max(),
        }
        table[kind] = {name: round(float(value), 4) for name, value in values.items()}
        table[kind] |= {"chance": 0.5, "chance_strict": 0.25, "pairs": len(own)}
    return table


def pool_twins(tables: Sequence[dict[str, dict[str, float]]]) -> dict[str, dict[str, float]]:
    """Put tables of :func:`sum_up_twins` together, each kind weighted by its pairs."""
    pooled = {}
    for kind in KINDS:
        own = [table[kind] for table in tables if kind in table]
        if own:
            pairs = [int(one["pairs"]) for one in own]
            pooled[kind] = {
                name: round(float(np.average([one[name] for one in own], weights=pairs)), 4)
                for name in own[0]
            } | {"pairs": sum(pairs)}
    return pooled


def looking_only(lexicon: LearnedLexicon) -> LearnedLexicon:
    """Return the lexicon without what is usually said."""
    return replace(lexicon, calibration=replace(lexicon.calibration, role_priors=RolePriors()))


def _roles(film: StreetFilm) -> Iterator[Twin]:
    """Exchange the agent with another person, or the patient with another thing of its class."""
    kinds = film.truth.kinds
    for event in film.truth.events:
        agent, patient = kinds[event.agent], kinds[event.patient]
        if agent != "person":
            continue
        nouns = (Word(agent, (0,)), Word(patient, (1,)))
        for side in _SIDES:
            if patient == agent:
                where = Word(side, (0, 1))
                yield from _role_twin(film, "role_people", event.verb, (0, 1), (1, 0), nouns, where)
                continue
            for kind, own, other in (
                ("role_people", 0, (2, 1)),
                ("role_things", 1, (0, 2)),
            ):
                double = Word((agent, patient)[own], (2,))
                more = (*nouns, double)
                where = Word(side, (own, 2))
                yield from _role_twin(film, kind, event.verb, (0, 1), other, more, where)


def _role_twin(
    film: StreetFilm,
    kind: str,
    verb: str,
    roles: tuple[int, int],
    others: tuple[int, int],
    nouns: tuple[Word, ...],
    where: Word,
) -> Iterator[Twin]:
    true, false = (_sentence((Word(verb, two), *nouns, where)) for two in (roles, others))
    if film.truth.holds(true) and not film.truth.holds(false):
        yield Twin(kind, (true,), (false,))


def _replaced(film: StreetFilm) -> Iterator[Twin]:
    there = set(film.truth.kinds.values())
    lexicon = default_lexicon()
    for text in film.sentences:
        said = parse(text, lexicon)
        for kind, parts in _REPLACED.items():
            for other in near_misses(said, lexicon, parts=parts, repeat_nouns=kind == "verb"):
                nouns = {w.entry for w in other.words if lexicon[w.entry].part is PartOfSpeech.NOUN}
                if nouns <= there and not film.truth.holds(other):
                    yield Twin(kind, (said,), (other,))


def _orders(film: StreetFilm) -> Iterator[Twin]:
    """Exchange two events of which one is over before the other begins."""
    kinds = film.truth.kinds
    events = [event for event in film.truth.events if kinds[event.agent] == "person"]
    for one, other in permutations(events, 2):
        if one.span.last > other.span.first:
            continue
        first, second = (
            _sentence(
                (
                    Word(event.verb, (0, 1)),
                    Word("person", (0,)),
                    Word(kinds[event.patient], (1,)),
                )
            )
            for event in (one, other)
        )
        if kinds[one.patient] != "person" != kinds[other.patient] and not _holds(
            film, (second, first)
        ):
            yield Twin("order", (first, second), (second, first))


def _holds(film: StreetFilm, said: Sequence[Sentence]) -> bool:
    """Whether a sentence is true of a film, or two one after the other."""
    if len(said) == 1:
        return film.truth.holds(said[0])
    spans = [
        [
            event.span
            for event in film.truth.events
            if event.verb == words[0].entry
            and film.truth.kinds[event.agent] == words[1].entry
            and film.truth.kinds[event.patient] == words[2].entry
        ]
        for words in (one.words for one in said)
    ]
    return any(a.first < b.first and a.last < b.last for a in spans[0] for b in spans[1])


def _in_order(lexicon: LearnedLexicon, clip: Clip, said: Sequence[Sentence]) -> tuple[float, bool]:
    """Return the score of two events in order, as ``wordsight search`` finds them."""
    first, second = said
    text = f"{first.text} Then {second.text}"
    query = Understood(text, (Statement(first), Statement(second, link="then")))
    hits: list[Any] = find(lexicon, clip, query, top=None)
    score = max((hit.score for hit in hits), default=-np.inf)
    return float(score), any(hit.holds for hit in hits)


def _sentence(words: tuple[Word, ...]) -> Sentence:
    try:
        text = sentence_of(words).text
    except LanguageError:  # no unambiguous English has this meaning; the words do
        text = " ".join(map(str, words))
    return Sentence(text, words)


def _both(twin: Twin) -> tuple[tuple[Sentence, ...], tuple[Sentence, ...]]:
    return twin.true, twin.false


def _words(said: Sequence[Sentence]) -> tuple[tuple[Word, ...], ...]:
    return tuple(one.words for one in said)
