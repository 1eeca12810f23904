"""Forced choice: pick the true one among candidates; with chance and a blind guesser beside it."""

from collections.abc import Hashable, Iterable, Sequence
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import ArrayLike

__all__ = ["FrequencyGuesser", "chance_accuracy", "choice_accuracy", "choices"]

Key = TypeVar("Key", bound=Hashable)


def choices(scores: Iterable[ArrayLike]) -> list[int]:
    """Return the index of the best candidate of each question; the first among equals."""
    return [int(np.argmax(np.asarray(row, dtype=np.float64))) for row in scores]


def choice_accuracy(scores: Sequence[ArrayLike], truth: Sequence[int]) -> float:
    """Return the share of questions whose true candidate has the best score.

    Where several candidates share the best score, each counts for its part: a model that scores
    everything alike gets exactly the chance level.

    Args:
        scores: Per question one score per candidate.
        truth: Per question the index of the true candidate.
    """
    if len(scores) != len(truth):
        raise ValueError(f"{len(scores)} questions do not match {len(truth)} answers.")
    if not truth:
        return 0.0
    credit = []
    for row, right in zip(scores, truth, strict=True):
        values = np.asarray(row, dtype=np.float64)
        best = np.flatnonzero(values == values.max())
        credit.append((right in best) / len(best))
    return float(np.mean(credit))


def chance_accuracy(candidate_counts: Sequence[int]) -> float:
    """Return the accuracy of choosing at random among the given numbers of candidates."""
    return float(np.mean(1.0 / np.asarray(candidate_counts, dtype=np.float64)))


class FrequencyGuesser(Generic[Key]):
    """Guesses without looking: prefers what was true most often when it was a candidate.

    Args:
        pseudo_count: How many imagined questions, answered at the mean rate, each candidate has
            behind it; keeps rare candidates from extreme rates.

    Examples:
        >>> guesser = FrequencyGuesser().fit([["a", "b"], ["a", "b"]], [0, 0])
        >>> bool(np.argmax(guesser.scores(["b", "a"])) == 1)
        True
    """

    def __init__(self, pseudo_count: float = 1.0) -> None:
        self.pseudo_count = pseudo_count
        self._asked: dict[Key, int] = {}
        self._true: dict[Key, int] = {}

    def fit(
        self, candidates: Iterable[Sequence[Key]], truth: Iterable[int]
    ) -> "FrequencyGuesser[Key]":
        """Count how often each candidate was asked and was true."""
        for row, right in zip(candidates, truth, strict=True):
            for key in row:
                self._asked[key] = self._asked.get(key, 0) + 1
            self._true[row[right]] = self._true.get(row[right], 0) + 1
        return self

    def scores(self, candidates: Sequence[Key]) -> np.ndarray:
        """Return ``(K,)`` log rates; candidates never asked get the mean rate."""
        mean = sum(self._true.values()) / max(1, sum(self._asked.values()))
        rates = [
            (self._true.get(key, 0) + self.pseudo_count * mean)
            / (self._asked.get(key, 0) + self.pseudo_count)
            for key in candidates
        ]
        return np.log(np.maximum(rates, 1e-12))
