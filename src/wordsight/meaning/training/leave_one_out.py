"""Leave-one-out words: word models without what one training clip taught.

Words fit the clips they were learned from better than others, so that a threshold found there is
too strict elsewhere. Training again without each clip would take as many trainings as clips;
removing a clip's own expected counts from the last M-step gives nearly the same for one E-step.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from wordsight.meaning.model.lexicon import LearnedLexicon
from wordsight.meaning.model.word import WordModel
from wordsight.meaning.scoring.scorer import CountsByWord
from wordsight.meaning.scoring.tables import WordCounts
from wordsight.meaning.training.corpus import Corpus, TrainingExample
from wordsight.meaning.training.em import (
    EStepInputs,
    expected_counts_of,
    m_step,
    map_chunks,
    shared_distributions,
    zero_counts,
)
from wordsight.meaning.training.settings import WordSmoothing
from wordsight.records import Clip

__all__ = ["LeaveOneOut", "is_same_clip", "leave_one_out"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class LeaveOneOut:
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

    def for_clip(self, clip: Clip) -> LearnedLexicon:
        """Return the words to judge a clip with: without it, if it is a training clip."""
        seen = self.lexicon.named(clip)
        for number, other in enumerate(self.clips):
            if is_same_clip(other, seen):
                return self.without(number)
        return self.lexicon


def is_same_clip(one: Clip, other: Clip) -> bool:
    """Whether two clips hold the same detections of the same part of a video."""
    same_time = (one.video_id, one.start, one.end) == (other.video_id, other.start, other.end)
    return one is other or (same_time and one.detections == other.detections)


def leave_one_out(
    lexicon: LearnedLexicon,
    corpus: Corpus,
    smoothing: WordSmoothing,
    *,
    noise: float = 0.0,
    threads: int = 1,
) -> LeaveOneOut:
    """Compute what each clip of a corpus changed in the words.

    Where words were trained further than by maximum likelihood, each probability changes by the
    factor by which that of the M-step does.

    Args:
        lexicon: The words.
        corpus: What they were learned from.
        smoothing: Pseudo-counts of the M-step.
        noise: Probability that a sentence has nothing to do with its clip.
        threads: Number of clips to work on at once.
    """
    inputs = EStepInputs(lexicon.tables, lexicon.track_prior, noise)

    def work(chunk: Sequence[TrainingExample]) -> list[CountsByWord]:
        return [
            _counts_of_used_words(example, expected_counts_of([example], inputs)[1])
            for example in chunk
        ]

    parts = [own for part in map_chunks(corpus.examples, work, threads) for own in part]
    total = zero_counts(lexicon.tables)
    for own in parts:
        for entry, counts in own.items():
            total[entry].add(counts)
    fixed = lexicon.background, smoothing
    shared = shared_distributions(lexicon.tables, total, *fixed)
    whole = m_step(lexicon.tables, total, *fixed, corpus.noun_labels, shared=shared)
    changed = tuple(
        _changed_words(lexicon, total, own, whole, smoothing, corpus.noun_labels) for own in parts
    )
    clips = tuple(example.observation.view.clip for example in corpus.examples)
    return LeaveOneOut(lexicon, changed, clips)


def _counts_of_used_words(example: TrainingExample, counts: CountsByWord) -> CountsByWord:
    """Keep the counts of words in the sentences of a clip: all others are zero."""
    used = {word.entry for sentence in example.sentences for word in sentence.words}
    return {entry: own for entry, own in counts.items() if entry in used}


def _changed_words(
    lexicon: LearnedLexicon,
    total: CountsByWord,
    own: CountsByWord,
    whole: dict[str, WordModel],
    smoothing: WordSmoothing,
    noun_labels: Mapping[str, NDArray[np.bool_]],
) -> dict[str, WordModel]:
    tables = {entry: lexicon.tables[entry] for entry in own}
    rest = {entry: _difference(total[entry], counts) for entry, counts in own.items()}
    fixed = lexicon.background, smoothing
    shared = shared_distributions(lexicon.tables, {**total, **rest}, *fixed)
    without = m_step(tables, rest, *fixed, noun_labels, shared=shared)
    return {
        entry: _rescaled_word(lexicon.words[entry], without[entry], whole[entry])
        for entry in without
    }


def _difference(total: WordCounts, own: WordCounts) -> WordCounts:
    # A clip's counts are part of the total; only rounding can make a difference negative.
    return WordCounts(
        np.maximum(total.initial - own.initial, 0.0),
        np.maximum(total.transition - own.transition, 0.0),
        {role: np.maximum(t - own.singles[role], 0.0) for role, t in total.singles.items()},
        {roles: np.maximum(t - own.pairs[roles], 0.0) for roles, t in total.pairs.items()},
    )


def _rescaled_word(word: WordModel, to: WordModel, origin: WordModel) -> WordModel:
    tables = zip(word.emissions, to.emissions, origin.emissions, strict=True)
    return replace(
        word,
        initial=_rescaled(word.initial, to.initial, origin.initial),
        transition=_rescaled(word.transition, to.transition, origin.transition),
        emissions=tuple(_rescaled(*three) for three in tables),
    )


def _rescaled(shares: Array, to: Array, origin: Array) -> Array:
    """Multiply shares by the ratio of two distributions, and normalise."""
    values = shares * np.divide(to, origin, out=np.ones_like(to), where=origin > 0)
    return np.asarray(values / values.sum(axis=-1, keepdims=True))
