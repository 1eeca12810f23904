"""`LanguageModel`: the likelihood of a query under the smoothed unigram model of each document.

The documents may lie in several shards (segments of an index); the collection model always covers
all of them, so that scores do not depend on how documents are stored.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import Literal, Self

import numpy as np
from numpy.typing import NDArray

from wordsight.engine.processes import in_threads
from wordsight.errors import RetrievalError
from wordsight.inference.numba_support import numba_available
from wordsight.retrieval.documents import top_k
from wordsight.retrieval.text.analysis import TextQuery, is_pair
from wordsight.retrieval.text.levels import Levels
from wordsight.retrieval.text.postings import Postings
from wordsight.retrieval.text.smoothing import JelinekMercer, TextSmoothing

__all__ = ["PAIR_WEIGHT", "LanguageModel", "Ranking", "Shard", "TermEvidence"]

Array = NDArray[np.float64]
Ints = NDArray[np.int64]
TermUnit = Literal["words", "documents"]
_MAX_CACHED_SHARES = 10_000
_FACTORS = 16  # terms whose odds are multiplied before their logarithm is taken

COMPILED_FROM = 20_000
"""Documents of a shard from which compiled loops save more time than numba takes to import."""

PAIR_WEIGHT = 0.2
"""Weight of a pair of neighbouring words beside that of a word; chosen on Cranfield."""


@dataclass(frozen=True, eq=False)
class Shard:
    """Documents stored together.

    Attributes:
        levels: Their counts.
        rows: ``(K,)`` ascending: the documents that have not been removed; ``None`` for all.
        pairs: The pairs of neighbouring words of each document, named as by :func:`pair_name`.
    """

    levels: Levels
    rows: Ints | None = None
    pairs: Postings | None = None

    @property
    def num_documents(self) -> int:
        """The number of remaining documents."""
        return self.levels.num_documents if self.rows is None else len(self.rows)

    @cached_property
    def _live(self) -> list[NDArray[np.bool_] | None]:
        """For each level, which units have remaining documents; ``None`` for all."""
        if self.rows is None:
            return [None] * len(self.levels.postings)
        masks: list[NDArray[np.bool_] | None] = []
        for owner, level in zip(self.levels.owners, self.levels.postings, strict=True):
            live = np.zeros(level.num_texts, np.bool_)
            live[owner[self.rows]] = True
            masks.append(live)
        return masks

    def total(self, unit: TermUnit) -> int:
        """Return the number of words, or of distinct words of every text on every level."""
        if unit == "words":
            lengths, live = self.levels.collection.lengths, self._live[-1]
            return int(lengths.sum() if live is None else lengths[live].sum())
        return sum(map(_num_entries, self.levels.postings, self._live))

    def own_total(self, unit: TermUnit) -> int:
        """Return the number of words, or of distinct words, of the documents themselves."""
        if unit == "words":
            lengths = self.levels.postings[0].lengths
            return int((lengths if self.rows is None else lengths[self.rows]).sum())
        return _num_entries(self.levels.postings[0], self._live[0])

    def count(self, term: str, unit: TermUnit) -> int:
        """Return the number of occurrences of a term or pair, or of texts that contain it."""
        if unit == "words" and not is_pair(term):
            held = [(self.levels.collection, self._live[-1])]
        else:
            levels = () if is_pair(term) else self.levels.postings
            held = list(zip(levels, self._live, strict=False))
            if is_pair(term) and self.pairs is not None:
                held = [(self.pairs, self._live[0])]
        found = 0
        for postings, live in held:
            number = postings.terms.number(term)
            if number is None:
                continue
            texts, counts = postings.term_counts(number)
            if live is not None:
                texts, counts = texts[live[texts]], counts[live[texts]]
            found += int(counts.sum()) if unit == "words" else len(texts)
        return found

    @cached_property
    def neighbours(self) -> Levels:
        """The pairs of neighbouring words as a single level, of the documents' own lengths."""
        own, pairs = self.levels.postings[0], self.pairs
        if pairs is None:
            pairs = Postings.build([[]])
        held = Postings(pairs.terms, pairs.starts, pairs.texts, pairs.counts, own.lengths)
        return Levels((held,), self.levels.owners[:1])

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
            document and in the collection; 0 or, in a long document, less if it does not occur.
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
            each word counted once per text of every level (``"documents"``).

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
        self._rates: dict[tuple[int, bool], list[Array]] = {}

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
        """The denominator of collection probabilities of words."""
        return sum(shard.total(self.background) for shard in self.shards)

    @cached_property
    def own_total(self) -> int:
        """The denominator of collection probabilities of pairs."""
        return sum(shard.own_total(self.background) for shard in self.shards)

    @cached_property
    def lengths(self) -> Ints:
        """``(N,)`` the number of words of each document."""
        return self.level_lengths(1)[0].astype(np.int64)

    def level_lengths(self, num_levels: int) -> list[Array]:
        """Return for each of the lowest levels ``(N,)`` the length of each document's unit."""
        found = []
        for level in range(num_levels):
            parts = [np.zeros(0)]
            for shard in self.shards:
                owner = shard.levels.owners[level]
                owner = owner if shard.rows is None else owner[shard.rows]
                parts.append(shard.levels.postings[level].lengths[owner].astype(float))
            found.append(np.concatenate(parts))
        return found

    def share(self, term: str) -> float:
        """Return the collection probability of a term or of a pair of neighbours."""
        known = self._shares.get(term)
        if known is not None:
            return known
        counts = (shard.count(term, self.background) for shard in self.shards)
        share = sum(counts) / max(1, self.own_total if is_pair(term) else self.total)
        if len(self._shares) >= _MAX_CACHED_SHARES:
            self._shares.clear()
        self._shares[term] = share
        return share

    def shares(self) -> Array:
        """Return ``(T,)`` the collection probability of every term, for a model of one shard."""
        levels = self.shards[0].levels
        if self.background == "words":
            return levels.collection.probabilities
        counts = np.sum([np.diff(each.starts) for each in levels.postings], axis=0)
        shares: Array = counts / max(1, counts.sum())
        return shares

    def known_terms(self, query: TextQuery) -> dict[str, float]:
        """Return what counts of a query and occurs at all, with its collection probability."""
        shares = {term: self.share(term) for term in self.counted(query)}
        return {term: share for term, share in shares.items() if share > 0}

    def counted(self, query: TextQuery) -> dict[str, float]:
        """Return the weights of a query's terms, and of its neighbours where pairs are stored."""
        weights = dict(query.weights)
        if any(shard.pairs is not None for shard in self.shards):
            weights |= {pair: PAIR_WEIGHT * weight for pair, weight in query.pairs.items()}
        return weights

    def scores(self, query: TextQuery) -> tuple[Array, NDArray[np.bool_]]:
        """Score all documents.

        Returns:
            ``(N,)`` the log likelihood of the query minus that under an unrelated document, which
            ranks alike (6.23); and ``(N,)`` whether any term of the query occurs.
        """
        known, weights = self.known_terms(query), self.counted(query)
        weight_of = {term: (share, weights[term]) for term, share in known.items()}
        scores = np.empty(self.num_documents)
        matched = np.empty(self.num_documents, np.bool_)

        def fill(number: int) -> None:
            here = slice(int(self.starts[number]), int(self.starts[number + 1]))
            scores[here], matched[here] = self._shard_scores(number, weight_of)

        in_threads(fill, range(len(self.shards)))
        return scores, matched

    def _shard_scores(
        self, number: int, terms: Mapping[str, tuple[float, float]]
    ) -> tuple[Array, NDArray[np.bool_]]:
        """Score one shard by terms with their collection probabilities and weights."""
        shard = self.shards[number]
        if shard.levels.num_documents >= COMPILED_FROM and numba_available():
            scores, matched = self._compiled_scores(number, terms)
        else:
            scores = np.zeros(shard.num_documents)
            matched = np.zeros(shard.num_documents, np.bool_)
            for term, (share, weight) in terms.items():
                documents, evidence = self._evidence(shard, term, share)
                scores[documents] += weight * evidence
                matched[documents] = True
        here = slice(int(self.starts[number]), int(self.starts[number + 1]))
        for paired, cost in enumerate(self._length_costs):
            total = sum(weight for term, (_, weight) in terms.items() if is_pair(term) == paired)
            if cost is not None and total:
                scores += total * cost[here]
        return scores, matched

    def _compiled_scores(
        self, number: int, terms: Mapping[str, tuple[float, float]]
    ) -> tuple[Array, NDArray[np.bool_]]:
        """Score a large shard, whose words are often in most of its documents."""
        from wordsight.retrieval.kernels import add_counts, take_odds

        shard = self.shards[number]
        size = shard.levels.num_documents
        scores, found, matched = np.zeros(size), np.zeros(size), np.zeros(size, np.bool_)
        for weight, alike in _same_weight(terms):
            odds = np.ones(size)
            for term in alike:
                held, _ = self._held(shard, term)
                place = held.terms.number(term)
                if place is None:
                    continue
                for level, rates in enumerate(self._rates_of(number, is_pair(term))):
                    units, counts = held.postings[level].term_counts(place)
                    order, starts = held.children[level]
                    add_counts(units, counts, order, starts, rates, found, matched)
                take_odds(found, terms[term][0], odds)
            scores += weight * np.log(odds)
        return (
            (scores, matched) if shard.rows is None else (scores[shard.rows], matched[shard.rows])
        )

    def _rates_of(self, number: int, paired: bool) -> list[Array]:
        """Return the rates of the documents of a shard, for words or for pairs."""
        key = (number, paired)
        if key not in self._rates:
            shard = self.shards[number]
            levels = shard.neighbours if paired else shard.levels
            smoothing = self._own_smoothing if paired else self.smoothing
            lengths = [
                postings.lengths[owner].astype(float)
                for postings, owner in zip(levels.postings, levels.owners, strict=True)
            ]
            self._rates[key] = smoothing.rates(lengths[: smoothing.num_levels])
        return self._rates[key]

    def log_likelihoods(self, query: TextQuery) -> Array:
        """Return ``(N,)`` log P(query | document) over the known terms."""
        known, counted = self.known_terms(query), self.counted(query)
        weights = np.array([counted[term] for term in known])
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
        known = self.known_terms(query)
        terms = [
            self._explain_term(document, term, weight, known.get(term, 0.0))
            for term, weight in self.counted(query).items()
            if not is_pair(term) or term in known
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

    def _explain_term(self, document: int, term: str, weight: float, share: float) -> TermEvidence:
        shard, row = self._locate(document)
        held, smoothing = self._held(shard, term)
        levels = smoothing.num_levels
        number = held.terms.number(term) if share else None
        counts, lengths = np.zeros(levels), np.zeros(levels)
        if number is not None:
            counts, lengths = held.occurrence(number, row, levels)
        cost = self._length_costs[is_pair(term)]
        evidence = 0.0 if cost is None or not share else float(cost[document])
        if counts.any():
            found = smoothing.evidence(list(counts[:, None]), list(lengths[:, None]), share)
            evidence += float(found[0])
        return TermEvidence(term, weight * evidence, tuple(map(int, counts)), share)

    def _evidence(self, shard: Shard, term: str, share: float) -> tuple[Ints, Array]:
        held, smoothing = self._held(shard, term)
        number = held.terms.number(term)
        if number is None:
            return np.zeros(0, np.int64), np.zeros(0)
        documents, counts, lengths = held.occurrences(number, smoothing.num_levels)
        evidence = smoothing.evidence(counts, lengths, share)
        positions = shard.positions[documents]
        if shard.rows is None:
            return positions, evidence
        return positions[positions >= 0], evidence[positions >= 0]

    def _held(self, shard: Shard, term: str) -> tuple[Levels, TextSmoothing]:
        """Return the counts that a term or pair is in, and how they are smoothed."""
        if is_pair(term):
            return shard.neighbours, self._own_smoothing
        return shard.levels, self.smoothing

    @cached_property
    def _own_smoothing(self) -> TextSmoothing:
        return self.smoothing.own()

    @cached_property
    def _length_costs(self) -> tuple[Array | None, Array | None]:
        """The cost of each document's length, per word and per pair."""
        lengths = self.level_lengths(self.smoothing.num_levels)
        return self.smoothing.length_cost(lengths), self._own_smoothing.length_cost(lengths[:1])


def _same_weight(terms: Mapping[str, tuple[float, float]]) -> Iterator[tuple[float, list[str]]]:
    """Yield terms that share a logarithm: of one weight, and as few as are safe to multiply."""
    ordered = sorted(terms, key=lambda term: terms[term][1])
    for weight, group in groupby(ordered, key=lambda term: terms[term][1]):
        alike = list(group)
        for first in range(0, len(alike), _FACTORS):
            yield weight, alike[first : first + _FACTORS]


def _num_entries(postings: Postings, live: NDArray[np.bool_] | None) -> int:
    """Return the number of distinct words of every text that remains."""
    return len(postings.texts) if live is None else int(live[postings.texts].sum())
