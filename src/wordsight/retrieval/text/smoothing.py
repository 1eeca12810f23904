"""Smoothing of document language models, and learning the interpolation weights by EM.

Every smoothing scores a text by the sum over query terms of ``log(1 + x)`` where the term occurs,
the form in which only matching terms count (6.23); the remainder does not depend on the text and is
returned by :meth:`TextSmoothing.background`.

The weights of an interpolation are learned by EM for a mixture of fixed components: each weight is
the mean responsibility of its level for held-out words. Words are held out one at a time from the
collection itself (deleted interpolation).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from wordsight.inference import ConvergenceMonitor
from wordsight.retrieval.errors import RetrievalError
from wordsight.retrieval.text.levels import Levels

__all__ = [
    "Dirichlet",
    "Interpolation",
    "JelinekMercer",
    "TextSmoothing",
    "TwoStage",
    "fit_interpolation",
    "fit_mixing_weights",
]

Array = NDArray[np.float64]
_LEAST_SHARE = 1e-12  # of the background: without any, a missing word would exclude a text
_LEAST_LEARNED_SHARE = 1e-4  # of the background, in learned weights


class TextSmoothing(Protocol):
    """The smoothing of a language model."""

    @property
    def num_levels(self) -> int:
        """The number of levels, from shots upwards, that have a weight."""

    def evidence(self, counts: Sequence[Array], lengths: Sequence[Array], background: Any) -> Array:
        """Return ``log(P(term | text) / P(term | unrelated text))`` for n occurrences.

        Args:
            counts: For each level ``(n,)`` the count of the term.
            lengths: For each level ``(n,)`` the number of words.
            background: The term's collection probability; a number or ``(n,)``.
        """

    def length_cost(self, lengths: Array) -> Array | None:
        """Return ``(N,)`` the cost per query term of each text's length, or ``None``."""

    def background(self, probabilities: Array) -> Array:
        """Return the log probability of terms in a text without them, without the length cost."""


@dataclass(frozen=True)
class Interpolation:
    r"""Linear interpolation of levels: :math:`\sum_l \lambda_l P(t|l) + \lambda_C P(t)`.

    The collection has the remaining weight (6.24).

    Attributes:
        weights: Weight of each level, from the text itself upwards; their sum is below 1.
    """

    weights: tuple[float, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "weights", tuple(float(w) for w in self.weights))
        if not self.weights or min(self.weights) < 0 or self.rest < _LEAST_SHARE:
            raise RetrievalError(
                "the weights of the levels must be 0 or more and leave a share for the "
                f"collection, got {self.weights}."
            )

    @classmethod
    def from_mixing_weights(cls, weights: Array) -> Self:
        """Create it from ``(levels + 1,)`` learned weights, the last one of the collection."""
        kept = weights[:-1]
        if 1 - kept.sum() < _LEAST_LEARNED_SHARE:
            kept = kept * (1 - _LEAST_LEARNED_SHARE) / kept.sum()
        return cls(tuple(kept))

    @property
    def rest(self) -> float:
        """The weight of the collection."""
        return 1.0 - sum(self.weights)

    @property
    def num_levels(self) -> int:
        """The number of weights."""
        return len(self.weights)

    def evidence(self, counts: Sequence[Array], lengths: Sequence[Array], background: Any) -> Array:
        """As :meth:`TextSmoothing.evidence`."""
        share = sum(
            weight * count / np.maximum(length, 1.0)
            for weight, count, length in zip(self.weights, counts, lengths, strict=True)
        )
        ratio: Array = np.log1p(share / (self.rest * background))
        return ratio

    def length_cost(self, lengths: Array) -> Array | None:
        """None: relative frequencies do not depend on the length."""
        return None

    def background(self, probabilities: Array) -> Array:
        """As :meth:`TextSmoothing.background`."""
        return np.log(self.rest * probabilities)


class JelinekMercer(Interpolation):
    """Interpolation of a text with the collection (6.20).

    Args:
        weight: Weight of the text, above 0 and below 1.
    """

    def __init__(self, weight: float = 0.3):
        super().__init__((weight,))


