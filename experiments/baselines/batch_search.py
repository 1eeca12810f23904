"""`BatchSearch`: many queries over one collection.

The evidence of every term for every document is computed once; a query is then a few sums.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wordsight.errors import RetrievalError
from wordsight.retrieval.text.analysis import TextQuery
from wordsight.retrieval.text.model import LanguageModel, Ranking
from wordsight.retrieval.text.postings import Terms

__all__ = ["BatchRankings", "BatchSearch"]

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class BatchRankings:
    """The rankings of many queries.

    Attributes:
        documents: ``(Q, k)`` document numbers, -1 beyond the end of a ranking.
        scores: ``(Q, k)``.
    """

    documents: NDArray[np.int64]
    scores: Array

    def __len__(self) -> int:
        return len(self.documents)

    def __getitem__(self, index: int) -> Ranking:
        row = self.documents[index]
        size = int(np.count_nonzero(row >= 0))
        return Ranking(row[:size], self.scores[index, :size])

    def __iter__(self) -> Iterator[Ranking]:
        return (self[index] for index in range(len(self)))


class BatchSearch:
    """A language model prepared for many queries; its rankings equal those of the model.

    Args:
        model: The model.

    Raises:
        RetrievalError: If the model has several shards; merge them first.
    """

    def __init__(self, model: LanguageModel):
        if len(model.shards) != 1 or model.shards[0].rows is not None:
            raise RetrievalError(
                "a batch search needs one shard without removed documents, got "
                f"{len(model.shards)}; merge them first."
            )
        self.terms: Terms = model.shards[0].levels.terms
        self.num_documents = model.num_documents
        self._starts, documents, self._evidence = _term_evidence(model)
        self._documents = documents.astype(np.uint32)
        self._bounds = _upper_bounds(self._starts, self._evidence)
        cost = model.smoothing.length_cost(model.level_lengths(model.smoothing.num_levels))
        self._cost = np.zeros(0) if cost is None else cost

    def search(self, queries: Sequence[TextQuery], top: int = 10) -> BatchRankings:
        """Return for each query the documents with at least one of its terms, best first.

        Args:
            queries: The queries; documents they exclude are not left out.
            top: Maximum number of documents per query.
        """
        from experiments.baselines.batch_search_kernel import search_queries

        starts, terms, weights = self._numbered(queries)
        documents, scores = search_queries(
            self._starts,
            self._documents,
            self._evidence,
            self._bounds,
            self._cost,
            starts,
            terms,
            weights,
            self.num_documents,
            max(1, min(top, self.num_documents)),
        )
        return BatchRankings(documents, scores)

    def _numbered(
        self, queries: Sequence[TextQuery]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], Array]:
        numbers = self.terms.numbers
        starts, terms, weights = [0], [], []
        for query in queries:
            for term, weight in query.weights.items():
                number = numbers.get(term)
                if number is not None:
                    terms.append(number)
                    weights.append(weight)
            starts.append(len(terms))
        return np.array(starts), np.array(terms, np.int64), np.array(weights, float)


def _term_evidence(model: LanguageModel) -> tuple[NDArray[np.int64], NDArray[np.int32], Array]:
    """Return the evidence of all terms: starts ``(T + 1,)``, documents and evidence ``(P,)``."""
    levels, smoothing = model.shards[0].levels, model.smoothing
    shares = model.shares()
    if smoothing.num_levels == 1:
        postings = levels.postings[0]
        lengths = postings.lengths[postings.texts].astype(float)
        background = np.repeat(shares, np.diff(postings.starts))
        evidence = smoothing.evidence([postings.counts.astype(float)], [lengths], background)
        return np.asarray(postings.starts), postings.texts.astype(np.int32, copy=False), evidence
    documents, values = [np.zeros(0, np.int32)], [np.zeros(0)]
    for term in range(len(levels.terms)):
        found, counts, level_lengths = levels.occurrences(term, smoothing.num_levels)
        documents.append(found.astype(np.int32))
        values.append(smoothing.evidence(counts, level_lengths, shares[term]))
    starts = np.cumsum([len(each) for each in documents])
    return starts, np.concatenate(documents), np.concatenate(values)


def _upper_bounds(starts: NDArray[np.int64], evidence: Array) -> Array:
    """Return ``(T,)`` the largest evidence of each term for any document."""
    bounds = np.zeros(len(starts) - 1)
    used = np.flatnonzero(np.diff(starts))
    if len(used):
        bounds[used] = np.maximum.reduceat(evidence, starts[used])
    return bounds
