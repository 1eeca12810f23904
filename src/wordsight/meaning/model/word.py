"""`WordModel`: the meaning of one word, a hidden Markov model over features of its arguments."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wordsight.errors import FormatError, MeaningError
from wordsight.language import Entry, PartOfSpeech
from wordsight.meaning.features import FeatureSet, FeatureVocabulary, Slot

__all__ = [
    "WordModel",
    "ergodic",
    "left_to_right",
    "uniform_word",
    "words_from_arrays",
    "words_to_arrays",
]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class WordModel:
    """The tables of one word with I states.

    Attributes:
        entry: Its name in the lexicon.
        part: Its part of speech.
        arity: Its number of arguments.
        slots: Its features, each of one argument or of two.
        initial: ``(I,)`` probability of each state in the first frame.
        transition: ``(I, I)`` transition probabilities, from row to column.
        final: ``(I,)`` weight of each state in the last frame: 1 where a word may end, else 0.
        emissions: Per slot ``(I, Z)`` probability of each bin in each state.
        follows: Whether it shares the states of the verb of its sentence.
        senses: How many meanings it has. The states of one sense come after those of the other,
            each from its first phase to its last, and no step leads from one sense to another.
    """

    entry: str
    part: PartOfSpeech
    arity: int
    slots: tuple[Slot, ...]
    initial: Array
    transition: Array
    final: Array
    emissions: tuple[Array, ...]
    follows: bool = False
    senses: int = 1

    def __post_init__(self) -> None:
        states = self.initial.shape
        valid = self.transition.shape == states * 2 and self.final.shape == states
        valid &= self.senses >= 1 and len(self.initial) % self.senses == 0
        valid &= len(self.slots) == len(self.emissions)
        valid &= all(table.ndim == 2 and table.shape[:1] == states for table in self.emissions)
        if not valid:
            raise MeaningError(f"the tables of {self.entry!r} have shapes that do not match.")

    @property
    def num_states(self) -> int:
        """Number I of states."""
        return len(self.initial)

    @property
    def num_phases(self) -> int:
        """Number of states of one sense."""
        return self.num_states // self.senses

    def by_phase(self, values: Array) -> Array:
        """Sum ``(..., I)`` values of states over the senses."""
        return np.asarray(
            values.reshape(*values.shape[:-1], self.senses, self.num_phases).sum(axis=-2)
        )

    def chain(self, frames: int) -> tuple[Array, Array, Array]:
        """Return initial, transition and final weights for a clip of ``frames`` frames.

        A clip with fewer frames than the word has states cannot show them all; there any state may
        come first or last, and states may be skipped.
        """
        if frames >= self.num_phases:
            return self.initial, self.transition, self.final
        one_sense = np.ones((self.num_phases, self.num_phases))
        forward = np.kron(np.eye(self.senses), one_sense)
        if not np.tril(self.transition, -1).any():
            forward = np.triu(forward)
        states = np.full(self.num_states, 1 / self.num_states)
        return states, forward / forward.sum(axis=1, keepdims=True), np.ones(self.num_states)

    def emission(self, feature: str, *roles: int) -> Array:
        """Return the ``(I, Z)`` distributions of a feature of the given arguments."""
        slot = Slot(feature, roles or tuple(range(self.arity)))
        if slot not in self.slots:
            known = ", ".join(f"{s.feature}{s.roles}" for s in self.slots)
            raise MeaningError(
                f"{self.entry!r} does not use {feature}{slot.roles}; it uses {known}."
            )
        return self.emissions[self.slots.index(slot)]


def uniform_word(
    entry: Entry,
    features: FeatureSet,
    vocabulary: FeatureVocabulary,
    *,
    forced_end: bool = True,
    forward: bool = True,
    skips: bool = False,
) -> WordModel:
    """Return an untrained word, with uniform emissions.

    Args:
        entry: The lexicon entry.
        features: The features of its part of speech; those without bins are left out.
        vocabulary: The bins.
        forced_end: Whether the last state must be reached when the clip ends.
        forward: Whether states follow each other from left to right; else any may come first and
            any may follow any, and ``forced_end`` has no effect.
        skips: Whether words that go forward may begin in any state and leave states out.
    """
    states = features.num_states(entry)
    slots = tuple(s for s in features.slots(entry) if s.feature in vocabulary.bins)
    sizes = [len(vocabulary.bins[slot.feature]) for slot in slots]
    initial, transition = left_to_right(states, skips=skips) if forward else ergodic(states)
    return WordModel(
        entry.name,
        entry.part,
        entry.arity,
        slots,
        initial,
        transition,
        np.eye(states)[-1] if forced_end and forward else np.ones(states),
        tuple(np.full((states, size), 1 / size) for size in sizes),
        features.parts[entry.part].follows,
    )


def left_to_right(states: int, *, skips: bool = False) -> tuple[Array, Array]:
    """Return ``(I,)`` and ``(I, I)``: start in the first state, stay or go to the next.

    With ``skips``, start in any state, stay or go to any later one.
    """
    if skips:
        forward = np.triu(np.ones((states, states)))
        return np.full(states, 1 / states), forward / forward.sum(axis=1, keepdims=True)
    transition = 0.7 * np.eye(states) + 0.3 * np.eye(states, k=1)
    return np.eye(states)[0], transition / transition.sum(axis=1, keepdims=True)


def ergodic(states: int) -> tuple[Array, Array]:
    """Return ``(I,)`` and ``(I, I)``: start in any state, stay or go to any other."""
    transition = 0.7 * np.eye(states) + 0.3 / states
    return np.full(states, 1 / states), transition


def words_to_arrays(words: Mapping[str, WordModel], prefix: str = "") -> dict[str, NDArray[Any]]:
    """Return all tables of all words by name, for files and checkpoints."""
    return {
        f"{prefix}{number:04d}.{name}": table
        for number, word in enumerate(words.values())
        for name, table in _named_tables(word).items()
    }


def words_from_arrays(
    templates: Mapping[str, WordModel], arrays: Mapping[str, NDArray[Any]], prefix: str = ""
) -> dict[str, WordModel]:
    """Undo :func:`words_to_arrays`, given words of the right shapes in the same order."""
    words = {}
    for number, (entry, word) in enumerate(templates.items()):
        try:
            tables = {
                name: _like(arrays[f"{prefix}{number:04d}.{name}"], table)
                for name, table in _named_tables(word).items()
            }
            initial, transition, final, *emissions = tables.values()
            words[entry] = replace(
                word,
                initial=initial,
                transition=transition,
                final=final,
                emissions=tuple(emissions),
            )
        except (KeyError, ValueError) as error:
            raise FormatError(
                f"the saved tables of {entry!r} are missing or of another shape ({error}); the "
                "file is damaged or belongs to another lexicon."
            ) from error
    return words


def _named_tables(word: WordModel) -> dict[str, Array]:
    tables = {"initial": word.initial, "transition": word.transition, "final": word.final}
    return tables | {f"emission{slot:03d}": table for slot, table in enumerate(word.emissions)}


def _like(array: NDArray[Any], table: Array) -> Array:
    if array.shape != table.shape:
        raise ValueError(f"expected {table.shape}, got {array.shape}")
    return np.asarray(array, dtype=np.float64)
