"""Smoothing of document language models, and learning the interpolation weights by EM.

Every smoothing scores a text by the sum over query terms of ``log(1 + x)`` where the term occurs,
the form in which only matching terms count (6.23); the remainder does not depend on the text and is
returned by :meth:`TextSmoothing.background`.

Nothing here needs judgements of relevance: weights, masses and shares are learned by EM from words
that are left out of the collection's own texts, one at a time (deleted interpolation) or by halves.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from wordsight.errors import RetrievalError
from wordsight.inference import ConvergenceMonitor
from wordsight.retrieval.text.postings import Levels

__all__ = [
    "Dirichlet",
    "Interpolation",
    "JelinekMercer",
    "TextSmoothing",
    "TwoStage",
    "fit_mixing_weights",
    "fit_two_stage",
]

Array = NDArray[np.float64]
_LEAST_SHARE = 1e-12  # of the background: without any, a missing word would exclude a text
_LEAST_LEARNED_SHARE = 1e-4  # of the background, in learned weights
_MOST_ENTRIES = 400_000  # a few numbers need no more words
_LEAST_HALVED = 20  # words of a text that is worth halving
_PRIOR_MASS = 50.0  # pseudo-count of the default mass


class TextSmoothing(Protocol):
    """The smoothing of a language model."""

    @property
    def num_levels(self) -> int:
        """The number of levels, from shots upwards, that have a weight."""

    def rates(self, lengths: Sequence[Array]) -> list[Array]:
        """Return for each level ``(n,)`` what an occurrence there counts in each text.

        Args:
            lengths: For each level ``(n,)`` the number of words.
        """

    def evidence(self, counts: Sequence[Array], lengths: Sequence[Array], background: Any) -> Array:
        """Return ``log(P(term | text) / P(term | unrelated text))`` for n occurrences.

        It is ``log(1 + sum of rates * counts / background)``.

        Args:
            counts: For each level ``(n,)`` the count of the term.
            lengths: For each level ``(n,)`` the number of words.
            background: The term's collection probability; a number or ``(n,)``.
        """

    def length_cost(self, lengths: Sequence[Array]) -> Array | None:
        """Return ``(N,)`` the cost per query term of lengths on each level, or ``None``."""

    def own(self) -> "TextSmoothing":
        """Return the same smoothing of the texts themselves, without the levels above them."""

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
        return _evidence(self.rates(lengths), counts, background)

    def rates(self, lengths: Sequence[Array]) -> list[Array]:
        """As :meth:`TextSmoothing.rates`."""
        return [
            weight / (self.rest * np.maximum(length, 1.0))
            for weight, length in zip(self.weights, lengths, strict=True)
        ]

    def length_cost(self, lengths: Sequence[Array]) -> Array | None:
        """None: relative frequencies do not depend on the length."""
        return None

    def own(self) -> "Interpolation":
        """As :meth:`TextSmoothing.own`."""
        return Interpolation(self.weights[:1])

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

    .. math:: P(t|d) = (1-\lambda)\frac{n(t,d) + \mu U(t)}{|d| + \mu} + \lambda P(t),\quad
        U(t) = \sum_l w_l P(t|l) + w_C P(t)

    The first stage accounts for words that a short text omits: they are expected from its scene
    and its video, and from the collection. The second accounts for common words in
    queries. Without the second it is :class:`Dirichlet`, with a small mass nearly
    :class:`JelinekMercer`.

    Attributes:
        mass: Pseudo-count of the words expected in a text, above 0.
        share: Weight of the collection in queries, from 0 to below 1.
        weights: Share of each level above in what is expected; the collection has what remains, and
            the share of a level that adds no words to the one below.
    """

    mass: float = 100.0
    share: float = 0.7
    weights: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        if not self.mass > 0 or not np.isfinite(self.mass):
            raise RetrievalError(f"the mass must be above 0, got {self.mass}.")
        if not 0 <= self.share < 1:
            raise RetrievalError(f"the share must be from 0 to below 1, got {self.share}.")
        object.__setattr__(self, "weights", tuple(float(w) for w in self.weights))
        if min(self.weights, default=0.0) < 0 or 1 - sum(self.weights) < _LEAST_SHARE:
            raise RetrievalError(
                "the weights of the levels must be 0 or more and leave a share for the "
                f"collection, got {self.weights}."
            )

    @property
    def num_levels(self) -> int:
        """The texts themselves, and the levels above that have a weight."""
        return 1 + len(self.weights)

    def evidence(self, counts: Sequence[Array], lengths: Sequence[Array], background: Any) -> Array:
        """As :meth:`TextSmoothing.evidence`."""
        return _evidence(self.rates(lengths), counts, background)

    def rates(self, lengths: Sequence[Array]) -> list[Array]:
        """As :meth:`TextSmoothing.rates`."""
        own = (1 - self.share) / self._unexplained(lengths)
        rates = [own]
        for level, weight in enumerate(self.weights, start=1):
            adds = self.mass * weight * (lengths[level] > lengths[level - 1])
            rates.append(own * adds / np.maximum(lengths[level], 1.0))
        return rates

    def length_cost(self, lengths: Sequence[Array]) -> Array | None:
        """As :meth:`TextSmoothing.length_cost`."""
        cost: Array = np.log(self._unexplained(lengths) / (lengths[0] + self.mass))
        return cost

    def own(self) -> "TwoStage":
        """As :meth:`TextSmoothing.own`."""
        return TwoStage(self.mass, self.share)

    def background(self, probabilities: Array) -> Array:
        """As :meth:`TextSmoothing.background`."""
        return np.log(probabilities)

    def _unexplained(self, lengths: Sequence[Array]) -> Any:
        """Return the pseudo-count of the collection in a text, with its share of the query."""
        rest: Any = 1.0
        for level, weight in enumerate(self.weights, start=1):
            rest = rest - weight * (lengths[level] > lengths[level - 1])
        return (1 - self.share) * self.mass * rest + self.share * (lengths[0] + self.mass)


