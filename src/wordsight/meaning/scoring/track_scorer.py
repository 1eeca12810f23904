"""Reading a clip whose things are tracks: the lattice falls apart into one chain per word.

Given a choice of one track per participant, the words of a sentence have nothing to do with each
other. So every word is scored once on every choice of its own arguments, and a sentence is a sum of
such tables, exact, whatever its length; all sentences of a clip share the tables of their words.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wordsight.inference.chains.hmm import chain_counts, chain_paths, chain_scores
from wordsight.inference.lattice.choices import Choices, weigh_choices
from wordsight.meaning.features import Observation
from wordsight.meaning.scoring.evidence import NUM_EVIDENCE, word_evidence
from wordsight.meaning.scoring.scorer import BestPath, CountsByWord, TrackPrior
from wordsight.meaning.scoring.tables import CompoundTables, WordTables
from wordsight.records import Sentence, Word

__all__ = ["TrackScorer", "distinct_arguments"]

Array = NDArray[np.float64]

_NEGLIGIBLE = 1e-10  # a choice of tracks less likely than this adds nothing to counts


@dataclass(frozen=True)
class _Evidence:
    """A word on every choice of its arguments: ``logs`` (T, J, .., J, I), ``scores`` (J, .., J)."""

    logs: Array
    scores: Array


class TrackScorer:
    """A clip with tracks, read with words.

    Args:
        seen: The clip.
        tables: The words.
        sight: How things are weighed.
    """

    def __init__(
        self, seen: Observation, tables: Mapping[str, WordTables], sight: TrackPrior
    ) -> None:
        self.seen = seen
        self.words = CompoundTables(tables)
        weights = np.ones(seen.num_things)
        weights[-1] = sight.unseen
        self.prior = np.log(weights / weights.sum())
        self._known: dict[str, Array] = {}
        self._evidence: dict[str, _Evidence] = {}
        self._choices: dict[tuple[Word, ...], Choices] = {}

    def log_ratios(self, sentences: Sequence[Sentence]) -> Array:
        """Return ``(K,)`` log likelihood ratios of sentences against the background."""
        if not self.seen.num_frames:
            return np.zeros(len(sentences))
        return np.array([_log_sum(self.choices(sentence).logs) for sentence in sentences])

    def choices(self, sentence: Sentence) -> Choices:
        """Return the log weight of each choice of one track per participant."""
        found = self._choices.get(sentence.words)
        if found is None:
            found = self._choices[sentence.words] = self._weighed(sentence)
        return found

    def _weighed(self, sentence: Sentence) -> Choices:
        words = self.words.joined(sentence).words
        factors = [(word.participants, self._of(word).scores) for word in words]
        return weigh_choices(self.prior, factors, sentence.num_participants)

    def add_counts(
        self, sentences: Sequence[Sentence], shares: Array, counts: CountsByWord
    ) -> None:
        """Add the expected counts of every sentence, times its share, to ``counts``."""
        if not self.seen.num_frames:
            return
        wanted: dict[str, Array] = {}
        for sentence, share in zip(sentences, shares, strict=True):
            if share == 0.0:
                continue
            choices = self.choices(sentence)
            posterior = share * _normalised(choices.logs)
            for word in self.words.joined(sentence).words:
                part = _summed(posterior, word.participants)
                part = choices.whole(part, word.participants)
                known = wanted.get(word.entry)
                wanted[word.entry] = part if known is None else known + part
        for entry, part in wanted.items():
            self._add_word(entry, part, counts)

    def posteriors(self, sentence: Sentence) -> tuple[Array, list[Array]]:
        """Return ``(T, P, J)`` of the participants' things, and per word ``(T, J, .., J, I)``."""
        choices = self.choices(sentence)
        posterior = _normalised(choices.logs)
        frames, people = self.seen.num_frames, sentence.num_participants
        shares = [choices.whole(_summed(posterior, (p,)), (p,)) for p in range(people)]
        things = np.stack(shares)
        joined, states = self.words.joined(sentence), []
        for word in joined.words:
            share = choices.whole(_summed(posterior, word.participants), word.participants)
            states += self.words[word.entry].parted(self._counted(word.entry, share)[0])
        return np.broadcast_to(things, (frames, *things.shape)), joined.ordered(states)

    def evidence(self, sentence: Sentence, most: int) -> Array:
        """Return ``(C, L, TRAITS)`` what speaks for each word on the best choices of tracks."""
        if not self.seen.num_frames:
            return np.zeros((1, len(sentence.words), NUM_EVIDENCE))
        choices = self.choices(sentence)
        total = choices.logs
        order = np.argsort(-total, axis=None, kind="stable")[:most]
        cast = choices.things(order[np.isfinite(total.ravel()[order])])

        def logs_of(tables: WordTables, people: tuple[int, ...]) -> Array:
            chosen: tuple[Any, ...] = (slice(None), *(cast[p] for p in people))
            return np.asarray(self._logs(tables.word.entry)[chosen])

        return word_evidence(self.words.joined(sentence), self.words, logs_of)

    def best_path(self, sentence: Sentence) -> BestPath:
        """Return the single best choice of tracks and of each word's states on them."""
        people, frames = sentence.num_participants, self.seen.num_frames
        joined = self.words.joined(sentence)
        paths = [self._paths(word.entry) for word in joined.words]
        factors = [
            (word.participants, scores)
            for word, (scores, _) in zip(joined.words, paths, strict=True)
        ]
        choices = weigh_choices(self.prior, factors, people, heaviest=True)
        best = [int(each[0]) for each in choices.things(np.array([choices.logs.argmax()]))]
        states = []
        for word, (_, found) in zip(joined.words, paths, strict=True):
            for participant in word.participants:
                found = found[:, best[participant]]
            states += [found] * len(self.words[word.entry].members)
        things = np.broadcast_to(np.array(best, dtype=np.int64), (frames, people))
        return BestPath(float(choices.logs.max()), things, np.stack(joined.ordered(states), axis=1))

    def _of(self, word: Word) -> _Evidence:
        found = self._evidence.get(word.entry)
        if found is None:
            tables, logs = self.words[word.entry], self._logs(word.entry)
            flat = chain_scores(_flat(logs), *tables.word.chain(self.seen.num_frames))
            scores = flat.reshape(logs.shape[1:-1])
            found = _Evidence(logs, scores + distinct_arguments(scores.shape))
            self._evidence[word.entry] = found
        return found

    def _logs(self, entry: str) -> Array:
        """Return ``(T, J, .., J, I)`` the log ratios of a word on every choice of its arguments."""
        found = self._known.get(entry)
        if found is None:
            found = self._known[entry] = self.words[entry].logs(self.seen)
        return found

    def _counted(self, entry: str, share: Array) -> tuple[Array, Array]:
        """Return posteriors ``(T, J, .., J, I)`` and steps of a word, weighted by its choices."""
        logs = self._evidence[entry].logs
        kept = np.where(np.abs(share) > _NEGLIGIBLE, share, 0.0)
        chain = self.words[entry].word.chain(self.seen.num_frames)
        counted = chain_counts(_flat(logs), *chain, kept.ravel())
        return counted.states.reshape(logs.shape), counted.steps

    def _add_word(self, entry: str, share: Array, counts: CountsByWord) -> None:
        posterior, steps = self._counted(entry, share)
        self.words[entry].add_counts(posterior, steps, self.seen, counts)

    def _paths(self, entry: str) -> tuple[Array, NDArray[np.int64]]:
        logs = self.words[entry].logs(self.seen)
        chain = self.words[entry].word.chain(self.seen.num_frames)
        scores, states = chain_paths(_flat(logs), *chain)
        shape = logs.shape[1:-1]
        return scores.reshape(shape) + distinct_arguments(shape), states.reshape(logs.shape[:-1])


