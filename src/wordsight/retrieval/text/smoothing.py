"""How a text's own counts are mixed with what is known of the texts around it.

Every smoothing here scores a text by the sum over query terms of ``log(1 + something)`` where the
term occurs, the form in which only matching terms count (6.23); what is left out does not depend on
the text and is returned by :meth:`TextSmoothing.background`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from wordsight.inference import ConvergenceMonitor
from wordsight.retrieval.errors import RetrievalError
from wordsight.retrieval.text.analysis import TextQuery
from wordsight.retrieval.text.levels import Levels

__all__ = [
    "Dirichlet",
    "Interpolation",
    "JelinekMercer",
    "TextSmoothing",
    "TwoStage",
    "fit_mixing_weights",
    "learned_from_queries",
    "learned_interpolation",
    "smoothing_from_json",
]

Array = NDArray[np.float64]


_LEAST_SHARE = 1e-12  # of the background: without any, a missing word would rule a text out


class TextSmoothing(Protocol):
    """What a language model asks of its smoothing."""

    @property
    def num_levels(self) -> int:
        """How many levels of texts, from shots upwards, have a share of their own."""

    def evidence(self, counts: Sequence[Array], lengths: Sequence[Array], background: Any) -> Array:
        """Return ``log(P(term | text) / P(term | an unrelated text))`` for n occurrences.

        Args:
            counts: For each level ``(n,)`` how often the term occurs there.
            lengths: For each level ``(n,)`` how many words there are.
            background: The term's share of the collection; a number or ``(n,)``.
        """

    def length_cost(self, lengths: Array) -> Array | None:
        """Return ``(N,)`` what each query term costs a text for its length alone, or ``None``."""

    def background(self, probabilities: Array) -> Array:
        """Return the log-probability of terms in a text without them, the length cost apart."""

    def to_json(self) -> dict[str, Any]:
        """Return its name and settings as JSON can hold them."""


@dataclass(frozen=True)
class Interpolation:
    r"""Shot, scene, ... and collection mixed: :math:`\sum_l \lambda_l P(t|l) + \lambda_C P(t)`.

    The collection takes what the levels leave (6.24).

    Attributes:
        weights: Share of each level, from the text itself upwards; together less than 1.
    """

    weights: tuple[float, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "weights", tuple(float(w) for w in self.weights))
        if not self.weights or min(self.weights) < 0 or self.rest < _LEAST_SHARE:
            raise RetrievalError(
                "each level needs a share of 0 or more, and together they must leave something "
                f"for the collection; got {self.weights}."
            )

    @property
    def rest(self) -> float:
        """The share of the collection."""
        return 1.0 - sum(self.weights)

    @property
    def num_levels(self) -> int:
        """How many levels have a share."""
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
        """Nothing: shares do not depend on how long a text is."""
        return None

    def background(self, probabilities: Array) -> Array:
        """As :meth:`TextSmoothing.background`."""
        return np.log(self.rest * probabilities)

    def to_json(self) -> dict[str, Any]:
        """As :meth:`TextSmoothing.to_json`."""
        return {"name": "interpolation", "weights": list(self.weights)}


class JelinekMercer(Interpolation):
    """Interpolation of a text with the collection (6.20).

    Args:
        weight: Share of the text's own counts, above 0 and below 1.
    """

    def __init__(self, weight: float = 0.3):
        super().__init__((weight,))


@dataclass(frozen=True)
class Dirichlet:
    """A text's counts added to ``mass`` words drawn from the collection.

    Short texts lean on the collection more than long ones do.

    Attributes:
        mass: How many words the collection counts for, above 0.
    """

    mass: float = 300.0

    def __post_init__(self) -> None:
        if not self.mass > 0 or not np.isfinite(self.mass):
            raise RetrievalError(f"the mass must be above 0, got {self.mass}.")

    @property
    def num_levels(self) -> int:
        """Only the texts themselves."""
        return 1

    def evidence(self, counts: Sequence[Array], lengths: Sequence[Array], background: Any) -> Array:
        """As :meth:`TextSmoothing.evidence`."""
        ratio: Array = np.log1p(counts[0] / (self.mass * background))
        return ratio

    def length_cost(self, lengths: Array) -> Array | None:
        """As :meth:`TextSmoothing.length_cost`."""
        cost: Array = np.log(self.mass / (lengths + self.mass))
        return cost

    def background(self, probabilities: Array) -> Array:
        """As :meth:`TextSmoothing.background`."""
        return np.log(probabilities)

    def to_json(self) -> dict[str, Any]:
        """As :meth:`TextSmoothing.to_json`."""
        return {"name": "dirichlet", "mass": self.mass}


@dataclass(frozen=True)
class TwoStage:
    r"""Dirichlet smoothing of a text, then the collection's share of what people ask.

    .. math:: P(t|d) = (1-\lambda)\frac{n(t,d) + \mu P(t)}{|d| + \mu} + \lambda P(t)

    The first stage makes up for words a short text left out, the second for words that any query
    may hold. Without the second it is :class:`Dirichlet`, with a small mass nearly
    :class:`JelinekMercer`.

    Attributes:
        mass: How many words the collection counts for in a text, above 0.
        share: Share of the collection in what is asked, from 0 to below 1.
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
        """Only the texts themselves."""
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

    def to_json(self) -> dict[str, Any]:
        """As :meth:`TextSmoothing.to_json`."""
        return {"name": "two-stage", "mass": self.mass, "share": self.share}