class Dirichlet(TwoStage):
    """Dirichlet smoothing: short texts depend on the collection more than long ones.

    Args:
        mass: Pseudo-count of the collection, above 0.
    """

    def __init__(self, mass: float = 300.0):
        super().__init__(mass, 0.0)


def _evidence(rates: Sequence[Array], counts: Sequence[Array], background: Any) -> Array:
    found = sum(rate * count for rate, count in zip(rates, counts, strict=True))
    ratio: Array = np.log1p(found / background)
    return ratio


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


def fit_two_stage(
    levels: Levels,
    shares: Array,
    *,
    prior: TwoStage | None = None,
    words: float = 0.0,
    random_state: int = 0,
    monitor: ConvergenceMonitor | None = None,
) -> TwoStage:
    """Learn mass, weights of the levels and share of the collection from the texts themselves.

    The mass and the weights maximise the likelihood of words left out one at a time, by EM. The
    share is the part of one half of a text, drawn at random, that the words of the other half do
    not explain: what any text about anything has. Titles and captions say each word once, so that
    words left out make them look as if they said nothing. Therefore the mass is at most the
    harmonic mean of the lengths: over all texts, what is expected of a text counts on average no
    more than what it says. For the same reason texts too short to be halved vote for the prior.

    Args:
        levels: The documents and their units.
        shares: ``(T,)`` the collection probability of each term.
        prior: The values expected before any word is seen.
        words: Pseudo-count of the prior's shares and weights.
        random_state: Seed of the halves.
        monitor: Receives the log likelihood per word of the words left out (with the prior's).

    Raises:
        RetrievalError: If the collection has no words.
    """
    above = len(levels.postings) - 1
    start = prior or TwoStage(weights=(0.5 / max(1, above),) * above)
    numbers, documents, counts = (np.asarray(a, np.int64) for a in levels.postings[0].triples())
    if not len(counts):
        raise RetrievalError("weights cannot be learned without a single word; add texts first.")
    kept = documents % -(-len(counts) // _MOST_ENTRIES) == 0
    numbers, documents, counts = numbers[kept], documents[kept], counts[kept]
    lengths = levels.postings[0].lengths[documents].astype(float)
    columns = [_expected(levels, level, numbers, documents) for level in range(1, above + 1)]
    background = shares[numbers]
    # A level that adds no words expects what the collection does.
    table = [np.where(np.isnan(column), background, column) for column in columns]
    mass, weights = _fit_mass(
        counts.astype(float), lengths, np.column_stack([*table, background]), start, words, monitor
    )
    sizes = levels.postings[0].lengths
    mass = min(mass, 1.0 / float(np.mean(1.0 / sizes[sizes > 0])))
    # Halves of captions have nothing in common, whatever they are about.
    half = np.random.default_rng(random_state).binomial(counts, 0.5).astype(float)
    undecided = float(counts[lengths < _LEAST_HALVED].sum())
    half, counts = (np.where(lengths >= _LEAST_HALVED, each, 0) for each in (half, counts))
    size = np.bincount(documents, half)[documents]
    own = np.concatenate(
        [half / np.maximum(size, 1), (counts - half) / np.maximum(lengths - size, 1)]
    )
    mixing = fit_mixing_weights(
        np.column_stack([own, np.tile(background, 2)]),
        np.concatenate([counts - half, half]),
        prior=(max(words, 1.0) + undecided) * np.array([1 - start.share, start.share]),
    )
    share = min(float(mixing[1]), 1 - _LEAST_LEARNED_SHARE)
    return TwoStage(
        mass, share, Interpolation.from_mixing_weights(weights).weights if above else ()
    )


def _fit_mass(
    counts: Array,
    lengths: Array,
    expected: Array,
    start: TwoStage,
    words: float,
    monitor: ConvergenceMonitor | None,
) -> tuple[float, Array]:
    """Maximise the likelihood of words left out of their texts, over mass and weights.

    A word left out is a repetition of one that remains, or one of those expected. The M step of the
    mass has no closed form: its logarithm is replaced by a tangent, which never overshoots.

    Args:
        counts: ``(E,)`` count of each word in its text.
        lengths: ``(E,)`` length of that text.
        expected: ``(E, L)`` probability of the word on each level above, the collection last.
        start: The prior's mode, where EM starts.
        words: Pseudo-count of the weights.
        monitor: Receives the objective.
    """
    pseudo = words * np.append(start.weights, 1 - sum(start.weights))
    certain = _PRIOR_MASS if words else 0.0
    mass, weights = start.mass, pseudo / words if words else np.full(expected.shape[1], 1.0)
    weights = weights / weights.sum()
    total = counts.sum() + words
    monitor = monitor or ConvergenceMonitor(tolerance=1e-7, max_iterations=500)
    while True:
        drawn = expected @ weights
        chance = counts - 1 + mass * drawn
        objective = counts @ np.log(chance / (lengths - 1 + mass))
        objective += pseudo @ np.log(np.maximum(weights, 1e-300))
        objective += certain * (np.log(mass) - mass / start.mass)
        if monitor.update(float(objective) / total):
            return mass, weights
        owed = counts * mass / chance  # times what each level expects: its responsibility
        parts = weights * (expected.T @ owed)
        slope = (counts / (lengths - 1 + mass)).sum()
        mass = float((parts.sum() + certain) / (slope + certain / start.mass))
        weights = (parts + pseudo) / (parts + pseudo).sum()


def _expected(
    levels: Levels, level: int, numbers: NDArray[np.int64], documents: NDArray[np.int64]
) -> Array:
    """Return the probability of each entry's word on a level, NaN if that adds no words."""
    lengths = levels.postings[level].lengths[levels.owners[level][documents]]
    below = levels.postings[level - 1].lengths[levels.owners[level - 1][documents]]
    return np.where(lengths > below, _held_out(levels, level, numbers, documents), np.nan)
