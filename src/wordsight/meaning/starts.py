"""Where EM starts: verbs near uniform, nouns uniform unless they are said of nearly every clip.

A noun said everywhere ("person") has no contrast to learn from, and likelihood alone would let it
settle on rare things that happen to cover the corpus. What it speaks of must be in sight whenever
it is said, so the more often a noun is said, the more its start prefers labels that always are.
"""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from wordsight.language import PartOfSpeech
from wordsight.meaning.corpus import Corpus, label_presence
from wordsight.meaning.features import LABEL, FeatureSet, Vocabulary
from wordsight.meaning.word import WordModel, uniform_word
from wordsight.records import Sentence

__all__ = ["noun_start", "starting_words"]

Array = NDArray[np.float64]

_JITTER = 0.1
"""Spread of the logarithms of a verb's start: enough to break ties between its states."""

_PRESENCE_POWER = 6.0
"""How sharply a noun said of every clip prefers labels that are always in sight."""

_ESCAPE = 0.02  # share of a noun's start that is uniform whatever its presence


def starting_words(
    corpus: Corpus,
    features: FeatureSet,
    vocabulary: Vocabulary,
    rng: np.random.Generator,
    *,
    forced_end: bool = True,
    forward: bool = True,
    presence: bool = True,
) -> dict[str, WordModel]:
    """Return the words EM starts from.

    Args:
        corpus: The training material.
        features: What parts of speech look at.
        vocabulary: The bins.
        rng: Chance; restarts differ in it.
        forced_end: Whether an event must have ended with its clip.
        forward: Whether states are gone through from left to right.
        presence: Whether frequent nouns start at labels that are in sight whenever they are said.
    """
    nouns = noun_start(corpus, vocabulary) if presence else {}
    words = {}
    for entry in corpus.entries:
        found = corpus.lexicon[entry]
        word = uniform_word(found, features, vocabulary, forced_end=forced_end, forward=forward)
        emissions = tuple(
            nouns[entry][None]
            if entry in nouns and slot.feature == LABEL
            else _jittered(table, rng)
            for slot, table in zip(word.slots, word.emissions, strict=True)
        )
        words[entry] = replace(word, emissions=emissions)
    return words


def noun_start(corpus: Corpus, vocabulary: Vocabulary) -> dict[str, Array]:
    """Return the ``(labels,)`` distribution every noun starts from."""
    presence = np.stack([label_presence(e.seen, vocabulary) for e in corpus.examples])
    usual = presence.mean(axis=0)
    starts = {}
    for entry in corpus.lexicon.of_part(PartOfSpeech.NOUN):
        said = np.array([_says(example.sentences, entry.name) for example in corpus.examples])
        seen = (presence[said].sum(axis=0) + usual) / (said.sum() + 1) + 1e-3
        start = seen ** (_PRESENCE_POWER * said.mean() ** 2)
        starts[entry.name] = (1 - _ESCAPE) * start / start.sum() + _ESCAPE / len(start)
    return starts


def _says(sentences: tuple[Sentence, ...], entry: str) -> bool:
    return any(word.entry == entry for sentence in sentences for word in sentence.words)


def _jittered(table: Array, rng: np.random.Generator) -> Array:
    values = table * np.exp(_JITTER * rng.standard_normal(table.shape))
    return np.asarray(values / values.sum(axis=-1, keepdims=True))
