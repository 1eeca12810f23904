"""Describing a clip: beam search over the grammar for the sentences that explain it best.

The search starts with every verb and every choice of nouns, keeps the best, and adds one modifier
at a time as long as that makes a sentence better.
"""

from collections.abc import Iterator
from itertools import permutations, product

import numpy as np
from numpy.typing import NDArray

from wordsight.inference import collect_losses
from wordsight.language import (
    LanguageError,
    Lexicon,
    PartOfSpeech,
    enumerate_sentences,
    sentence_of,
)
from wordsight.meaning.features import Observation
from wordsight.meaning.model.lexicon import LearnedLexicon
from wordsight.meaning.tasks.results import Description
from wordsight.records import Clip, Sentence, Word

__all__ = ["describe", "describe_scored"]

Array = NDArray[np.float64]

_OF_ONE = (PartOfSpeech.ADVERB, PartOfSpeech.DIRECTION)
_OF_TWO = (PartOfSpeech.SPATIAL_PREPOSITION, PartOfSpeech.MOTION_PREPOSITION)

_NUM_JUDGED = 60
"""Of so many sentences, the best, it is asked which is surest."""


def describe(
    lexicon: LearnedLexicon,
    clip: Clip,
    *,
    top: int = 5,
    beam: int = 12,
    max_modifiers: int = 2,
    max_participants: int = 3,
    timed: bool = True,
    surest: bool = False,
) -> list[Description]:
    """Find the sentences that describe a clip best.

    Args:
        lexicon: The words.
        clip: The clip.
        top: How many sentences to return.
        beam: How many sentences are carried from one length to the next.
        max_modifiers: Most adjectives, adverbs, directions and prepositions in a sentence.
        max_participants: Most participants in a sentence.
        timed: Whether the clip begins and ends with its event.
        surest: Whether, of the best, those come first that are likeliest true in every word, which
            are mostly short; else those that explain the clip best, which say more.

    Returns:
        Descriptions, best first; none for a clip in which nothing is seen.
    """
    sizes = {"beam": beam, "max_modifiers": max_modifiers, "max_participants": max_participants}
    found = describe_scored(lexicon, clip, top=top, timed=timed, surest=surest, **sizes)
    return [description for _, description in found]


def describe_scored(
    lexicon: LearnedLexicon,
    clip: Clip,
    *,
    top: int = 5,
    beam: int = 12,
    max_modifiers: int = 2,
    max_participants: int = 3,
    timed: bool = True,
    surest: bool = False,
) -> list[tuple[float, Description]]:
    """Find the sentences that describe a clip best, each after the score of its truth.

    That score compares with those of other clips, which the descriptions' own do not; what is
    asked for is as for :func:`describe`.
    """
    seen = lexicon.observe(clip)
    if not seen.view.present.any():
        return []
    with collect_losses() as losses:
        everything = _searched(lexicon, seen, beam, max_modifiers, max_participants, timed)
        weighed = max(top, _NUM_JUDGED) if surest else top
        found = _descriptions(lexicon, clip, seen, everything, weighed, losses)
    if surest:
        found.sort(key=lambda one: -one[0])
    return found[:top]


def _searched(
    lexicon: LearnedLexicon,
    seen: Observation,
    beam: int,
    max_modifiers: int,
    max_participants: int,
    timed: bool,
) -> dict[tuple[Word, ...], tuple[Sentence, float]]:
    """Return all sentences that were weighed, with their values."""
    known = _learned(lexicon)
    sentences = list(_plain(known, max_participants))
    weighed = _weighed(lexicon, seen, sentences, timed)
    best = dict(sorted(weighed.items(), key=lambda item: -item[1][1])[:beam])
    everything = dict(weighed)
    for _ in range(max_modifiers):
        longer = {
            s.words: s
            for _, (sentence, _) in best.items()
            for s in _extended(sentence, known, max_participants)
        }
        fresh = [s for words, s in longer.items() if words not in everything]
        if not fresh:
            break
        grown = _weighed(lexicon, seen, fresh, timed)
        everything |= grown
        best = dict(sorted(grown.items(), key=lambda item: -item[1][1])[:beam])
    return everything


def _learned(lexicon: LearnedLexicon) -> Lexicon:
    """Return the entries that have a meaning."""
    return Lexicon(tuple(entry for entry in lexicon.lexicon if entry.name in lexicon.words))


def _plain(known: Lexicon, max_participants: int) -> Iterator[Sentence]:
    """Yield the sentences of verbs and nouns."""
    return enumerate_sentences(
        known,
        max_participants=max_participants,
        max_relations=0,
        max_manners=0,
        max_motions=0,
    )


def _weighed(
    lexicon: LearnedLexicon, seen: Observation, sentences: list[Sentence], timed: bool
) -> dict[tuple[Word, ...], tuple[Sentence, float]]:
    values = lexicon.preferences(seen, sentences, timed=timed)
    return {
        sentence.words: (sentence, float(value))
        for sentence, value in zip(sentences, values, strict=True)
        if np.isfinite(value)
    }


def _extended(sentence: Sentence, known: Lexicon, max_participants: int) -> Iterator[Sentence]:
    """Yield the sentence with one modifier more."""
    for words in _additions(sentence, known, max_participants):
        try:
            yield sentence_of((*sentence.words, *words), known)
        except LanguageError:
            continue  # cannot be said in one unambiguous sentence


def _additions(
    sentence: Sentence, known: Lexicon, max_participants: int
) -> Iterator[tuple[Word, ...]]:
    used = {word.entry for word in sentence.words}
    people = range(sentence.num_participants)
    for part in _OF_ONE:
        for entry in known.of_part(part):
            if entry.name not in used:
                yield (Word(entry.name, (0,)),)
    for entry in known.of_part(PartOfSpeech.ADJECTIVE):
        if entry.name not in used:
            yield from ((Word(entry.name, (person,)),) for person in people)
    for part in _OF_TWO:
        for entry in known.of_part(part, 2):
            if entry.name in used:
                continue
            firsts = people if part is PartOfSpeech.SPATIAL_PREPOSITION else range(1)
            for first, second in permutations(people, 2):
                if first in firsts:
                    yield (Word(entry.name, (first, second)),)
            if len(people) < max_participants:
                new = len(people)
                for first, noun in product(firsts, known.of_part(PartOfSpeech.NOUN)):
                    if noun.name not in used:
                        yield Word(noun.name, (new,)), Word(entry.name, (first, new))


def _descriptions(
    lexicon: LearnedLexicon,
    clip: Clip,
    seen: Observation,
    weighed: dict[tuple[Word, ...], tuple[Sentence, float]],
    top: int,
    losses: list[float],
) -> list[tuple[float, Description]]:
    """Return the best sentences, each after the score of its truth."""
    ranked = sorted(weighed.values(), key=lambda pair: -pair[1])
    if not ranked:
        return []
    values = np.array([value for _, value in ranked])
    shares = np.exp(values - values.max())
    shares /= shares.sum()
    chosen = [sentence for sentence, _ in ranked[:top]]
    scores = lexicon.scores(seen, chosen)
    return [
        (
            float(scores[k]),
            Description(
                clip.video_id,
                clip.start,
                clip.end,
                float(values[k]),
                sentence.text,
                bool(scores[k] >= lexicon.threshold),
                float(shares[k]),
                max(losses, default=0.0),
            ),
        )
        for k, sentence in enumerate(chosen)
    ]
