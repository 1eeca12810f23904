"""`WordModel`: what one word means, as a small hidden Markov model over features of its arguments.

A word has a few states that follow one another while its event happens; each state has, for every
feature, a distribution over that feature's bins. Everything is a plain table that people can read.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wordsight.errors import FormatError
from wordsight.language import Entry, PartOfSpeech
from wordsight.meaning.errors import MeaningError
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
        arity: How many participants it speaks of.
        slots: Its features, each of one argument or of two.
        initial: ``(I,)`` probability of each state in the first frame.
        transition: ``(I, I)`` probability of each step from a state (row) to a state (column).
        final: ``(I,)`` weight of each state in the last frame: 1 where a word may end, else 0.
        emissions: Per slot ``(I, Z)``: probability of each bin in each state.
        follows: Whether it goes through its states together with the verb of its sentence.
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

    def __post_init__(self) -> None:
        states = self.initial.shape
        right = self.transition.shape == states * 2 and self.final.shape == states
        right &= len(self.slots) == len(self.emissions)
        right &= all(table.ndim == 2 and table.shape[:1] == states for table in self.emissions)
        if not right:
            raise MeaningError(f"the tables of {self.entry!r} do not fit each other.")

    @property
    def num_states(self) -> int:
        """How many states the word has."""
        return len(self.initial)

    def chain(self, frames: int) -> tuple[Array, Array, Array]:
        """Return initial, transition and final weights for a clip of so many frames.

        A clip with fewer frames than the word has states cannot show them all, so that there any
        state may come first or last and states may be skipped.
        """
        if frames >= self.num_states:
            return self.initial, self.transition, self.final
        forward = np.ones_like(self.transition)
        if not np.tril(self.transition, -1).any():
            forward = np.triu(forward)
        states = np.full(self.num_states, 1 / self.num_states)
        return states, forward / forward.sum(axis=1, keepdims=True), np.ones(self.num_states)

    def emission(self, feature: str, *roles: int) -> Array:
        """Return the ``(I, Z)`` distributions of a feature of the given arguments."""
        slot = Slot(feature, roles or tuple(range(self.arity)))
        if slot not in self.slots:
            known = ", ".join(f"{s.feature}{s.roles}" for s in self.slots)
            raise MeaningError(f"{self.entry!r} does not look at {feature}{slot.roles}: {known}.")
        return self.emissions[self.slots.index(slot)]


def uniform_word(
    entry: Entry,
    features: FeatureSet,
    vocabulary: FeatureVocabulary,
    *,
    forced_end: bool = True,
    forward: bool = True,
) -> WordModel:
    """Return a word that knows nothing yet: all bins alike.

    Args:
        entry: The lexicon entry.
        features: What its part of speech looks at; features without bins are left out.
        vocabulary: The bins.
        forced_end: Whether an event must have reached its last state when the clip ends.
        forward: Whether states are gone through from left to right; else any may come first, and
            any may follow any, so that ``forced_end`` has no meaning.
    """
    states = features.num_states(entry)
    slots = tuple(s for s in features.slots(entry) if s.feature in vocabulary.bins)
    sizes = [len(vocabulary.bins[slot.feature]) for slot in slots]
    initial, transition = left_to_right(states) if forward else ergodic(states)
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


def left_to_right(states: int) -> tuple[Array, Array]:
    """Return ``(I,)`` and ``(I, I)``: a start in the first state, and steps that stay or go on."""
    transition = 0.7 * np.eye(states) + 0.3 * np.eye(states, k=1)
    return np.eye(states)[0], transition / transition.sum(axis=1, keepdims=True)


def ergodic(states: int) -> tuple[Array, Array]:
    """Return ``(I,)`` and ``(I, I)``: a start in any state, and steps that stay or go anywhere."""
    transition = 0.7 * np.eye(states) + 0.3 / states
    return np.full(states, 1 / states), transition


# Word models as named arrays and back, for files and checkpoints.


def words_to_arrays(words: Mapping[str, WordModel], prefix: str = "") -> dict[str, NDArray[Any]]:
    """Return every table of every word under a name of its own."""
    arrays: dict[str, NDArray[Any]] = {}
    for number, word in enumerate(words.values()):
        place = f"{prefix}{number:04d}"
        arrays[f"{place}.initial"] = word.initial
        arrays[f"{place}.transition"] = word.transition
        arrays[f"{place}.final"] = word.final
        for slot, table in enumerate(word.emissions):
            arrays[f"{place}.emission{slot:03d}"] = table
    return arrays


def words_from_arrays(
    templates: Mapping[str, WordModel], arrays: Mapping[str, NDArray[Any]], prefix: str = ""
) -> dict[str, WordModel]:
    """Fill words of the right shape, in the same order, with saved tables."""
    words = {}
    for number, (entry, word) in enumerate(templates.items()):
        place = f"{prefix}{number:04d}"
        try:
            words[entry] = replace(
                word,
                initial=np.asarray(arrays[f"{place}.initial"], dtype=np.float64),
                transition=np.asarray(arrays[f"{place}.transition"], dtype=np.float64),
                final=np.asarray(arrays[f"{place}.final"], dtype=np.float64),
                emissions=tuple(
                    _shaped(arrays[f"{place}.emission{slot:03d}"], table)
                    for slot, table in enumerate(word.emissions)
                ),
            )
        except (KeyError, ValueError) as error:
            raise FormatError(
                f"the saved tables of {entry!r} are missing or of another shape ({error}); the "
                "file is damaged or belongs to another lexicon."
            ) from error
    return words


def _shaped(array: NDArray[Any], like: NDArray[np.float64]) -> NDArray[np.float64]:
    if array.shape != like.shape:
        raise ValueError(f"expected {like.shape}, got {array.shape}")
    return np.asarray(array, dtype=np.float64)
