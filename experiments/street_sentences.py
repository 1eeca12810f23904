"""The test sentences of the street: twelve of nouns and verbs, twelve with more words.

They are chosen from the grammar as the authors of the corpus must have done: every verb with every
thing people deal with, so that each is true of some clips and false of most.

:class:`FurtherFilm` says other things of the same films: with adjectives, intransitive verbs and
directions, which the grammar of the corpus does not have. Everything that is no person is a thing
there, so that an adjective alone tells which one is meant. :class:`HomonymFilm` has one verb for
two kinds of events.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import product
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wordsight.language import (
    Lexicon,
    PartOfSpeech,
    default_lexicon,
    parse,
    parse_lexicon,
    sentence_of,
)
from wordsight.records import Sentence
from wordsight.worlds.street import StreetFilm, street_sentences

__all__ = [
    "FURTHER_LEXICON",
    "FURTHER_SENTENCES",
    "HOMONYM_LEXICON",
    "FurtherFilm",
    "HomonymFilm",
    "choose_test_sentences",
    "exchanged_sentences",
    "homonym_sentences",
    "truth_table",
]

_THINGS = ("backpack", "trash-can", "chair")
_MORE = (
    PartOfSpeech.ADVERB,
    PartOfSpeech.SPATIAL_PREPOSITION,
    PartOfSpeech.MOTION_PREPOSITION,
)


FURTHER_LEXICON = parse_lexicon(
    """
