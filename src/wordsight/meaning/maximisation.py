"""The M-step: new tables from expected counts, with imagined counts that keep rare words sane.

The imagined counts are those of Dirichlet priors, so the sum of log likelihood and log prior is
what EM raises; both are given here, so that the rise can be watched.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from wordsight.meaning.reading import Counts
from wordsight.meaning.tables import Background, WordTables
from wordsight.meaning.word import WordModel

__all__ = ["Smoothing", "log_prior", "maximised"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Smoothing:
    """Imagined counts.

    Attributes:
        emission: Imagined sights per state and feature of words that change in time, spread like
            the background.
        static: The same for words of one state, such as nouns.
        transition: Imagined steps between any two states that may follow each other.
    """

    emission: float = 5.0
    static: float = 5.0
    transition: float = 1.0

    def of(self, word: WordModel) -> float:
        """Return the imagined sights of a word."""
        return self.static if word.num_states == 1 else self.emission


def maximised(
    tables: dict[str, WordTables], counts: Counts, background: Background, smoothing: Smoothing
) -> dict[str, WordModel]:
    """Return the words whose tables fit the counts best."""
    return {
        entry: _refitted(table, counts, background, smoothing) for entry, table in tables.items()
    }


def _refitted(
    table: WordTables, counts: Counts, background: Background, smoothing: Smoothing
) -> WordModel:
    word, mine = table.word, counts[table.word.entry]
    imagined = smoothing.of(word)
    emissions = tuple(
        _shares(found + imagined * background[slot.feature])
        for slot, found in zip(word.slots, table.emission_counts(mine), strict=True)
    )
    # What is impossible stays so: left to right is a matter of zeros.
    initial = (mine.initial + smoothing.transition) * (word.initial > 0)
    steps = (mine.transition + smoothing.transition) * (word.transition > 0)
    return replace(word, initial=_shares(initial), transition=_shares(steps), emissions=emissions)


def _imagined_steps(word: WordModel, smoothing: Smoothing) -> tuple[Array, Array]:
    """Return imagined first states and steps; what is impossible stays so."""
    count = np.float64(smoothing.transition)
    return np.where(word.initial > 0, count, 0.0), np.where(word.transition > 0, count, 0.0)


def log_prior(
    words: dict[str, WordModel],
    background: Background,
    smoothing: Smoothing,
    *,
    temper: float = 1.0,
) -> float:
    """Return the log prior of all tables, up to a constant.

    Under a temper the emissions of words with several states count less, and so does their prior.
    """
    total = 0.0
    for word in words.values():
        power = temper if word.num_states > 1 else 1.0
        imagined = power * smoothing.of(word)
        for slot, emission in zip(word.slots, word.emissions, strict=True):
            total += imagined * float((np.log(emission) @ background[slot.feature]).sum())
        pairs = zip((word.initial, word.transition), _imagined_steps(word, smoothing), strict=True)
        for table, counts in pairs:
            known = table > 0
            total += float((counts[known] * np.log(table[known])).sum())
    return total


def _shares(counts: Array) -> Array:
    return np.asarray(counts / counts.sum(axis=-1, keepdims=True))
