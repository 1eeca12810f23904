"""The test sentences of the street: twelve of nouns and verbs, twelve with more words.

They are chosen from the grammar as the authors of the corpus must have done: every verb with every
thing people deal with, so that each is true of some clips and false of most.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from wordsight.language import PartOfSpeech, default_lexicon
from wordsight.records import Sentence
from wordsight.worlds.street import StreetFilm, street_sentences

__all__ = ["choose_test_sentences", "exchanged_sentences", "truth_table"]

_THINGS = ("backpack", "trash-can", "chair")
_MORE = (
    PartOfSpeech.ADVERB,
    PartOfSpeech.SPATIAL_PREPOSITION,
    PartOfSpeech.MOTION_PREPOSITION,
)


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
