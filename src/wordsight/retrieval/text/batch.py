"""`BatchSearch`: many queries over one collection, as fast as the machine adds.

What every term says of every document is worked out once; a query is then a few sums.
"""

from collections.abc import Sequence
from typing import overload

import numpy as np
from numpy.typing import NDArray

from wordsight.retrieval.errors import RetrievalError
from wordsight.retrieval.text.analysis import TextQuery
from wordsight.retrieval.text.model import LanguageModel, Ranking
from wordsight.retrieval.text.postings import Terms

__all__ = ["BatchSearch", "Rankings"]

Array = NDArray[np.float64]


class Rankings(Sequence[Ranking]):
    """The answers to many queries, made into objects only when asked for.

    Args:
        documents: ``(Q, k)`` numbers, -1 where there are no more.
        scores: ``(Q, k)``.
    """

    def __init__(self, documents: NDArray[np.int64], scores: Array) -> None:
        self.documents, self.scores = documents, scores

    def __len__(self) -> int:
        return len(self.documents)

    @overload
    def __getitem__(self, index: int) -> Ranking: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[Ranking]: ...

    def __getitem__(self, index: int | slice) -> Ranking | Sequence[Ranking]:
        if isinstance(index, slice):
            return Rankings(self.documents[index], self.scores[index])
        row = self.documents[index]
        found = int(np.count_nonzero(row >= 0))
        return Ranking(row[:found], self.scores[index, :found])


class BatchSearch:
    """A language model made ready for many queries; answers equal those of the model.

    Args:
        model: The model; its smoothing is fixed from here on.

    Raises:
        RetrievalError: If the model has several shards; merge them first.
    """

    def __init__(self, model: LanguageModel):
        if len(model.shards) != 1 or model.shards[0].rows is not None:
            raise RetrievalError(
                f"many queries need one whole shard, got {len(model.shards)}; merge them first."
            )
        self.terms: Terms = model.shards[0].levels.terms
        self.num_documents = model.num_documents
        self._starts, documents, self._evidence = _evidence(model)
        self._documents = documents.astype(np.uint32)
        self._bounds = _bounds(self._starts, self._evidence)
        cost = model.smoothing.length_cost(model.lengths.astype(float))
        self._cost = np.zeros(0) if cost is None else cost

    def search(self, queries: Sequence[TextQuery], top: int = 10) -> "Rankings":
        """Return for each query the documents with at least one of its terms, best first.

        Args:
            queries: What to look for; what they exclude is found all the same, for the caller to
                leave out.
            top: How many documents each at most.
        """
        from wordsight.retrieval.text.search_kernel import search_queries

        starts, terms, weights = self._numbered(queries)
        best, values = search_queries(
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
        return Rankings(best, values)

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


def _evidence(
    model: LanguageModel,
) -> tuple[NDArray[np.int64], NDArray[np.int32], Array]:
    """Return the evidence of all terms: starts ``(T + 1,)``, documents and evidence ``(P,)``."""
    levels, smoothing = model.shards[0].levels, model.smoothing
    shares = model.shares()
    if smoothing.num_levels == 1:
        postings = levels.postings[0]
        lengths = postings.lengths[postings.texts].astype(float)
        background = np.repeat(shares, np.diff(postings.starts))
        evidence = smoothing.evidence([postings.counts.astype(float)], [lengths], background)
        return np.asarray(postings.starts), postings.texts.astype(np.int32, copy=False), evidence
    documents, values = [], []
    for term in range(len(levels.terms)):
        found, counts, lengths_ = levels.occurrences(term, smoothing.num_levels)
        documents.append(found.astype(np.int32))
        values.append(smoothing.evidence(counts, lengths_, shares[term]))
    starts = np.cumsum([0, *map(len, documents)])
    if not documents:
        return starts, np.zeros(0, np.int32), np.zeros(0)
    return starts, np.concatenate(documents), np.concatenate(values)


def _bounds(starts: NDArray[np.int64], evidence: Array) -> Array:
    """Return ``(T,)`` the most that each term says of any document."""
    bounds = np.zeros(len(starts) - 1)
    used = np.flatnonzero(np.diff(starts))
    if len(used):
        bounds[used] = np.maximum.reduceat(evidence, starts[used])
    return bounds