@dataclass(frozen=True)
class TwoStage:
    r"""Dirichlet smoothing of a text, then interpolation with the collection.

    .. math:: P(t|d) = (1-\lambda)\frac{n(t,d) + \mu P(t)}{|d| + \mu} + \lambda P(t)

    The first stage accounts for words that a short text omits, the second for common words in
    queries. Without the second it is :class:`Dirichlet`, with a small mass nearly
    :class:`JelinekMercer`.

    Attributes:
        mass: Pseudo-count of the collection in a text, above 0.
        share: Weight of the collection in queries, from 0 to below 1.
    """

    mass: float = 100.0
    share: float = 0.7

    def __post_init__(self) -> None:
        if not self.mass > 0 or not np.isfinite(self.mass):
            raise RetrievalError(f"the mass must be above 0, got {self.mass}.")
        if not 0 <= self.share < 1:
            raise RetrievalError(f"the share must be from 0 to below 1, got {self.share}.")

    @property
    def num_levels(self) -> int:
        """1: only the texts themselves."""
        return 1

    def evidence(self, counts: Sequence[Array], lengths: Sequence[Array], background: Any) -> Array:
        """As :meth:`TextSmoothing.evidence`."""
        drawn = self.mass + self.share * lengths[0]
        ratio: Array = np.log1p((1 - self.share) * counts[0] / (drawn * background))
        return ratio

    def length_cost(self, lengths: Array) -> Array | None:
        """As :meth:`TextSmoothing.length_cost`."""
        cost: Array = np.log((self.mass + self.share * lengths) / (lengths + self.mass))
        return cost

    def background(self, probabilities: Array) -> Array:
        """As :meth:`TextSmoothing.background`."""
        return np.log(probabilities)


class Dirichlet(TwoStage):
    """Dirichlet smoothing: short texts depend on the collection more than long ones.

    Args:
        mass: Pseudo-count of the collection, above 0.
    """

    def __init__(self, mass: float = 300.0):
        super().__init__(mass, 0.0)


def fit_mixing_weights(
    probabilities: Array,
    counts: Array,
    *,
    prior: Array | None = None,
    monitor: ConvergenceMonitor | None = None,
) -> Array:
    """Find the maximum-likelihood weights of a mixture of fixed models by EM.

    Args:
        probabilities: ``(W, M)`` probability of each word under each of M models.
        counts: ``(W,)`` observed count of each word.
        prior: ``(M,)`` pseudo-counts of the models.
        monitor: Receives the log likelihood per word (with the prior's), which never falls.

    Returns:
        ``(M,)`` weights that sum to 1.
    """
    possible = probabilities.sum(axis=1) > 0
    values, counts = probabilities[possible], np.asarray(counts, float)[possible]
    pseudo = np.zeros(probabilities.shape[1]) if prior is None else np.asarray(prior, float)
    total = counts.sum() + pseudo.sum()
    weights = np.full(probabilities.shape[1], 1.0 / probabilities.shape[1])
    if not total:
        return weights
    monitor = monitor or ConvergenceMonitor(tolerance=1e-7, max_iterations=500)
    while True:
        mixed = values @ weights
        objective = counts @ np.log(mixed) + pseudo @ np.log(np.maximum(weights, 1e-300))
        if monitor.update(float(objective) / total):
            return weights
        weights = (weights * (values.T @ (counts / mixed)) + pseudo) / total


def fit_interpolation(
    levels: Levels, *, prior: Array | None = None, monitor: ConvergenceMonitor | None = None
) -> Interpolation:
    """Learn the weights of all levels from the collection, each word held out of its own counts.

    Args:
        levels: The documents and their units.
        prior: As for :func:`fit_mixing_weights`, one number per level and one for the collection.
        monitor: Receives the log likelihood.

    Raises:
        RetrievalError: If the collection has no words.
    """
    if not levels.collection.num_words:
        raise RetrievalError("weights cannot be learned without a single word; add texts first.")
    numbers, documents, counts = levels.postings[0].triples()
    columns = [
        _held_out(levels, level, numbers.astype(np.int64), documents.astype(np.int64))
        for level in range(len(levels.postings))
    ]
    total = levels.collection.num_words
    background = (levels.collection.probabilities[numbers] * total - 1) / max(1, total - 1)
    table = np.column_stack([*columns, background])
    weights = fit_mixing_weights(table, counts.astype(float), prior=prior, monitor=monitor)
    return Interpolation.from_mixing_weights(weights)


def _held_out(
    levels: Levels, level: int, numbers: NDArray[np.int64], documents: NDArray[np.int64]
) -> Array:
    """Return the probability of each entry's word with one occurrence of it removed."""
    postings, owner = levels.postings[level], levels.owners[level][documents]
    size = max(1, postings.num_texts)
    own_terms, own_texts, own_counts = postings.triples()
    keys = own_terms.astype(np.int64) * size + own_texts
    place = np.searchsorted(keys, numbers * size + owner)
    lengths = postings.lengths[owner] - 1
    return np.where(lengths > 0, (own_counts[place] - 1) / np.maximum(lengths, 1), 0.0)
