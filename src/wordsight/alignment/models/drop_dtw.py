"""DropDTW: dynamic time warping with a cost for dropping chunks, as a baseline.

It needs a score of how well a chunk fits a line. Without embeddings trained on labels it learns one
as the other models do: from a generative start, then from its own alignments.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wordsight.alignment.models.base import AlignmentModel, Bias, require_chunks
from wordsight.alignment.models.encoding import Encoded
from wordsight.alignment.models.hmm import HMM1
from wordsight.inference.lattice.model import LatticeError
from wordsight.progress import Progress, report

__all__ = ["DropDTW", "drop_dtw"]

Array = NDArray[np.float64]


def drop_dtw(costs: Array, drops: Array) -> tuple[float, NDArray[np.int64]]:
    """Match lines to chunks.

    Args:
        costs: ``(T, N)`` cost of matching each chunk to each line.
        drops: ``(T,)`` cost of dropping each chunk.

    Returns:
        The least cost, and ``(T,)`` the line of each chunk, -1 where it was dropped.

    Raises:
        LatticeError: If there are fewer chunks than lines.
    """
    chunks, lines = costs.shape
    if chunks < lines or drops.shape != (chunks,):
        raise LatticeError(
            f"matching {lines} lines needs as many chunks and one drop cost each, got {chunks} "
            f"chunks and {drops.shape} drop costs."
        )
    # Row 0 is before the first line; matched and dropped are the two ways to be at a line.
    matched = np.full((chunks + 1, lines + 1), np.inf)
    dropped = np.full((chunks + 1, lines + 1), np.inf)
    dropped[:, 0] = np.concatenate([[0.0], np.cumsum(drops)])
    for t in range(1, chunks + 1):
        either = np.minimum(matched[t - 1], dropped[t - 1])
        matched[t, 1:] = costs[t - 1] + np.minimum(either[:-1], either[1:])
        dropped[t, 1:] = drops[t - 1] + either[1:]
    return _traced(matched, dropped)


def _traced(matched: Array, dropped: Array) -> tuple[float, NDArray[np.int64]]:
    chunks, lines = np.subtract(matched.shape, 1)
    path = np.full(chunks, -1, dtype=np.int64)
    at = lines
    is_match = bool(matched[chunks, at] <= dropped[chunks, at])
    best = float(min(matched[chunks, at], dropped[chunks, at]))
    for t in range(chunks, 0, -1):
        if is_match:
            path[t - 1] = at - 1
            before = min(matched[t - 1, at - 1], dropped[t - 1, at - 1])
            same = min(matched[t - 1, at], dropped[t - 1, at])
            at -= bool(before < same)
        is_match = bool(matched[t - 1, at] <= dropped[t - 1, at]) and at > 0
    return best, path


@dataclass
class DropDTW(AlignmentModel):
    """Match lines in order at the least cost, or drop chunks.

    The cost of a match is the negative log of a softmax over lines and one more class for dropping,
    whose logit is a percentile of all logits.

    Args:
        warm_up: Iterations of HMM1 to start from.
        rounds: How often the dictionary is learned again from the alignments.
        keep: Share of the logits above that of dropping.
        null: Probability that a thing is named by no word.
        smoothing: Pseudo-counts of each noun.
    """

    warm_up: int = 10
    rounds: int = 10
    keep: float = 0.3
    null: float = 0.1
    smoothing: float = 0.3

    def _fit(self, pairs: list[Encoded], progress: Progress | None) -> None:
        for pair in pairs:
            require_chunks(pair, pair.num_lines, "DropDTW")
        start = HMM1(self.warm_up)
        start.vocabulary_ = self.vocabulary_
        start._fit(pairs, None)
        self.table_ = start.table_
        for _ in report(range(self.rounds), progress, "learning", self.rounds):
            counts = np.full_like(self.table_, self.smoothing / self.table_.shape[1])
            for pair in pairs:
                counts += self._hard_counts(pair)
            self.table_ = counts / counts.sum(axis=1, keepdims=True)

    def _hard_counts(self, pair: Encoded) -> Array:
        rates = self._rates(pair)
        shown = self._posterior(pair, 0.0).T @ pair.things.tokens
        return pair.things.word_counts(self.table_, (1 - self.null) * shown / rates)

    def _posterior(self, encoded: Encoded, bias: Bias) -> Array:
        require_chunks(encoded, encoded.num_lines, "DropDTW")
        logits = encoded.things.tokens @ np.log(self._rates(encoded)).T
        drop = float(np.quantile(logits, 1.0 - self.keep))
        every = np.concatenate([logits + bias, np.full((len(logits), 1), drop)], axis=1)
        costs = np.logaddexp.reduce(every, axis=1, keepdims=True) - every
        _, path = drop_dtw(costs[:, :-1], costs[:, -1])
        posterior = np.zeros(logits.shape)
        matched = np.flatnonzero(path >= 0)
        posterior[matched, path[matched]] = 1.0
        return posterior

    def _best(self, encoded: Encoded, bias: Bias, posterior: Array) -> NDArray[np.int64]:
        return np.where(posterior.any(axis=1), posterior.argmax(axis=1), -1)

    def _rates(self, encoded: Encoded) -> Array:
        columns = self.table_.shape[1]
        uniform = np.full(columns, 1.0 / columns)
        named = encoded.things.rates(self.table_, uniform)
        return np.asarray((1 - self.null) * named + self.null * uniform)
