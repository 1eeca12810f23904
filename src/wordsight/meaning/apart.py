"""Words as they would be without one clip: what a training clip says of clips not yet seen.

Words fit the clips they were learned from better than others, so that a threshold found there is
too strict elsewhere. Learning anew without each clip would take as many trainings as clips; taking
a clip's own expected counts out of the last M-step gives nearly the same for one E-step more.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from wordsight.meaning.corpus import Corpus, Example
from wordsight.meaning.expectation import Words, expected_of, in_chunks, no_counts
from wordsight.meaning.lexicon import LearnedLexicon
from wordsight.meaning.maximisation import Smoothing, maximised
from wordsight.meaning.reading import Counts
from wordsight.meaning.tables import WordCounts
from wordsight.meaning.word import WordModel
from wordsight.records import Clip

__all__ = ["Apart", "set_apart"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Apart:
    """A lexicon, and what each training clip changed in it.

    Attributes:
        lexicon: The words learned from all clips.
        changed: Per example of the corpus the words that differ without it.
        clips: The clip of each example.
    """

    lexicon: LearnedLexicon
    changed: tuple[dict[str, WordModel], ...]
    clips: tuple[Clip, ...]

    def without(self, number: int) -> LearnedLexicon:
        """Return the words as they would be without an example of the corpus."""
        return self.lexicon.with_words(self.lexicon.words | self.changed[number])

    def judging(self, clip: Clip) -> LearnedLexicon:
        """Return the words to judge a clip fairly with: without it, where it was learned from."""
        for number, other in enumerate(self.clips):
            if other is clip:
                return self.without(number)
        return self.lexicon


def set_apart(
    lexicon: LearnedLexicon,
    corpus: Corpus,
    smoothing: Smoothing,
    *,
    noise: float = 0.0,
    threads: int = 1,
) -> Apart:
    """Find what each clip of a corpus changed in the words.

    Words trained further than by maximum likelihood keep the rest of what they learned: each
    probability changes by the factor by which that of the M-step does.

    Args:
        lexicon: The words.
        corpus: What they were learned from.
        smoothing: Imagined counts of the M-step.
        noise: Probability that a sentence has nothing to do with its clip.
        threads: How many clips to work on at once.
    """
    words = Words(lexicon.tables, lexicon.looking.sight, noise)

    def work(chunk: Sequence[Example]) -> list[Counts]:
        return [_said(example, expected_of([example], words)[1]) for example in chunk]

    parts = [mine for part in in_chunks(corpus.examples, work, threads) for mine in part]
    total = no_counts(lexicon.tables)
    for mine in parts:
        for entry, counts in mine.items():
            total[entry].add(counts)
    whole = maximised(lexicon.tables, total, lexicon.background, smoothing)
    changed = tuple(_changed(lexicon, total, mine, whole, smoothing) for mine in parts)
    return Apart(lexicon, changed, tuple(example.seen.view.clip for example in corpus.examples))


def _said(example: Example, counts: Counts) -> Counts:
    """Keep the counts of words that were said of a clip: of all others they are nil."""
    said = {word.entry for sentence in example.sentences for word in sentence.words}
    return {entry: found for entry, found in counts.items() if entry in said}


def _changed(
    lexicon: LearnedLexicon,
    total: Counts,
    mine: Counts,
    whole: dict[str, WordModel],
    smoothing: Smoothing,
) -> dict[str, WordModel]:
    tables = {entry: lexicon.tables[entry] for entry in mine}
    rest = {entry: _less(total[entry], counts) for entry, counts in mine.items()}
    without = maximised(tables, rest, lexicon.background, smoothing)
    return {entry: _moved(lexicon.words[entry], without[entry], whole[entry]) for entry in without}


def _less(total: WordCounts, mine: WordCounts) -> WordCounts:
    # A clip's counts were added to the total; rounding alone can leave less than nothing.
    return WordCounts(
        np.maximum(total.initial - mine.initial, 0.0),
        np.maximum(total.transition - mine.transition, 0.0),
        {role: np.maximum(t - mine.singles[role], 0.0) for role, t in total.singles.items()},
        {roles: np.maximum(t - mine.pairs[roles], 0.0) for roles, t in total.pairs.items()},
    )


def _moved(word: WordModel, to: WordModel, origin: WordModel) -> WordModel:
    pairs = zip(word.emissions, to.emissions, origin.emissions, strict=True)
    return replace(
        word,
        initial=_scaled(word.initial, to.initial, origin.initial),
        transition=_scaled(word.transition, to.transition, origin.transition),
        emissions=tuple(_scaled(*tables) for tables in pairs),
    )


def _scaled(shares: Array, to: Array, origin: Array) -> Array:
    """Return shares times the factor from one distribution to another, summing to 1 again."""
    values = shares * np.divide(to, origin, out=np.ones_like(to), where=origin > 0)
    return np.asarray(values / values.sum(axis=-1, keepdims=True))