def smoothing_from_json(values: dict[str, Any]) -> TextSmoothing:
    """Make the smoothing that its ``to_json`` described."""
    if values["name"] == "interpolation":
        return Interpolation(tuple(values["weights"]))
    if values["name"] == "dirichlet":
        return Dirichlet(float(values["mass"]))
    if values["name"] == "two-stage":
        return TwoStage(float(values["mass"]), float(values["share"]))
    raise RetrievalError(f"there is no smoothing {values['name']!r}.")


# Learning how much shot, scene and collection count: EM on words the models have not seen.
#
# The mixing weights of a fixed mixture are the easiest case of EM: the share of each level is the
# mean of its responsibility for the held-out words. Words are held out one at a time from the
# collection itself (deleted interpolation), or come as queries with documents known to be right.


_LEAST_COLLECTION = 1e-4  # some background must stay, or an unseen word would exclude a document


def fit_mixing_weights(
    probabilities: Array,
    counts: Array,
    *,
    prior: Array | None = None,
    monitor: ConvergenceMonitor | None = None,
) -> Array:
    """Find the mixing weights under which words are likeliest.

    Args:
        probabilities: ``(W, M)`` probability of each word under each of M models.
        counts: ``(W,)`` how often each word was observed.
        prior: ``(M,)`` words that each model is believed to have made before any are seen.
        monitor: Watches the log-likelihood per word (with the prior's), which never falls.

    Returns:
        ``(M,)`` weights that add up to 1.
    """
    seen = probabilities.sum(axis=1) > 0
    values, counts = probabilities[seen], np.asarray(counts, float)[seen]
    believed = np.zeros(probabilities.shape[1]) if prior is None else np.asarray(prior, float)
    total = counts.sum() + believed.sum()
    weights = np.full(probabilities.shape[1], 1.0 / probabilities.shape[1])
    if not total:
        return weights
    watch = monitor or ConvergenceMonitor(tolerance=1e-7, max_iterations=500)
    while True:
        mixed = values @ weights
        objective = counts @ np.log(mixed) + believed @ np.log(np.maximum(weights, 1e-300))
        if watch.update(float(objective) / total):
            return weights
        weights = (weights * (values.T @ (counts / mixed)) + believed) / total


def learned_interpolation(
    levels: Levels, *, prior: Array | None = None, monitor: ConvergenceMonitor | None = None
) -> Interpolation:
    """Learn the shares of all levels from the collection, each word held out from its own counts.

    Args:
        levels: The documents and what they belong to.
        prior: As for :func:`fit_mixing_weights`, one number per level and one for the collection.
        monitor: Watches the log-likelihood.

    Raises:
        RetrievalError: If there is not a single word.
    """
    if not levels.collection.num_words:
        raise RetrievalError("shares cannot be learned without a single word; add texts first.")
    numbers, documents, counts = levels.postings[0].triples()
    columns = [
        _held_out(levels, level, numbers.astype(np.int64), documents.astype(np.int64))
        for level in range(len(levels.postings))
    ]
    totals = levels.collection.num_words
    background = (levels.collection.probabilities[numbers] * totals - 1) / max(1, totals - 1)
    table = np.column_stack([*columns, background])
    return _interpolation(
        fit_mixing_weights(table, counts.astype(float), prior=prior, monitor=monitor)
    )


def learned_from_queries(
    levels: Levels,
    queries: Sequence[TextQuery],
    relevant: Sequence[Sequence[int]],
    *,
    monitor: ConvergenceMonitor | None = None,
) -> Interpolation:
    """Learn the shares of all levels from queries whose right documents are known.

    Args:
        levels: The documents and what they belong to.
        queries: The queries.
        relevant: For each query the numbers of documents that answer it.
        monitor: Watches the log-likelihood.
    """
    rows: list[Array] = []
    weights: list[float] = []
    shares = levels.collection.probabilities
    for query, documents in zip(queries, relevant, strict=True):
        for term, weight in query.weights.items():
            number = levels.terms.number(term)
            if number is not None:
                found = _probabilities(levels, number, np.asarray(documents, np.int64))
                rows += [np.append(row, shares[number]) for row in found]
                weights += [weight / max(1, len(documents))] * len(documents)
    if not rows:
        raise RetrievalError("no word of the queries occurs in the collection; nothing to learn.")
    return _interpolation(fit_mixing_weights(np.stack(rows), np.array(weights), monitor=monitor))


def _probabilities(levels: Levels, term: int, documents: NDArray[np.int64]) -> Array:
    """Return ``(n, L)`` the term's probability on each level of some documents."""
    columns = []
    for postings, owners in zip(levels.postings, levels.owners, strict=True):
        texts, counts = postings.of(term)
        dense = np.zeros(postings.num_texts)
        dense[texts] = counts
        columns.append((dense / np.maximum(postings.lengths, 1))[owners[documents]])
    return np.stack(columns, axis=1)


def _held_out(
    levels: Levels, level: int, numbers: NDArray[np.int64], documents: NDArray[np.int64]
) -> Array:
    """Return the probability of each entry's word with one occurrence of it taken away."""
    postings, owner = levels.postings[level], levels.owners[level][documents]
    size = max(1, postings.num_texts)
    own_terms, own_texts, own_counts = postings.triples()
    keys = own_terms.astype(np.int64) * size + own_texts
    place = np.searchsorted(keys, numbers * size + owner)
    lengths = postings.lengths[owner] - 1
    return np.where(lengths > 0, (own_counts[place] - 1) / np.maximum(lengths, 1), 0.0)


def _interpolation(weights: Array) -> Interpolation:
    kept = weights[:-1]
    if 1 - kept.sum() < _LEAST_COLLECTION:
        kept = kept * (1 - _LEAST_COLLECTION) / kept.sum()
    return Interpolation(tuple(kept))
