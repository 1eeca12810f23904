"""Forced choice: pick the true one among candidates; with chance, blind and intervals."""

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = [
    "Estimate",
    "FrequencyGuesser",
    "chance_accuracy",
    "choice_accuracy",
    "choice_credit",
    "choices",
    "estimate_difference",
    "estimate_mean",
    "estimate_ratio",
]

Array = NDArray[np.float64]

_DRAWS = 1000
_NORMAL = 1.959964  # standard deviations on either side of the mean that hold 95 %


@dataclass(frozen=True)
class Estimate:
    """A measured value with its 95 % interval.

    Attributes:
        value: The value.
        low: Lower end of the interval.
        high: Upper end of the interval.
    """

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:.2f} [{self.low:.2f}, {self.high:.2f}]"


def estimate_ratio(
    above: ArrayLike, below: ArrayLike, groups: Sequence[Hashable], *, random_state: int = 0
) -> Estimate:
    """Estimate a ratio of sums by drawing whole groups, such as videos, with replacement.

    Args:
        above: ``(N,)`` terms of the numerator.
        below: ``(N,)`` terms of the denominator.
        groups: ``(N,)`` the group of each term: terms of one group are not independent.
        random_state: Seed of the draws.

    Returns:
        The ratio with the 2.5th and 97.5th percentile of the draws; 0 where the denominator is.
    """
    return _estimate(_ratios, (above, below), groups, random_state)


def estimate_difference(
    values: ArrayLike, chosen: ArrayLike, groups: Sequence[Hashable], *, random_state: int = 0
) -> Estimate:
    """Estimate the mean of some values less the mean of the others; see :func:`estimate_ratio`.

    Args:
        values: ``(N,)`` the values.
        chosen: ``(N,)`` which of them are the first kind.
        groups: ``(N,)`` the group of each.
        random_state: Seed of the draws.
    """
    terms, first = np.asarray(values, dtype=np.float64), np.asarray(chosen, dtype=np.float64)

    def gap(*sums: Array) -> Array:
        return _ratios(sums[0], sums[1]) - _ratios(sums[2], sums[3])

    rows = (terms * first, first, terms * (1 - first), 1 - first)
    return _estimate(gap, rows, groups, random_state)


def _estimate(
    statistic: Callable[..., Array],
    rows: Sequence[ArrayLike],
    groups: Sequence[Hashable],
    random_state: int,
) -> Estimate:
    """Estimate a function of sums by drawing whole groups."""
    names = {name: number for number, name in enumerate(dict.fromkeys(groups))}
    if not names:
        return Estimate(0.0, 0.0, 0.0)
    places = np.array([names[name] for name in groups], dtype=np.int64)
    terms = (np.asarray(row, dtype=np.float64) for row in rows)
    sums = np.stack([np.bincount(places, row, len(names)) for row in terms])
    rng = np.random.default_rng(random_state)
    times = rng.multinomial(len(names), np.full(len(names), 1 / len(names)), _DRAWS)
    low, high = np.percentile(statistic(*(sums @ times.T)), (2.5, 97.5))
    whole = statistic(*sums.sum(axis=1, keepdims=True))
    return Estimate(float(whole[0]), float(low), float(high))


def estimate_mean(
    values: ArrayLike, groups: Sequence[Hashable], *, share: bool = True, random_state: int = 0
) -> Estimate:
    """Estimate a mean; see :func:`estimate_ratio`.

    Args:
        values: ``(N,)`` the values.
        groups: ``(N,)`` the group of each.
        share: Whether values lie between 0 and 1. The interval is then at least that of Wilson,
            since a few draws that are all right would have no width at all.
        random_state: Seed of the draws.
    """
    terms = np.asarray(values, dtype=np.float64)
    drawn = estimate_ratio(terms, np.ones(len(terms)), groups, random_state=random_state)
    if not share or not len(terms):
        return drawn
    spread = _NORMAL**2 / len(terms)
    middle = (drawn.value + spread / 2) / (1 + spread)
    reach = np.sqrt(drawn.value * (1 - drawn.value) * spread + spread**2 / 4) / (1 + spread)
    return Estimate(
        drawn.value,
        max(0.0, min(drawn.low, float(middle - reach))),
        min(1.0, max(drawn.high, float(middle + reach))),
    )


def _ratios(above: Array, below: Array) -> Array:
    return np.divide(above, below, out=np.zeros_like(above), where=below != 0)


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
    return float(np.mean([choice_credit(*one) for one in zip(scores, truth, strict=True)]))


def choice_credit(scores: ArrayLike, right: int) -> float:
    """Return 1 if the true candidate of one question has the best score, 1/n where n share it."""
    values = np.asarray(scores, dtype=np.float64)
    best = np.flatnonzero(values == values.max())
    return float((right in best) / len(best))


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