person : noun
thing  : noun
big    : adjective
small  : adjective
picked-up  : verb (agent, patient) : picked up _ | picked _ up
put-down   : verb (agent, patient) : put down _ | put _ down
carried    : verb (agent, patient)
approached : verb (agent, goal)
walked : verb (agent)
stood  : verb (agent)
bent   : verb (agent)
moved  : verb (agent)
rose   : verb (agent)
sank   : verb (agent)
leftward  : direction
rightward : direction
"""
)
"""The grammar of :class:`FurtherFilm`."""

_SIZES, _SIDES = ("big", "small"), ("leftward", "rightward")
_LIMIT = 0.014  # of the picture: a thing whose box is clearly larger is big, smaller is small
_CLEARLY = 1.15
_FAR = 0.6  # metres that somebody who walked has come, as for "carried"
_SAID = 3  # sentences that are said of a film

FURTHER_SENTENCES = {
    "adjectives": [
        f"The person {verb} the {size} thing."
        for verb, size in product(("picked up", "put down", "carried", "approached"), _SIZES)
    ],
    "intransitives": [
        *(f"The person {verb}." for verb in ("walked", "stood", "bent")),
        *(f"The thing {verb}." for verb in ("moved", "rose", "sank")),
    ],
    "directions": [
        f"The {what} {side}." for what, side in product(("person walked", "thing moved"), _SIDES)
    ],
}
"""Test sentences with words that the corpus does not have."""


class _Fact(NamedTuple):
    """A verb that is true of an individual, what it does so to, and to which side it moves."""

    verb: str
    agent: str
    patient: str | None = None
    side: str | None = None


class FurtherFilm:
    """A film of which other things are said, for those who ask a film for its truth.

    Args:
        film: The film.
        seed: Of the choice of what is said.
    """

    def __init__(self, film: StreetFilm, seed: int) -> None:
        self.truth = SimpleNamespace(
            boxes=film.truth.boxes, kinds=film.truth.kinds, holds=self._holds
        )
        self.frame_rate, self.num_frames = film.frame_rate, film.num_frames
        self._film = film
        true = [text for row in FURTHER_SENTENCES.values() for text in row if self._holds(text)]
        rng = np.random.default_rng([seed, *film.name.encode()])
        chosen = rng.permutation(len(true))[:_SAID]
        self.sentences = tuple(true[place] for place in sorted(chosen.tolist()))

    @cached_property
    def _facts(self) -> frozenset[_Fact]:
        return frozenset(self._all_facts())

    def _all_facts(self) -> Iterator[_Fact]:
        truth = self._film.truth
        places = truth.kinematics.middles
        for event in truth.events:
            yield _Fact(event.verb, event.agent, event.patient)
            if event.verb in ("picked-up", "put-down"):
                yield _Fact("bent", event.agent)
                yield _Fact("rose" if event.verb == "picked-up" else "sank", event.patient)
        for name in truth.kinds:
            person = truth.kinds[name] == "person"
            walks = [places[name][span.frames, 0] for span in truth.kinematics.walks(name)]
            for way in walks:
                if abs(way[-1] - way[0]) >= _FAR:
                    side = _SIDES[int(way[-1] > way[0])]
                    yield _Fact("walked" if person else "moved", name, None, side)
            if person and not walks:
                yield _Fact("stood", name)

    def _holds(self, sentence: Sentence | str) -> bool:
        """Decide whether a sentence of :data:`FURTHER_LEXICON` is true of the film."""
        read = parse(sentence, FURTHER_LEXICON) if isinstance(sentence, str) else sentence
        words = {word.entry: word.participants for word in read.words}
        parts = {entry: FURTHER_LEXICON[entry].part for entry in words}
        verb = next(entry for entry in words if parts[entry] is PartOfSpeech.VERB)
        side = next((entry for entry in words if entry in _SIDES), None)
        return any(
            fact.verb == verb
            and side in (None, fact.side)
            and (len(words[verb]) == 1 or fact.patient is not None)
            and all(
                self._is(entry, (fact.agent, fact.patient)[words[verb].index(participants[0])])
                for entry, participants in words.items()
                if parts[entry] in (PartOfSpeech.NOUN, PartOfSpeech.ADJECTIVE)
            )
            for fact in self._facts
        )

    def _is(self, entry: str, name: str | None) -> bool:
        """Whether a noun or an adjective is true of an individual."""
        assert name is not None
        if entry in ("person", "thing"):
            return (self._film.truth.kinds[name] == "person") == (entry == "person")
        return entry == self.size_of(name)

    def size_of(self, name: str) -> str | None:
        """Return whether an individual is big or small; ``None`` if it is neither clearly."""
        boxes = self._film.truth.boxes[name]
        width, height = np.nanmedian(boxes[:, 2:] - boxes[:, :2], axis=0)
        size = width * height / np.prod(self._film.size)
        if size > _LIMIT * _CLEARLY:
            return "big"
        return "small" if size < _LIMIT / _CLEARLY else None


_HOMONYM = "handled"
_MEANINGS = ("picked-up", "put-down")

HOMONYM_LEXICON = Lexicon(
    (
        *(entry for entry in default_lexicon() if entry.name not in _MEANINGS),
        replace(default_lexicon()["picked-up"], name=_HOMONYM, spellings=("handled _",)),
    )
)
"""The grammar of the corpus with one verb for picking up and putting down."""


class HomonymFilm:
    """A film whose sentences say "handled" for "picked up" and for "put down".

    Args:
        film: The film.
    """

    def __init__(self, film: StreetFilm) -> None:
        self.truth = SimpleNamespace(
            boxes=film.truth.boxes, kinds=film.truth.kinds, holds=self._holds
        )
        self.frame_rate, self.num_frames = film.frame_rate, film.num_frames
        self._film = film
        self.sentences = tuple(re.sub("picked up|put down", "handled", s) for s in film.sentences)

    def _holds(self, sentence: Sentence) -> bool:
        return any(map(self._film.truth.holds, _meanings(sentence)))


def _meanings(sentence: Sentence) -> list[Sentence]:
    """Return what a sentence with a homonym may mean, as sentences of the corpus."""
    found = []
    for meaning in _MEANINGS:
        words = [replace(w, entry=meaning) if w.entry == _HOMONYM else w for w in sentence.words]
        found.append(sentence_of(words, default_lexicon()))
    return found


def homonym_sentences(sentences: dict[str, list[Sentence]]) -> dict[str, list[Sentence]]:
    """Return test sentences with one verb for picking up and putting down, each once."""
    changed = {}
    for name, row in sentences.items():
        renamed = [
            [replace(w, entry=_HOMONYM) if w.entry in _MEANINGS else w for w in sentence.words]
            for sentence in row
        ]
        read = [sentence_of(words, HOMONYM_LEXICON) for words in renamed]
        changed[name] = list({sentence.words: sentence for sentence in read}.values())
    return changed


def choose_test_sentences(
    films: Sequence[StreetFilm], places: Sequence[str], place: str
) -> dict[str, list[Sentence]]:
    """Choose the sentences every film of a place is tested with.

    ``NV`` holds each verb with a person and each of three things. ``ALL`` holds the same with one
    word more, in turn an adverb, a spatial and a motion preposition; of all such sentences that
    one which is true of a film of the place, as every test sentence of the paper is, then in most
    places, then of most films, then comes first in the grammar.
    """
    plain: dict[tuple[str, str], Sentence] = {}
    richer: dict[tuple[str, str, PartOfSpeech], list[Sentence]] = {}
    parts = {entry.name: entry.part for entry in default_lexicon()}
    for sentence in street_sentences(3):
        who, verb, thing, *_ = _core(sentence, parts)
        if who != "person" or thing not in _THINGS:
            continue
        more = [parts[w.entry] for w in sentence.words if parts[w.entry] in _MORE]
        if not more and sentence.num_participants == 2:
            plain[verb, thing] = sentence
        elif len(more) == 1:
            richer.setdefault((verb, thing, more[0]), []).append(sentence)
    rich = []
    for number, (verb, thing) in enumerate(plain):
        order = [_MORE[(number + number // 3 + shift) % 3] for shift in range(3)]
        pools = [richer.get((verb, thing, part), []) for part in order]
        rich.append(_commonest(pools, films, places, place))
    return {"NV": list(plain.values()), "ALL": rich}


def truth_table(films: Sequence[StreetFilm], sentences: Sequence[Sentence]) -> NDArray[np.bool_]:
    """Return ``(films, sentences)`` which are true."""
    return np.array([[film.truth.holds(s) for s in sentences] for film in films], dtype=np.bool_)


def exchanged_sentences(films: Sequence[StreetFilm], share: float, seed: int) -> list[list[str]]:
    """Return what is said of each film; a share of the films exchange it among one another."""
    said = [list(film.sentences) for film in films]
    chosen = np.random.default_rng(seed).permutation(len(said))[: round(share * len(said))]
    for one, other in zip(chosen, np.roll(chosen, 1), strict=True):
        said[one] = list(films[other].sentences)
    return said


def _core(sentence: Sentence, parts: dict[str, PartOfSpeech]) -> tuple[str, str, str]:
    nouns = {w.participants[0]: w.entry for w in sentence.words if parts[w.entry] == "noun"}
    verb = next(w for w in sentence.words if parts[w.entry] == "verb")
    return nouns[verb.participants[0]], verb.entry, nouns[verb.participants[1]]


def _commonest(
    pools: Sequence[Sequence[Sentence]],
    films: Sequence[StreetFilm],
    places: Sequence[str],
    place: str,
) -> Sentence:
    """Return the best of the first pool that has a sentence true of a film of the place."""
    names = sorted(set(places))
    best: Sentence | None = None
    for pool in pools:
        table = truth_table(films, pool).reshape(len(films), len(pool))
        where = np.array([np.array(places) == name for name in names])
        spread = (where.astype(int) @ table.astype(int) > 0).sum(axis=0)
        value = spread * (len(films) + 1) + table.sum(axis=0)
        here = table[np.array(places) == place].any(axis=0)
        value += here * (len(names) + 1) * (len(films) + 1)
        if len(pool) and best is None:
            best = pool[int(np.argmax(value))]
        if here.any():
            return pool[int(np.argmax(value))]
    if best is None:
        raise ValueError("the grammar has no longer sentence for a verb and a thing.")
    return best
