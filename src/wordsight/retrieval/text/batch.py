"""`BatchSearch`: many queries over one collection, as fast as the machine adds.

What every term says of every document is worked out once; a query is then a few sums.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from wordsight.retrieval.errors import RetrievalError
from wordsight.retrieval.text.model import LanguageModel, Ranking
from wordsight.retrieval.text.queries import TextQuery
from wordsight.retrieval.text.terms import Terms

__all__ = ["BatchSearch"]

Array = NDArray[np.float64]


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
        self._starts, self._documents, self._evidence = _evidence(model)
        cost = model.smoothing.length_cost(model.lengths.astype(float))
        self._cost = np.zeros(0) if cost is None else cost

    def search(self, queries: Sequence[TextQuery], top: int = 10) -> list[Ranking]:
        """Return for each query the documents with at least one of its terms, best first.

        Args:
            queries: What to look for.
            top: How many documents each at most.
        """
        from wordsight.retrieval.text.search_kernel import search_queries

        starts, terms, weights = self._numbered(queries)
        wanted = min(top + max((len(q.exclude) for q in queries), default=0), self.num_documents)
        best, values = search_queries(
            self._starts,
            self._documents,
            self._evidence,
            self._cost,
            starts,
            terms,
            weights,
            max(1, wanted),
        )
        found = (best >= 0).sum(axis=1)
        answers = [Ranking(best[i, :n], values[i, :n]) for i, n in enumerate(found.tolist())]
        return [_without(a, q, top) for a, q in zip(answers, queries, strict=True)]

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


def _without(answer: Ranking, query: TextQuery, top: int) -> Ranking:
    if not query.exclude:
        return (
            answer if len(answer) <= top else Ranking(answer.documents[:top], answer.scores[:top])
        )
    kept = ~np.isin(answer.documents, list(query.exclude))
    return Ranking(answer.documents[kept][:top], answer.scores[kept][:top])


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
