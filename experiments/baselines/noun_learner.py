"""Nouns without grammar: which words name which things, from utterances and what is in view.

For corpora where nothing but words and labels is known. A word is heard with many things in view;
over many situations only what it names is always among them. Words of an utterance compete, since
an utterance mostly speaks of one thing.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wordsight.errors import MeaningError

__all__ = ["NamedThing", "NounLearner"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class NamedThing:
    """A word that was found to name a thing.

    Attributes:
        word: The word.
        thing: What it names.
        count: Expected number of times it named it.
        share: Expected share of its uses in which it named something.
    """

    word: str
    thing: str
    count: float
    share: float


class NounLearner:
    """Cross-situational learning of nouns by expectation and maximisation.

    In every utterance either nothing is named, or one of its words names one of the things in
    view; word w naming thing o weighs
    ``odds(w) * p(o | w) / p(o) / things in view``, where p(o) is how often o is in view at all.

    Args:
        iterations: How many times expectations and tables are recomputed.
        smoothing: Imagined uses of each word, spread over things as they are in view.
        named: Imagined uses in which each word names something.
        unnamed: Imagined uses in which it does not.
        least_count: A noun has named its thing at least this often.
        least_share: A noun names something in at least this share of its uses.

    Attributes:
        words_: The words, sorted.
        things_: The things, sorted.
        counts_: ``(words, things)`` expected number of times each word named each thing.
        nouns_: Words found to be nouns, with what they name, the surest first.
    """

    def __init__(
        self,
        *,
        iterations: int = 60,
        smoothing: float = 0.5,
        named: float = 0.5,
        unnamed: float = 5.0,
        least_count: float = 2.0,
        least_share: float = 0.5,
    ) -> None:
        self.iterations = iterations
        self.smoothing = smoothing
        self.named = named
        self.unnamed = unnamed
        self.least_count = least_count
        self.least_share = least_share

    def fit(
        self, utterances: Sequence[Sequence[str]], scenes: Sequence[Sequence[str]]
    ) -> "NounLearner":
        """Learn from utterances and the things in view while each was said.

        Args:
            utterances: The words of each utterance.
            scenes: The things in view.
        """
        if len(utterances) != len(scenes):
            raise MeaningError(f"{len(utterances)} utterances came with {len(scenes)} scenes.")
        self.words_ = sorted({word for utterance in utterances for word in utterance})
        self.things_ = sorted({thing for scene in scenes for thing in scene})
        if not self.words_ or not self.things_:
            raise MeaningError("there is nothing to learn from: no words, or nothing in view.")
        pairs = [
            (_numbers(said, self.words_), _numbers(seen, self.things_))
            for said, seen in zip(utterances, scenes, strict=True)
            if said and seen
        ]
        uses = np.zeros(len(self.words_))
        views = np.zeros(len(self.things_))
        for words, things in pairs:
            uses[words] += 1
            views[things] += 1
        self.counts_ = self._converged(pairs, uses, views / views.sum())
        self.nouns_ = self._nouns(uses)
        return self

    def _converged(
        self,
        pairs: list[tuple[NDArray[np.intp], NDArray[np.intp]]],
        uses: Array,
        usual: Array,
    ) -> Array:
        shape = len(self.words_), len(self.things_)
        table = np.full(shape, 1 / shape[1])
        share = np.full(shape[0], 0.1)
        counts = np.zeros(shape)
        for _ in range(self.iterations):
            ratios = (share / (1 - share))[:, None] * table / usual
            counts = np.zeros(shape)
            for words, things in pairs:
                weights = ratios[np.ix_(words, things)] / len(things)
                counts[np.ix_(words, things)] += weights / (1 + weights.sum())
            imagined = self.named + self.unnamed
            share = (counts.sum(axis=1) + self.named) / (uses + imagined)
            share = np.clip(share, 1e-6, 1 - 1e-6)
            table = counts + self.smoothing * usual
            table /= table.sum(axis=1, keepdims=True)
        return counts

    def _nouns(self, uses: Array) -> list[NamedThing]:
        found = []
        for number, word in enumerate(self.words_):
            best = int(self.counts_[number].argmax())
            count = float(self.counts_[number, best])
            share = float(self.counts_[number].sum() / max(uses[number], 1.0))
            if count >= self.least_count and share >= self.least_share:
                found.append(NamedThing(word, self.things_[best], count, share))
        return sorted(found, key=lambda noun: (-noun.count, noun.word))


def _numbers(names: Sequence[str], known: list[str]) -> NDArray[np.intp]:
    return np.searchsorted(known, sorted(set(names)))
