"""What a line shows: its nouns name things, each noun with a distribution of its own (IBM model 1).

With unrealised nouns, each noun of a line may also stay unseen; the sum over which of them are
seen is exact.
"""

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from wordsight.alignment.encoding import Channel, Encoded

__all__ = ["FLOOR", "LatentCounts", "Realisations", "latent_counts", "noun_counts", "noun_logs"]

Array = NDArray[np.float64]

FLOOR = 1e-40
"""The least probability, as in the published program."""

_MOST_SETS = 512  # per line; beyond, only the smaller sets of nouns are summed over


def noun_logs(encoded: Encoded, table: Array) -> Array:
    """Return ``(T, N)`` log probabilities of what each chunk shows under each line."""
    things = encoded.things
    return np.asarray(things.tokens @ np.log(np.maximum(_rates(things, table), FLOOR)).T)


def noun_counts(encoded: Encoded, table: Array, posterior: Array) -> Array:
    """Return ``(X, V)`` expected counts of nouns naming things, given posteriors ``(T, N)``."""
    things = encoded.things
    shown = posterior.T @ things.tokens
    return things.word_counts(table, shown / np.maximum(_rates(things, table), FLOOR))


def _rates(things: Channel, table: Array) -> Array:
    columns = table.shape[1]
    return things.rates(table, np.full(columns, 1.0 / columns))


@dataclass(frozen=True, eq=False)
class Realisations:
    """All sets of nouns that the lines of a text may realise.

    Attributes:
        sets: ``(R, X)`` 1 where a set holds a noun; sets of one line follow each other.
        absent: ``(R, X)`` 1 where a noun of the line is not in the set.
        first: ``(N,)`` number of each line's first set.
        line: ``(R,)`` line of each set.
    """

    sets: Array
    absent: Array
    first: NDArray[np.int64]
    line: NDArray[np.int64]

    @classmethod
    def of(cls, encoded: Encoded) -> "Realisations":
        """List the sets of each line, never the empty one but for lines without nouns."""
        rows: list[Array] = []
        absent: list[Array] = []
        lines: list[int] = []
        for number, words in enumerate(encoded.things.words):
            for chosen in _subsets(np.flatnonzero(words)):
                row = np.zeros(len(words))
                row[chosen] = 1.0
                rows.append(row)
                absent.append(words - row)
                lines.append(number)
        line = np.array(lines, dtype=np.int64)
        first = np.searchsorted(line, np.arange(encoded.num_lines))
        return cls(np.array(rows), np.array(absent), first, line)

    def logs(self, tokens: Array, table: Array, realised: Array) -> Array:
        """Return ``(T, R)`` joint log probabilities of each set and what each chunk shows."""
        present = np.log(np.maximum(realised, FLOOR))
        hidden = np.log(np.maximum(1.0 - realised, FLOOR))
        prior = self.sets @ present + self.absent @ hidden
        rates = np.maximum(self._channel(tokens).rates(table, _uniform(table)), FLOOR)
        return np.asarray(tokens @ np.log(rates).T + prior)

    def line_logs(self, logs: Array) -> Array:
        """Return ``(T, N)`` log probabilities summed over the sets of each line."""
        top = np.maximum.reduceat(logs, self.first, axis=1)
        mass = np.add.reduceat(np.exp(logs - top[:, self.line]), self.first, axis=1)
        return np.asarray(np.log(mass) + top)

    def _channel(self, tokens: Array) -> Channel:
        return Channel(self.sets, tokens)


@dataclass(frozen=True)
class LatentCounts:
    """Expected counts with unrealised nouns.

    Attributes:
        table: ``(X, V)`` nouns naming things.
        present: ``(X,)`` times each noun was realised.
        possible: ``(X,)`` times each noun could have been.
    """

    table: Array
    present: Array
    possible: Array


def latent_counts(
    sets: Realisations, logs: Array, tokens: Array, table: Array, posterior: Array
) -> LatentCounts:
    """Return expected counts, given log weights ``(T, R)`` and posteriors of lines ``(T, N)``."""
    shares = np.exp(logs - sets.line_logs(logs)[:, sets.line]) * posterior[:, sets.line]
    channel = Channel(sets.sets, tokens)
    rates = np.maximum(channel.rates(table, _uniform(table)), FLOOR)
    used = shares.sum(axis=0)
    present = used @ sets.sets
    return LatentCounts(
        channel.word_counts(table, (shares.T @ tokens) / rates),
        present,
        present + used @ sets.absent,
    )


def _subsets(nouns: NDArray[np.int64]) -> list[list[int]]:
    """Return non-empty sets of nouns, large ones left out where there would be too many."""
    chosen: list[list[int]] = []
    for size in range(1, len(nouns) + 1):
        found = [list(group) for group in combinations(nouns.tolist(), size)]
        if len(chosen) + len(found) > _MOST_SETS:
            break
        chosen += found
    return chosen or [[]]


def _uniform(table: Array) -> Array:
    return np.full(table.shape[1], 1.0 / table.shape[1])
