"""What a step shows: a mixture of its lines, a null word for things no line names, and nothing.

A thing in hand is named by a noun of the line, or by no word at all; a chunk belongs to one line
of the step, or to none. Verbs and ways of moving follow the same rules where they were observed.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wordsight.alignment.encoding import Channel, Encoded

__all__ = ["DistinctChunks", "StepEmission", "Tables", "background_of"]

Array = NDArray[np.float64]

_UNSEEN = 0.1  # pseudo-counts of each token in the background


@dataclass(frozen=True, eq=False)
class Tables:
    """What words name, and what is seen when nothing is named.

    Attributes:
        nouns: ``(X, V)`` probability of each thing given each noun.
        verbs: ``(Xv, Vv)`` probability of each way of moving given each verb.
        things: ``(V,)`` probability of each thing whatever is named.
        moves: ``(Vv,)`` probability of each way of moving whatever is said.
    """

    nouns: Array
    verbs: Array
    things: Array
    moves: Array


def background_of(channels: list[Channel]) -> Array:
    """Return ``(V,)`` how often each token is seen, over all videos."""
    counts = np.sum([channel.tokens.sum(axis=0) for channel in channels], axis=0) + _UNSEEN
    return np.asarray(counts / max(counts.sum(), _UNSEEN))


@dataclass(frozen=True, eq=False)
class DistinctChunks:
    """A video's chunks, those that show the same taken together: many do, and cost but once.

    Attributes:
        things: ``(S, V)`` distinct rows of things, beside the words of the text.
        moves: ``(S, Vv)`` ways of moving of the same rows.
        which: ``(T,)`` row of each chunk.
        steps: ``(N,)`` step of each line.
        first: ``(K,)`` first line of each step.
    """

    things: Channel
    moves: Channel
    which: NDArray[np.int64]
    steps: NDArray[np.int64]
    first: NDArray[np.int64]

    @classmethod
    def of(cls, encoded: Encoded) -> "DistinctChunks":
        """Find the distinct rows of a video."""
        things = encoded.things.tokens
        rows, which = np.unique(
            np.concatenate([things, encoded.moves.tokens], axis=1), axis=0, return_inverse=True
        )
        width = things.shape[1]
        return cls(
            Channel(encoded.things.words, np.ascontiguousarray(rows[:, :width])),
            Channel(encoded.moves.words, np.ascontiguousarray(rows[:, width:])),
            which.ravel(),
            encoded.steps,
            np.searchsorted(encoded.steps, np.arange(encoded.num_steps)),
        )


class StepEmission:
    """Log probabilities of one video's chunks under its steps, and expected counts from them.

    Args:
        chunks: The text and the video.
        tables: What words name.
        null: Probability that a token is named by no word.
        drop: Probability that a chunk belongs to no line.

    Attributes:
        steps: ``(T, K)`` log probability of each chunk under each step.
    """

    def __init__(self, chunks: DistinctChunks, tables: Tables, null: float, drop: float) -> None:
        self._chunks, self._tables, self._null = chunks, tables, null
        self._noun_rates = self._rates(chunks.things, tables.nouns, tables.things)
        self._verb_rates = self._rates(chunks.moves, tables.verbs, tables.moves)
        lines = chunks.things.tokens @ np.log(self._noun_rates).T
        lines += chunks.moves.tokens @ np.log(self._verb_rates).T
        top = np.maximum.reduceat(lines, chunks.first, axis=1)
        weights = np.exp(lines - top[:, chunks.steps])
        sums = np.add.reduceat(weights, chunks.first, axis=1)
        mixed = top + np.log(sums / np.bincount(chunks.steps))
        nothing = chunks.things.tokens @ np.log(tables.things)
        nothing += chunks.moves.tokens @ np.log(tables.moves)
        with np.errstate(divide="ignore"):
            away = np.log(drop) + nothing[:, None]
        steps = np.logaddexp(np.log1p(-drop) + mixed, away)
        kept = np.exp(np.log1p(-drop) + mixed - steps)
        # Given the step: the share of each line; what they lack to one belongs to no line.
        self._shares = weights * (kept / sums)[:, chunks.steps]
        self.steps = steps[chunks.which]

    def line_posterior(self, steps: Array) -> Array:
        """Share posteriors of steps ``(T, K)`` out to lines ``(T, N)``."""
        chunks = self._chunks
        return np.asarray(self._shares[chunks.which] * steps[:, chunks.steps])

    def counts(self, steps: Array) -> tuple[Array, Array]:
        """Return expected counts of nouns naming things and of verbs naming moves.

        Args:
            steps: ``(T, K)`` how much each chunk counts for each step.
        """
        chunks = self._chunks
        rows = np.zeros((len(self._shares), steps.shape[1]))
        np.add.at(rows, chunks.which, steps)
        lines = self._shares * rows[:, chunks.steps]
        pairs = (
            (chunks.things, self._tables.nouns, self._noun_rates),
            (chunks.moves, self._tables.verbs, self._verb_rates),
        )
        named = 1.0 - self._null
        nouns, verbs = (
            channel.word_counts(table, named * (lines.T @ channel.tokens) / rates)
            for channel, table, rates in pairs
        )
        return nouns, verbs

    def _rates(self, channel: Channel, table: Array, background: Array) -> Array:
        named = channel.rates(table, background)
        return np.asarray((1.0 - self._null) * named + self._null * background)
