"""What a step shows: a mixture of its lines, a null word for things no line names, and nothing.

A thing in hand is named by a noun of the line, or by no word at all; a chunk belongs to one line
of the step, or to none. Verbs and ways of moving follow the same rules where they were observed.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wordsight.alignment.encoding import Channel, Encoded

__all__ = ["StepEmission", "Tables", "background_of"]

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


class StepEmission:
    """Log probabilities of one video's chunks under its steps, and expected counts from them.

    Args:
        encoded: The text and the video.
        tables: What words name.
        null: Probability that a token is named by no word.
        drop: Probability that a chunk belongs to no line.

    Attributes:
        lines: ``(T, N)`` log probability of each chunk under each line.
        steps: ``(T, K)`` log probability under each step.
        dropped: ``(T, K)`` probability, given the step, that the chunk belongs to no line.
    """

    def __init__(self, encoded: Encoded, tables: Tables, null: float, drop: float) -> None:
        self._encoded, self._tables, self._null = encoded, tables, null
        self._noun_rates = self._rates(encoded.things, tables.nouns, tables.things)
        self._verb_rates = self._rates(encoded.moves, tables.verbs, tables.moves)
        self.lines = encoded.things.tokens @ np.log(self._noun_rates).T
        self.lines += encoded.moves.tokens @ np.log(self._verb_rates).T
        first = np.searchsorted(encoded.steps, np.arange(encoded.num_steps))
        top = np.maximum.reduceat(self.lines, first, axis=1)
        shares = np.exp(self.lines - top[:, encoded.steps])
        mixed = top + np.log(np.add.reduceat(shares, first, axis=1) / encoded.lines_per_step)
        nothing = encoded.things.tokens @ np.log(tables.things)
        nothing += encoded.moves.tokens @ np.log(tables.moves)
        with np.errstate(divide="ignore"):
            away = np.log(drop) + nothing[:, None]
        self.steps = np.logaddexp(np.log1p(-drop) + mixed, away)
        self.dropped = np.exp(away - self.steps)
        self._kept = np.exp(np.log1p(-drop) + mixed - self.steps)

    def line_posterior(self, steps: Array) -> Array:
        """Share posteriors of steps ``(T, K)`` out to lines ``(T, N)``."""
        encoded = self._encoded
        first = np.searchsorted(encoded.steps, np.arange(encoded.num_steps))
        top = np.maximum.reduceat(self.lines, first, axis=1)
        shares = np.exp(self.lines - top[:, encoded.steps])
        shares /= np.add.reduceat(shares, first, axis=1)[:, encoded.steps]
        return np.asarray(shares * (self._kept * steps)[:, encoded.steps])

    def counts(self, lines: Array) -> tuple[Array, Array]:
        """Return expected counts of nouns naming things and of verbs naming moves.

        Args:
            lines: ``(T, N)`` how much each chunk counts for each line.
        """
        pairs = (
            (self._encoded.things, self._tables.nouns, self._noun_rates),
            (self._encoded.moves, self._tables.verbs, self._verb_rates),
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
