"""`LanguageModel`: the likelihood of a query under the smoothed unigram model of each document.

The documents may lie in several shards (segments of an index); the collection model always covers
all of them, so that scores do not depend on how documents are stored.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, Self

import numpy as np
from numpy.typing import NDArray

from wordsight.retrieval.documents import top_k
from wordsight.retrieval.errors import RetrievalError
from wordsight.retrieval.text.analysis import TextQuery
from wordsight.retrieval.text.levels import Levels
from wordsight.retrieval.text.postings import Postings
from wordsight.retrieval.text.smoothing import JelinekMercer, TextSmoothing

__all__ = ["LanguageModel", "Ranking", "Shard", "TermEvidence"]

Array = NDArray[np.float64]
Ints = NDArray[np.int64]
TermUnit = Literal["words", "documents"]
_MAX_CACHED_SHARES = 10_000


@dataclass(frozen=True, eq=False)
class Shard:
    """Documents stored together.

    Attributes:
        levels: Their counts.
        rows: ``(K,)`` ascending: the documents that have not been removed; ``None`` for all.
    """

    levels: Levels
    rows: Ints | None = None

    @property
    def num_documents(self) -> int:
        """The number of remaining documents."""
        return self.levels.num_documents if self.rows is None else len(self.rows)

    @cached_property
    def _live(self) -> NDArray[np.bool_] | None:
        """Which units of the topmost level have remaining documents; ``None`` for all."""
        if self.rows is None:
            return None
        live = np.zeros(self.levels.collection.num_texts, np.bool_)
        live[self.levels.owners[-1][self.rows]] = True
        return live

    def total(self, unit: TermUnit) -> int:
        """Return the number of words, or of distinct words per text, of the remaining units."""
        collection, live = self.levels.collection, self._live
        if unit == "words":
            lengths = collection.lengths
            return int(lengths.sum() if live is None else lengths[live].sum())
        return len(collection.texts) if live is None else int(live[collection.texts].sum())

    def count(self, term: str, unit: TermUnit) -> int:
        """Return the number of occurrences of a term, or of texts that contain it."""
        number = self.levels.terms.number(term)
        if number is None:
            return 0
        texts, counts = self.levels.collection.term_counts(number)
        if self._live is not None:
            texts, counts = texts[self._live[texts]], counts[self._live[texts]]
        return int(counts.sum()) if unit == "words" else len(texts)

    @cached_property
    def positions(self) -> Ints:
        """``(N,)`` the position of each document among the remaining ones, -1 if removed."""
        positions = np.full(self.levels.num_documents, -1, np.int64)
        rows = np.arange(self.levels.num_documents) if self.rows is None else self.rows
        positions[rows] = np.arange(len(rows))
        return positions

    def row(self, position: int) -> int:
        """Return the row of a remaining document."""
        return position if self.rows is None else int(self.rows[position])


@dataclass(frozen=True, eq=False)
class Ranking:
    """Documents by score, best first.

    Attributes:
        documents: ``(k,)`` their numbers.
        scores: ``(k,)`` descending; ties are in the order of the numbers.
    """

    documents: Ints
    scores: Array

    def __len__(self) -> int:
        return len(self.documents)


@dataclass(frozen=True)
class TermEvidence:
    """The evidence of one query term for a document.

    Attributes:
        term: The term, stemmed.
        evidence: Its contribution to the score: weight times log ratio of its probability in the
            document and in an unrelated one; 0 if it does not occur.
        counts: Its counts in the document, its scene and its video (the levels).
        share: Its collection probability; 0 for an unknown term.
    """

    term: str
    evidence: float
    counts: tuple[int, ...]
    share: float


class LanguageModel:
    """Smoothed unigram models of documents.

    Args:
        shards: The documents.
        smoothing: The smoothing.
        background: The collection probability of a term: its share of all ``"words"``, or with
            each word counted once per text of the topmost level (``"documents"``).

    Examples:
        >>> model = LanguageModel.from_texts([["red", "cup"], ["blue", "cup"]])
        >>> model.search(TextQuery({"red": 1.0})).documents
        array([0])
    """

    def __init__(
        self,
        shards: Sequence[Shard],
        smoothing: TextSmoothing | None = None,
        background: TermUnit = "words",
    ):
        self.shards = tuple(shards)
        self.background: TermUnit = background
        self.smoothing = smoothing or JelinekMercer()
        least = min((len(shard.levels.postings) for shard in self.shards), default=99)
        if self.smoothing.num_levels > least:
            raise RetrievalError(
                f"the smoothing has weights for {self.smoothing.num_levels} levels, but the "
                f"documents have {least}; give fewer weights."
            )
        self.starts = np.cumsum([0, *(shard.num_documents for shard in self.shards)])
        self._shares: dict[str, float] = {}

    @classmethod
    def from_texts(
        cls,
        texts: Iterable[Sequence[str]],
        smoothing: TextSmoothing | None = None,
        background: TermUnit = "words",
    ) -> Self:
        """Create the model of texts given as terms, one document each."""
        return cls([Shard(Levels.flat(Postings.build(texts)))], smoothing, background)

    @property
    def num_documents(self) -> int:
        """The number of documents."""
        return int(self.starts[-1])

    @cached_property
    def total(self) -> int:
        """The denominator of collection probabilities."""
        return sum(shard.total(self.background) for shard in self.shards)

    @cached_property
    def lengths(self) -> Ints:
        """``(N,)`` the number of words of each document."""
        parts = [
            shard.levels.postings[0].lengths[slice(None) if shard.rows is None else shard.rows]
            for shard in self.shards
        ]
        return np.concatenate(parts) if parts else np.zeros(0, np.int64)

    def share(self, term: str) -> float:
        """Return the collection probability of a term."""
        known = self._shares.get(term)
        if known is not None:
            return known
        counts = (shard.count(term, self.background) for shard in self.shards)
        share = sum(counts) / max(1, self.total)
        if len(self._shares) >= _MAX_CACHED_SHARES:
            self._shares.clear()
        self._shares[term] = share
        return share

    def shares(self) -> Array:
        """Return ``(T,)`` the collection probability of every term, for a model of one shard."""
        collection = self.shards[0].levels.collection
        if self.background == "words":
            return collection.probabilities
        return np.diff(collection.starts) / max(1, len(collection.texts))

    def known_terms(self, query: TextQuery) -> dict[str, float]:
        """Return the terms of a query that occur at all, with their collection probabilities."""
        shares = {term: self.share(term) for term in query.weights}
        return {term: share for term, share in shares.items() if share > 0}

    def scores(self, query: TextQuery) -> tuple[Array, NDArray[np.bool_]]:
        """Score all documents.

        Returns:
            ``(N,)`` the log likelihood of the query minus that under an unrelated document, which
            ranks alike (6.23); and ``(N,)`` whether any term of the query occurs.
        """
        scores = np.zeros(self.num_documents)
        matched = np.zeros(self.num_documents, np.bool_)
        known = self.known_terms(query)
        for shard, start in zip(self.shards, self.starts, strict=False):
            for term, share in known.items():
                documents, evidence = self._evidence(shard, term, share)
                scores[start + documents] += query.weights[term] * evidence
                matched[start + documents] = True
        cost = self._length_cost
        if cost is not None:
            scores += sum(query.weights[term] for term in known) * cost
        return scores, matched

    def log_likelihoods(self, query: TextQuery) -> Array:
        """Return ``(N,)`` log P(query | document) over the known terms."""
        known = self.known_terms(query)
        weights = np.array([query.weights[term] for term in known])
        background = self.smoothing.background(np.array(list(known.values())))
        return self.scores(query)[0] + float(weights @ background)

    def search(self, query: TextQuery, top: int | None = 10) -> Ranking:
        """Return the documents with at least one term of the query, best first.

        Args:
            query: The query.
            top: Maximum number of documents; all if ``None``.
        """
        scores, matched = self.scores(query)
        matched[[d for d in query.exclude if d < len(matched)]] = False
        candidates = np.flatnonzero(matched)
        values = scores[candidates]
        order = top_k(values, max(1, len(values)) if top is None else top)
        return Ranking(candidates[order], values[order])

    def explain(self, query: TextQuery, document: int) -> tuple[TermEvidence, ...]:
        """Return the contribution of each query term to a document's score, strongest first."""
        shard, row = self._locate(document)
        known = self.known_terms(query)
        terms = [
            self._explain_term(shard, row, term, weight, known.get(term, 0.0))
            for term, weight in query.weights.items()
        ]
        return tuple(sorted(terms, key=lambda each: -each.evidence))

    def terms_in(self, document: int, level: int = 0) -> dict[str, int]:
        """Return the terms of a document, or of its unit on a higher level, with their counts."""
        shard, row = self._locate(document)
        owner = int(shard.levels.owners[level][row])
        numbers, counts = shard.levels.postings[level].text_counts(owner)
        names = shard.levels.terms.names
        return {names[n]: c for n, c in zip(numbers.tolist(), counts.tolist(), strict=True)}

    def _locate(self, document: int) -> tuple[Shard, int]:
        place = int(np.searchsorted(self.starts, document, side="right")) - 1
        shard = self.shards[place]
        return shard, shard.row(document - int(self.starts[place]))

    def _explain_term(
        self, shard: Shard, row: int, term: str, weight: float, share: float
    ) -> TermEvidence:
        levels = self.smoothing.num_levels
        number = shard.levels.terms.number(term) if share else None
        counts, lengths = np.zeros(levels), np.zeros(levels)
        if number is not None:
            counts, lengths = shard.levels.occurrence(number, row, levels)
        if not counts.any():
            return TermEvidence(term, 0.0, (0,) * levels, share)
        evidence = self.smoothing.evidence(list(counts[:, None]), list(lengths[:, None]), share)
        return TermEvidence(
            term, weight * float(evidence[0]), tuple(int(count) for count in counts), share
        )

    def _evidence(self, shard: Shard, term: str, share: float) -> tuple[Ints, Array]:
        number = shard.levels.terms.number(term)
        if number is None:
            return np.zeros(0, np.int64), np.zeros(0)
        documents, counts, lengths = shard.levels.occurrences(number, self.smoothing.num_levels)
        evidence = self.smoothing.evidence(counts, lengths, share)
        positions = shard.positions[documents]
        if shard.rows is None:
            return positions, evidence
        return positions[positions >= 0], evidence[positions >= 0]

    @cached_property
    def _length_cost(self) -> Array | None:
        return self.smoothing.length_cost(self.lengths.astype(float))
