"""Better queries from documents: relevance models (RM3) and "more like this".

Both turn documents into a weighted query, which is scored like any other.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from wordsight.retrieval.errors import RetrievalError
from wordsight.retrieval.text.analysis import TextQuery
from wordsight.retrieval.text.model import LanguageModel

__all__ = ["RelevanceFeedback", "more_like_this", "relevance_model"]


@dataclass(frozen=True)
class RelevanceFeedback:
    """The relevance model of Lavrenko and Croft, mixed with the query (RM3).

    The best documents of a first search, or those a person says are right, are taken as samples of
    what is meant; their words join the query in proportion to how likely the query made them.

    Attributes:
        num_documents: How many of the best documents are believed.
        num_terms: How many new words may join.
        query_weight: Share that stays with the words of the query, from 0 to 1.
    """

    num_documents: int = 10
    num_terms: int = 20
    query_weight: float = 0.6

    def __post_init__(self) -> None:
        if self.num_documents < 1 or self.num_terms < 1 or not 0 <= self.query_weight <= 1:
            raise RetrievalError(
                "feedback needs one document and one term at least and a share between 0 and 1, "
                f"got {self.num_documents}, {self.num_terms} and {self.query_weight}."
            )

    def expand(
        self, model: LanguageModel, query: TextQuery, relevant: Sequence[int] | None = None
    ) -> TextQuery:
        """Return the query with the words of the documents it finds.

        The weights add up to those of the query, so that scores stay comparable.

        Args:
            model: What is searched.
            query: The first query.
            relevant: Documents known to be right; the best of a search if left out.
        """
        if relevant is not None:
            trust = {int(document): 1.0 / len(relevant) for document in relevant}
        else:
            trust = self.believed(model, query)
        return self.mixed(query, relevance_model(model, trust))

    def believed(self, model: LanguageModel, query: TextQuery) -> dict[int, float]:
        """Return the best documents of a query, each with P(document | query)."""
        found = model.search(query, self.num_documents)
        # Scores are log-likelihoods up to a constant: their softmax is P(document | query).
        chance = np.exp(found.scores - found.scores.max(initial=-np.inf))
        chance /= max(chance.sum(), 1e-300)
        return dict(zip(found.documents.tolist(), chance.tolist(), strict=True))

    def mixed(self, query: TextQuery, relevance: Mapping[str, float]) -> TextQuery:
        """Return the query with the likeliest terms of a relevance model mixed in."""
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
        return TextQuery(kept, query.text, query.exclude, query.words)


def more_like_this(model: LanguageModel, document: int, num_terms: int = 25) -> TextQuery:
    """Make a query of the words that set a document apart; the document itself is not found.

    A word counts for how often it occurs times how much more common it is here than elsewhere, its
    part in the Kullback-Leibler divergence of the document from the collection. Of a document
    without words, those of what it belongs to are taken (its scene, or its video).

    Args:
        model: What is searched.
        document: Number of the example.
        num_terms: How many words are kept.
    """
    levels = range(model.smoothing.num_levels)
    counts = next((c for level in levels if (c := model.terms_in(document, level))), {})
    total = max(1, sum(counts.values()))
    telling = {
        term: count * np.log(count / total / model.share(term)) for term, count in counts.items()
    }
    best = sorted(telling, key=lambda term: (-telling[term], term))[:num_terms]
    weights = {term: float(counts[term]) for term in best if telling[term] > 0 or total == 1}
    return TextQuery(weights, f"like document {document}", frozenset({document}))


def relevance_model(model: LanguageModel, trust: Mapping[int, float]) -> dict[str, float]:
    """Return P(term | relevant): the mean of the documents' own models, weighted by trust."""
    relevance: dict[str, float] = defaultdict(float)
    for document, share in trust.items():
        counts = model.terms_in(document)
        total = max(1, sum(counts.values()))
        for term, count in counts.items():
            relevance[term] += share * count / total
    return relevance
