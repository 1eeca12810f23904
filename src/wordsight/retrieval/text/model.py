"""`LanguageModel`: how likely each document is to have brought forth the words of a query.

The documents may lie in several shards (segments of an index); the collection they are compared
with is always all of them, so that scores do not depend on how they are stored.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, Self

import numpy as np
from numpy.typing import NDArray

from wordsight.retrieval.errors import RetrievalError
from wordsight.retrieval.text.analysis import TextQuery
from wordsight.retrieval.text.levels import Levels
from wordsight.retrieval.text.postings import Postings
from wordsight.retrieval.text.smoothing import JelinekMercer, TextSmoothing

__all__ = ["LanguageModel", "Ranking", "Shard", "TermEvidence"]

Array = NDArray[np.float64]
Ints = NDArray[np.int64]
TermUnit = Literal["words", "documents"]
_MOST_SHARES = 10_000  # terms whose share is remembered


@dataclass(frozen=True, eq=False)
class Shard:
    """Documents kept together, and which of them still count.

    Attributes:
        levels: Their counts.
        rows: ``(K,)`` rising: the documents that count; ``None`` for all.
    """

    levels: Levels
    rows: Ints | None = None

    @property
    def num_documents(self) -> int:
        """How many documents count."""
        return self.levels.num_documents if self.rows is None else len(self.rows)

    @cached_property
    def _alive(self) -> NDArray[np.bool_] | None:
        """For each member of the topmost level whether any of its documents counts."""
        if self.rows is None:
            return None
        alive = np.zeros(self.levels.collection.num_texts, np.bool_)
        alive[self.levels.owners[-1][self.rows]] = True
        return alive

    def total(self, background: TermUnit) -> int:
        """Return how many words all that counts holds, or how many different ones per text."""
        collection = self.levels.collection
        if background == "words":
            lengths = collection.lengths
            return int(lengths.sum() if self._alive is None else lengths[self._alive].sum())
        return (
            len(collection.texts)
            if self._alive is None
            else int(self._alive[collection.texts].sum())
        )

    def count(self, term: str, background: TermUnit) -> int:
        """Return how often a term occurs in what counts, or in how many texts."""
        number = self.levels.terms.number(term)
        if number is None:
            return 0
        texts, counts = self.levels.collection.of(number)
        if self._alive is not None:
            texts, counts = texts[self._alive[texts]], counts[self._alive[texts]]
        return int(counts.sum()) if background == "words" else len(texts)

    @cached_property
    def place(self) -> Ints:
        """``(N,)`` the place of each document among those that count, -1 if it does not."""
        place = np.full(self.levels.num_documents, -1, np.int64)
        rows = np.arange(self.levels.num_documents) if self.rows is None else self.rows
        place[rows] = np.arange(len(rows))
        return place


@dataclass(frozen=True, eq=False)
class Ranking:
    """Documents by score, best first.

    Attributes:
        documents: ``(k,)`` their numbers.
        scores: ``(k,)`` falling; ties are in the order of the numbers.
    """

    documents: Ints
    scores: Array

    def __len__(self) -> int:
        return len(self.documents)


@dataclass(frozen=True)
class TermEvidence:
    """What one term of a query says about a document.

    Attributes:
        term: The term, stemmed.
        evidence: What it adds to the score: weight times log of how much likelier the term is here
            than in an unrelated document; 0 if it does not occur.
        counts: How often it occurs in the document, its scene, its video (or whatever the levels).
        share: Its share of all words of the collection; 0 for a word nobody says.
    """

    term: str
    evidence: float
    counts: tuple[int, ...]
    share: float


class LanguageModel:
    """Smoothed unigram models of documents.

    Args:
        shards: The documents.
        smoothing: How counts are smoothed.
        background: What makes a term common: its share of all ``"words"``, or of all words when
            each counts once per document (``"documents"``; of the topmost level).

    Examples:
        >>> model = LanguageModel.of([["red", "cup"], ["blue", "cup"]])
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
                f"the smoothing weighs {self.smoothing.num_levels} levels, but the documents have "
                f"{least}; give fewer weights."
            )
        self.starts = np.cumsum([0, *(shard.num_documents for shard in self.shards)])
        self._shares: dict[str, float] = {}  # of terms that were asked for

    @classmethod
    def of(
        cls,
        texts: Iterable[Sequence[str]],
        smoothing: TextSmoothing | None = None,
        background: TermUnit = "words",
    ) -> Self:
        """Make the model of texts given as terms, each a document of its own."""
        return cls([Shard(Levels.flat(Postings.build(texts)))], smoothing, background)

    @property
    def num_documents(self) -> int:
        """How many documents there are."""
        return int(self.starts[-1])

    @cached_property
    def total(self) -> int:
        """What the shares of all terms add up to, in counts."""
        return sum(shard.total(self.background) for shard in self.shards)

    def share(self, term: str) -> float:
        """Return how common a term is: its share of the collection."""
        known = self._shares.get(term)
        if known is not None:
            return known
        counts = (shard.count(term, self.background) for shard in self.shards)
        share = sum(counts) / max(1, self.total)
        if len(self._shares) >= _MOST_SHARES:
            self._shares.clear()
        self._shares[term] = share
        return share

    def shares(self) -> Array:
        """Return ``(T,)`` the share of every term of a model of one whole shard."""
        collection = self.shards[0].levels.collection
        if self.background == "words":
            return collection.probabilities
        return np.diff(collection.starts) / max(1, len(collection.texts))

    def known(self, query: TextQuery) -> dict[str, float]:
        """Return the terms of a query that occur at all, with their share of the collection."""
        shares = {term: self.share(term) for term in query.weights}
        return {term: share for term, share in shares.items() if share > 0}

    def scores(self, query: TextQuery) -> tuple[Array, NDArray[np.bool_]]:
        """Score all documents.

        Returns:
            ``(N,)`` the log-likelihood of the query less what it is in an unrelated document,
            which ranks alike (6.23); and ``(N,)`` whether any term of the query occurs.
        """
        scores = np.zeros(self.num_documents)
        matched = np.zeros(self.num_documents, np.bool_)
        known = self.known(query)
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
        """Return ``(N,)`` log P(query | document) over the terms that occur at all."""
        known = self.known(query)
        weights = np.array([query.weights[term] for term in known])
        background = self.smoothing.background(np.array(list(known.values())))
        return self.scores(query)[0] + float(weights @ background)

    def search(self, query: TextQuery, top: int | None = 10) -> Ranking:
        """Return the documents with at least one term of the query, best first.

        Args:
            query: What to look for.
            top: How many at most; all if ``None``.
        """
        scores, matched = self.scores(query)
        matched[[d for d in query.exclude if d < len(matched)]] = False
        return ranked(scores, np.flatnonzero(matched), top)

    def explain(self, query: TextQuery, document: int) -> tuple[TermEvidence, ...]:
        """Say what each term of a query adds to the score of a document, strongest first."""
        place = int(np.searchsorted(self.starts, document, side="right")) - 1
        shard, row = self.shards[place], document - int(self.starts[place])
        known = self.known(query)
        found = [
            self._explained(shard, row, term, query.weights[term], known.get(term, 0.0))
            for term in query.weights
        ]
        return tuple(sorted(found, key=lambda each: -each.evidence))

    def terms_in(self, document: int, level: int = 0) -> dict[str, int]:
        """Return the terms of a document, or of what it belongs to, with their counts.

        Args:
            document: Its number.
            level: 0 for the document itself, 1 for what it belongs to, and so on.
        """
        place = int(np.searchsorted(self.starts, document, side="right")) - 1
        shard, row = self.shards[place], document - int(self.starts[place])
        inside = row if shard.rows is None else int(shard.rows[row])
        owner = int(shard.levels.owners[level][inside])
        numbers, counts = shard.levels.postings[level].text_counts(owner)
        names = shard.levels.terms.names
        return {names[n]: c for n, c in zip(numbers.tolist(), counts.tolist(), strict=True)}

    def _explained(
        self, shard: Shard, row: int, term: str, weight: float, share: float
    ) -> TermEvidence:
        levels = self.smoothing.num_levels
        number = shard.levels.terms.number(term) if share else None
        if number is None:
            return TermEvidence(term, 0.0, (0,) * levels, share)
        inside = row if shard.rows is None else int(shard.rows[row])
        counts, lengths = shard.levels.occurrence(number, inside, levels)
        if not counts.any():
            return TermEvidence(term, 0.0, (0,) * levels, share)
        evidence = self.smoothing.evidence(list(counts[:, None]), list(lengths[:, None]), share)
        held = tuple(int(count) for count in counts)
        return TermEvidence(term, weight * float(evidence[0]), held, share)

    def _evidence(self, shard: Shard, term: str, share: float) -> tuple[Ints, Array]:
        number = shard.levels.terms.number(term)
        if number is None:
            return np.zeros(0, np.int64), np.zeros(0)
        found = shard.levels.occurrences(number, self.smoothing.num_levels)
        evidence = self.smoothing.evidence(found[1], found[2], share)
        places = shard.place[found[0]]
        return (
            (places, evidence)
            if shard.rows is None
            else (places[places >= 0], evidence[places >= 0])
        )

    @cached_property
    def lengths(self) -> Ints:
        """``(N,)`` how many words are said in each document."""
        parts = [
            shard.levels.postings[0].lengths[slice(None) if shard.rows is None else shard.rows]
            for shard in self.shards
        ]
        return np.concatenate(parts) if parts else np.zeros(0, np.int64)

    @cached_property
    def _length_cost(self) -> Array | None:
        return self.smoothing.length_cost(self.lengths.astype(float))


def ranked(scores: Array, candidates: Ints, top: int | None) -> Ranking:
    """Sort candidates by score, ties by number; ``top`` of them at most."""
    values = scores[candidates]
    if top is not None and top < len(candidates):
        least = np.partition(values, len(values) - top)[len(values) - top]
        candidates = candidates[values >= least]
        values = scores[candidates]
    order = np.lexsort((candidates, -values))[:top]
    return Ranking(candidates[order], values[order])