def _flat(logs: Array) -> Array:
    return logs.reshape(len(logs), -1, logs.shape[-1])


@lru_cache(maxsize=256)
def distinct_arguments(shape: tuple[int, ...]) -> Array:
    """Return 0, but ``-inf`` where two arguments of a word are the same thing, if it is seen."""
    barrier = np.zeros(shape)
    same = np.eye(shape[0], dtype=bool)
    same[-1, -1] = False
    for first in range(len(shape)):
        for second in range(first):
            apart = _along(np.where(same, -np.inf, 0.0), (second, first), len(shape))
            barrier = barrier + apart
    barrier.setflags(write=False)
    return barrier


def _along(table: Array, axes: tuple[int, ...], count: int) -> Array:
    """Lay a table with one axis per argument along the given ones of ``count`` axes."""
    order, places = _order(axes, count)
    if order is not None:
        table = table.transpose(order)
    return table[places]


@lru_cache(maxsize=1024)
def _order(
    axes: tuple[int, ...], count: int
) -> tuple[tuple[int, ...] | None, tuple[slice | None, ...]]:
    """Return how to sort a table's axes, if at all, and where to put axes of length 1."""
    order = tuple(int(place) for place in np.argsort(axes))
    places = tuple(slice(None) if axis in axes else None for axis in range(count))
    return (None if order == tuple(range(len(axes))) else order), places


def _summed(table: Array, axes: tuple[int, ...]) -> Array:
    """Sum a table over all axes but the given ones, and put those in the given order."""
    rest = tuple(axis for axis in range(table.ndim) if axis not in axes)
    total = np.asarray(table.sum(axis=rest) if rest else table)
    order, _ = _order(axes, table.ndim)
    return total if order is None else total.transpose(np.argsort(order))


def _log_sum(logs: Array) -> float:
    top = float(logs.max())
    return top + float(np.log(np.exp(logs - top).sum())) if np.isfinite(top) else -np.inf


def _normalised(logs: Array) -> Array:
    top = logs.max()
    weights = np.exp(logs - top) if np.isfinite(top) else np.zeros_like(logs)
    return weights / max(float(weights.sum()), 1e-300)
