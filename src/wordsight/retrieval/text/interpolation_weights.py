"""Learning how much shot, scene and collection count: EM on words the models have not seen.

The mixing weights of a fixed mixture are the easiest case of EM: the share of each level is the
mean of its responsibility for the held-out words. Words are held out one at a time from the
collection itself (deleted interpolation), or come as queries with documents known to be right.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from wordsight.inference import ConvergenceMonitor
from wordsight.retrieval.errors import RetrievalError
from wordsight.retrieval.text.levels import Levels
from wordsight.retrieval.text.queries import TextQuery
from wordsight.retrieval.text.smoothing import Interpolation

__all__ = ["fit_mixing_weights", "learned_from_queries", "learned_interpolation"]

Array = NDArray[np.float64]
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
