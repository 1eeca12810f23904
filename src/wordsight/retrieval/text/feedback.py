"""Queries from documents: relevance models (RM3) and "more like this"."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from wordsight.errors import RetrievalError
from wordsight.retrieval.text.analysis import TextQuery
from wordsight.retrieval.text.model import LanguageModel

__all__ = ["RelevanceFeedback", "more_like_this", "relevance_model"]


@dataclass(frozen=True)
class RelevanceFeedback:
    """The relevance model of Lavrenko and Croft, mixed with the query (RM3).

    The best documents of a first search, or those known to be relevant, are treated as samples of
    the relevant class; their words are added to the query in proportion to P(document | query).

    Attributes:
        num_documents: Number of documents assumed to be relevant.
        num_terms: Maximum number of new words.
        query_weight: Weight of the original query, from 0 to 1.
    """

    num_documents: int = 10
    num_terms: int = 20
    query_weight: float = 0.6

    def __post_init__(self) -> None:
        if self.num_documents < 1 or self.num_terms < 1 or not 0 <= self.query_weight <= 1:
            raise RetrievalError(
                "num_documents and num_terms must be 1 or more and query_weight from 0 to 1, got "
                f"{self.num_documents}, {self.num_terms} and {self.query_weight}."
            )

    def expand(
        self, model: LanguageModel, query: TextQuery, relevant: Sequence[int] | None = None
    ) -> TextQuery:
        """Return the query expanded with words of relevant documents.

        The sum of the weights stays the same, so that scores are comparable.

        Args:
            model: The collection.
            query: The original query.
            relevant: Documents known to be relevant; by default the best of a search.
        """
        if relevant is not None:
            posterior = {int(document): 1.0 / len(relevant) for document in relevant}
        else:
            posterior = self.document_posterior(model, query)
        return self.mix(query, relevance_model(model, posterior))

    def document_posterior(self, model: LanguageModel, query: TextQuery) -> dict[int, float]:
        """Return the best documents of a query with P(document | query)."""
        ranking = model.search(query, self.num_documents)
        # Scores are log likelihoods up to a constant: their softmax is P(document | query).
        chance = np.exp(ranking.scores - ranking.scores.max(initial=-np.inf))
        chance /= max(chance.sum(), 1e-300)
        return dict(zip(ranking.documents.tolist(), chance.tolist(), strict=True))

    def mix(self, query: TextQuery, relevance: Mapping[str, float]) -> TextQuery:
        """Return the query mixed with the likeliest terms of a relevance model."""
        best = sorted(relevance, key=lambda term: (-relevance[term], term))[: self.num_terms]
        total = sum(relevance[term] for term in best)
        if not total:
            return query
        length = query.length or 1.0
        own = self.query_weight if query else 0.0
        mixed: dict[str, float] = {term: own * weight for term, weight in query.weights.items()}
        for term in best:
            share = (1.0 - own) * length * relevance[term] / total
            mixed[term] = mixed.get(term, 0.0) + share
        kept = {term: weight for term, weight in mixed.items() if weight > 0}
        pairs = {pair: own * weight for pair, weight in query.pairs.items()}
        return TextQuery(kept, query.text, query.exclude, query.words, pairs)


def more_like_this(model: LanguageModel, document: int, num_terms: int = 25) -> TextQuery:
    """Return a query of the characteristic words of a document, which excludes the document.

    A word is ranked by its contribution to the Kullback-Leibler divergence of the document from the
    collection. For a document without words, those of its scene or video are used.

    Args:
        model: The collection.
        document: Number of the example.
        num_terms: Maximum number of words.
    """
    levels = range(model.smoothing.num_levels)
    counts = next((c for level in levels if (c := model.terms_in(document, level))), {})
    total = max(1, sum(counts.values()))
    divergence = {
        term: count * np.log(count / total / model.share(term)) for term, count in counts.items()
    }
    best = sorted(divergence, key=lambda term: (-divergence[term], term))[:num_terms]
    weights = {term: float(counts[term]) for term in best if divergence[term] > 0 or total == 1}
    return TextQuery(weights, f"like document {document}", frozenset({document}))


def relevance_model(model: LanguageModel, posterior: Mapping[int, float]) -> dict[str, float]:
    """Return P(term | relevant): the mean of document models, weighted by P(document | query)."""
    relevance: dict[str, float] = defaultdict(float)
    for document, share in posterior.items():
        counts = model.terms_in(document)
        total = max(1, sum(counts.values()))
        for term, count in counts.items():
            relevance[term] += share * count / total
    return relevance
