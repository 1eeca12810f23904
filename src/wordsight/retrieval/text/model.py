"""`LanguageModel`: the likelihood of a query under the smoothed unigram model of each document.

The documents may lie in several shards (segments of an index); the collection model always covers
all of them, so that scores do not depend on how documents are stored.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import NDArray

from wordsight.engine.processes import in_threads
from wordsight.errors import RetrievalError
from wordsight.inference.numba_support import numba_available
from wordsight.retrieval.documents import kth_largest, top_k
from wordsight.retrieval.text.analysis import TextQuery, is_pair
from wordsight.retrieval.text.postings import Levels, Postings
from wordsight.retrieval.text.shard import BlockQuery, Shard, TermUnit, WeighedTerms
from wordsight.retrieval.text.smoothing import JelinekMercer, TextSmoothing

__all__ = ["PAIR_WEIGHT", "LanguageModel", "Ranking", "TermEvidence"]

Array = NDArray[np.float64]
Ints = NDArray[np.int64]
_MAX_CACHED_SHARES = 10_000
_FIRST_BLOCKS = 64  # that are scored of large shards; eight times as many in every round after
_ROUNDING = 1e-12  # relative: scores so near the last place are kept, as if tied

COMPILED_FROM = 20_000
"""Documents of a shard from which compiled loops save more time than numba takes to import."""

PAIR_WEIGHT = 0.2
"""Weight of a pair of neighbouring words beside that of a word; chosen on Cranfield."""


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
        terms = self._weighed(query)
        scores = np.empty(self.num_documents)
        matched = np.empty(self.num_documents, np.bool_)

        def fill(number: int) -> None:
            here = slice(int(self.starts[number]), int(self.starts[number + 1]))
            scores[here], matched[here] = self._shard_scores(number, terms)

        in_threads(fill, range(len(self.shards)), alone=self.num_documents < COMPILED_FROM)
        return scores, matched

    def _weighed(self, query: TextQuery) -> WeighedTerms:
        """Return the terms that occur at all, with their collection probabilities and weights."""
        weights = self.counted(query)
        return {term: (share, weights[term]) for term, share in self.known_terms(query).items()}

    def _shard_scores(self, number: int, terms: WeighedTerms) -> tuple[Array, NDArray[np.bool_]]:
        """Score all documents of a shard."""
        shard = self.shards[number]
        if _is_large(shard):
            asked = self._in_blocks(shard, terms)
            _, scores, matched = asked.score(asked.blocks)
            kept = slice(None) if shard.rows is None else shard.rows
            return scores[kept], matched[kept]
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

    def _in_blocks(self, shard: Shard, terms: WeighedTerms) -> BlockQuery:
        words = shard.blocked(self.smoothing, paired=False)
        return BlockQuery(words, shard.blocked(self._own_smoothing, paired=True), terms)

    def best(
        self, query: TextQuery, top: int | None, exclude: Iterable[int] = ()
    ) -> tuple[Ints, Array]:
        """Return the documents that may be among the best, and their scores.

        They are those whose score is at least that of the last place, so that a caller can order
        what is tied; of the blocks of large shards only those are scored that may have one.

        Args:
            query: The query.
            top: Number of places; all documents with a term of the query if ``None``.
            exclude: Documents to leave out.
        """
        terms = self._weighed(query)
        best = _Best(self.num_documents if top is None else max(1, top), exclude)
        large = [number for number, shard in enumerate(self.shards) if _is_large(shard)]
        for number in sorted(set(range(len(self.shards))) - set(large)):
            scores, matched = self._shard_scores(number, terms)
            best.add(int(self.starts[number]) + np.flatnonzero(matched), scores[matched])
        asked = [self._in_blocks(self.shards[number], terms) for number in large]
        parts = in_threads(BlockQuery.bounds, asked)
        bounds = np.concatenate([np.zeros(0), *parts])
        starts = np.cumsum([0, *map(len, parts)])
        size = _FIRST_BLOCKS
        while len(blocks := np.flatnonzero((bounds >= best.least) & (bounds > -np.inf))):
            if len(blocks) > size:
                blocks = np.sort(blocks[np.argpartition(-bounds[blocks], size)[:size]])
            bounds[blocks] = -np.inf
            size *= 8
            cuts = np.searchsorted(blocks, starts)
            for place, number in enumerate(large):
                here = blocks[cuts[place] : cuts[place + 1]] - starts[place]
                rows, scores, matched = asked[place].score(here)
                positions = self.shards[number].positions[rows]
                matched &= positions >= 0
                best.add(int(self.starts[number]) + positions[matched], scores[matched])
        return best.documents, best.scores

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
        documents, scores = self.best(query, top, query.exclude)
        in_order = np.argsort(documents)
        documents, scores = documents[in_order], scores[in_order]
        order = top_k(scores, max(1, len(scores)) if top is None else top)
        return Ranking(documents[order], scores[order])

    def explain(self, query: TextQuery, documents: Sequence[int]) -> list[tuple[TermEvidence, ...]]:
        """Return per document what each query term adds to its score, strongest first."""
        known = self.known_terms(query)
        by_term = [
            self._explain_term(np.asarray(documents, np.int64), term, weight, known.get(term, 0.0))
            for term, weight in self.counted(query).items()
            if not is_pair(term) or term in known
        ]
        each = zip(*by_term, strict=True) if by_term else [()] * len(documents)
        return [tuple(sorted(terms, key=lambda one: -one.evidence)) for terms in each]

    def terms_in(self, document: int, level: int = 0) -> dict[str, int]:
        """Return the terms of a document, or of its unit on a higher level, with their counts."""
        place = int(np.searchsorted(self.starts, document, side="right")) - 1
        shard = self.shards[place]
        row = shard.row(document - int(self.starts[place]))
        owner = int(shard.levels.owners[level][row])
        numbers, counts = shard.levels.postings[level].text_counts(owner)
        names = shard.levels.terms.names
        return {names[n]: c for n, c in zip(numbers.tolist(), counts.tolist(), strict=True)}

    def _explain_term(
        self, documents: Ints, term: str, weight: float, share: float
    ) -> list[TermEvidence]:
        smoothing = self._own_smoothing if is_pair(term) else self.smoothing
        counts, lengths = np.zeros((2, smoothing.num_levels, len(documents)))
        places = np.searchsorted(self.starts, documents, side="right") - 1
        for place in np.unique(places).tolist() if share else ():
            held, _ = self._held(self.shards[place], term)
            number = held.terms.number(term)
            if number is not None:
                at = np.flatnonzero(places == place)
                rows = self.shards[place].row(documents[at] - int(self.starts[place]))
                counts[:, at], lengths[:, at] = held.occurrence(number, rows, len(counts))
        cost, there = self._length_costs[is_pair(term)], counts.any(axis=0)
        evidence = np.zeros(len(documents)) if cost is None or not share else cost[documents]
        if there.any():
            evidence[there] += smoothing.evidence(
                list(counts[:, there]), list(lengths[:, there]), share
            )
        return [
            TermEvidence(term, weight * value, tuple(map(int, held)), share)
            for value, held in zip(evidence.tolist(), counts.T.tolist(), strict=True)
        ]

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


class _Best:
    """The best documents found so far.

    Args:
        most: How many are wanted, without those that tie with the last.
        exclude: Documents that do not count.
    """

    def __init__(self, most: int, exclude: Iterable[int]) -> None:
        self.documents, self.scores = np.zeros(0, np.int64), np.zeros(0)
        self.least = -np.inf
        self._most, self._exclude = most, np.array(sorted(exclude), np.int64)

    def add(self, documents: Ints, scores: Array) -> None:
        """Keep those of some documents that may be among the best of all."""
        kept = scores >= self.least
        if len(self._exclude):
            kept &= ~np.isin(documents, self._exclude)
        self.documents = np.concatenate([self.documents, documents[kept]])
        self.scores = np.concatenate([self.scores, scores[kept]])
        if len(self.scores) > self._most:
            last = kth_largest(self.scores, self._most)
            self.least = last - _ROUNDING * (1.0 + abs(last))
            kept = self.scores >= self.least
            self.documents, self.scores = self.documents[kept], self.scores[kept]


def _is_large(shard: Shard) -> bool:
    return shard.levels.num_documents >= COMPILED_FROM and numba_available()
