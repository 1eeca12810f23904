r"""Discriminative training by growth transformations, as in Yu & Siskind (AAAI 2015).

A probability :math:`\lambda` of a distribution i moves to
:math:`\lambda(\partial O/\partial\lambda + C_i)/D_i`, which raises the objective if the damping
:math:`C_i` is large enough. After a success the damping is the least that keeps all positive;
after a failure the step is discarded and the damping multiplied.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from wordsight.meaning.contrast import Slopes, contrast
from wordsight.meaning.corpus import Example
from wordsight.meaning.lexicon import LearnedLexicon
from wordsight.meaning.word import WordModel

__all__ = ["GrowthSettings", "grow"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class GrowthSettings:
    """How growth goes.

    Attributes:
        iterations: Most steps that are tried; the paper needs 20 to 30.
        tolerance: Stop when the objective rises by less than this.
        damping: What the damping is multiplied by after a failure.
        least: The least damping, and the least probability.
        posterior: Whether the true sentence takes part in the competition: safer, bounded by 0.
    """

    iterations: int = 30
    tolerance: float = 1e-3
    damping: float = 2.0
    least: float = 1e-3
    posterior: bool = True


def grow(
    start: LearnedLexicon,
    examples: Sequence[Example],
    settings: GrowthSettings | None = None,
    *,
    threads: int = 1,
) -> tuple[LearnedLexicon, list[float]]:
    """Raise the conditional objective by growth transformations of all emissions.

    Returns:
        The lexicon, and the objective after every accepted step: it never falls.
    """
    chosen = settings or GrowthSettings()
    current, slopes = start, _slopes(start, examples, chosen, threads)
    history = [slopes.value]
    dampings = _dampings(current, slopes, chosen)
    for _ in range(chosen.iterations):
        grown = _grown(current, slopes, dampings, chosen)
        found = _slopes(grown, examples, chosen, threads)
        if found.value < history[-1]:
            dampings = {
                name: chosen.damping * np.maximum(chosen.least, damping)
                for name, damping in dampings.items()
            }
            continue
        rise = found.value - history[-1]
        current, slopes = grown, found
        history.append(found.value)
        if rise < chosen.tolerance:
            break
        dampings = _dampings(current, slopes, chosen)
    return current, history


def _slopes(
    lexicon: LearnedLexicon, examples: Sequence[Example], settings: GrowthSettings, threads: int
) -> Slopes:
    return contrast(
        examples,
        lexicon.tables,
        lexicon.looking.sight,
        lexicon.calibration,
        posterior=settings.posterior,
        threads=threads,
    )


def _emission_slopes(
    lexicon: LearnedLexicon, slopes: Slopes
) -> dict[str, tuple[tuple[Array, Array], ...]]:
    """Return per word and slot the emissions and the slopes with respect to their logs."""
    return {
        entry: tuple(
            zip(
                word.emissions,
                lexicon.tables[entry].emission_counts(slopes.counts[entry]),
                strict=True,
            )
        )
        for entry, word in lexicon.words.items()
    }


def _dampings(
    lexicon: LearnedLexicon, slopes: Slopes, settings: GrowthSettings
) -> dict[str, Array]:
    """Return per distribution the least damping that keeps its probabilities positive."""
    dampings = {}
    for entry, pairs in _emission_slopes(lexicon, slopes).items():
        for number, (table, counts) in enumerate(pairs):
            steepest = (counts / np.maximum(table, settings.least)).min(axis=1)
            dampings[f"{entry}/{number}"] = np.maximum(0.0, -steepest + settings.least)
    return dampings


def _grown(
    lexicon: LearnedLexicon,
    slopes: Slopes,
    dampings: dict[str, Array],
    settings: GrowthSettings,
) -> LearnedLexicon:
    words: dict[str, WordModel] = {}
    for entry, pairs in _emission_slopes(lexicon, slopes).items():
        emissions = []
        for number, (table, counts) in enumerate(pairs):
            damping = dampings[f"{entry}/{number}"][:, None]
            # Distributions that nothing pulls at stay as they are.
            raised = np.maximum(counts + damping * table, 0.0)
            mass = raised.sum(axis=1, keepdims=True)
            moved = np.where(mass > 0, raised / np.maximum(mass, 1e-300), table)
            moved = np.maximum(moved, settings.least * 1e-3)
            emissions.append(moved / moved.sum(axis=1, keepdims=True))
        words[entry] = replace(lexicon.words[entry], emissions=tuple(emissions))
    return lexicon.with_words(words)
