"""`Shard`: documents stored together and their counts; large ones are scored in blocks.

A block is a few documents stored side by side. How often a word occurs at most in a document of
the block, in their scenes and in their videos bounds what any of them can score. Blocks are scored
from the highest bound downwards, until the best documents found are above all bounds that are left:
the answer is that of scoring everything.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from wordsight.retrieval.text.analysis import is_pair
from wordsight.retrieval.text.postings import Levels, Postings
from wordsight.retrieval.text.smoothing import TextSmoothing

__all__ = ["BlockQuery", "BlockedLevels", "Shard", "TermUnit", "WeighedTerms"]

Array = NDArray[np.float64]
Ints = NDArray[np.int64]
WeighedTerms = Mapping[str, tuple[float, float]]
"""The collection probability and the weight of each term."""

BLOCK = 32
"""Documents of a block: of 16, 32 and 64, what searched a million fastest."""

_FACTORS = 16  # terms whose odds are multiplied before their logarithm is taken
_SLACK = 1e-9  # what rounding may take from a bound, and more

TermUnit = Literal["words", "documents"]
_KEPT_BLOCKED = 4  # words and pairs under two smoothings


class BlockedLevels:
    """Documents in blocks, with what their lengths allow a word to count.

    Args:
        levels: The counts of words, or of pairs of neighbours.
        smoothing: How they are smoothed.
    """

    def __init__(self, levels: Levels, smoothing: TextSmoothing) -> None:
        self.levels, self.smoothing = levels, smoothing
        lengths = [
            postings.lengths[owner].astype(float)
            for postings, owner in zip(levels.postings, levels.owners, strict=True)
        ][: smoothing.num_levels]
        self.rates = smoothing.rates(lengths)
        self.costs = smoothing.length_cost(lengths)
        first = np.arange(0, levels.num_documents, BLOCK)
        self.num_blocks = len(first)
        self.most_rates = [np.maximum.reduceat(rate, first) for rate in self.rates]
        self.most_costs = None if self.costs is None else np.maximum.reduceat(self.costs, first)
        self._members = [_units_of_blocks(owner) for owner in levels.owners[1 : len(lengths)]]

    def occurrences(self, term: str, share: float) -> "_Occurrences | None":
        """Return where a term of some collection probability occurs; None if nowhere."""
        place = self.levels.terms.number(term)
        if place is None:
            return None
        texts, counts = self.levels.postings[0].term_counts(place)
        above = []
        for postings in self.levels.postings[1 : len(self.rates)]:
            units, numbers = postings.term_counts(place)
            every = np.zeros(postings.num_texts, np.int32)
            every[units] = numbers
            above.append(every)
        return _Occurrences(self, share, texts, counts, above)

    def most_above(self, above: list[NDArray[np.int32]]) -> list[NDArray[np.int32]]:
        """Return for each level above ``(B,)`` the largest count in a unit of each block."""
        from wordsight.retrieval.kernels import most_of_units

        found = []
        for every, (units, first) in zip(above, self._members, strict=True):
            most = np.empty(self.num_blocks, np.int32)
            most_of_units(every, units, first, most)
            found.append(most)
        return found


@dataclass(frozen=True, eq=False)
class _Occurrences:
    """Where a term occurs.

    Attributes:
        side: The documents.
        share: Its collection probability.
        texts: ``(P,)`` the documents with it, ascending.
        counts: ``(P,)`` how often.
        above: For each level above ``(U,)`` how often it occurs in every unit.
    """

    side: BlockedLevels
    share: float
    texts: NDArray[np.integer]
    counts: NDArray[np.integer]
    above: list[NDArray[np.int32]]

    def bound(self) -> tuple[Array, NDArray[np.bool_]]:
        """Return ``(B,)`` the largest odds in each block, and whether it may occur there."""
        from wordsight.retrieval.kernels import most_of_blocks

        most = np.zeros(self.side.num_blocks, np.int32)
        most_of_blocks(self.texts, self.counts, BLOCK, most)
        found, present = np.zeros(len(most)), np.zeros(len(most), np.bool_)
        # In the order in which documents are scored, so that rounding cannot lower a bound.
        for rates, counts in zip(
            self.side.most_rates, [most, *self.side.most_above(self.above)], strict=True
        ):
            found += rates * counts
            present |= counts > 0
        return 1.0 + found * (1.0 / self.share), present

    def multiply(self, blocks: Ints, found: Array, matched: NDArray[np.bool_], odds: Array) -> None:
        """Multiply the odds of the documents of some blocks, ascending, by those of the term."""
        from wordsight.retrieval.kernels import add_counts, add_unit_counts, take_odds

        own, *rates = self.side.rates
        add_counts(self.texts, self.counts, blocks, BLOCK, own, found, matched)
        for rate, every, owner in zip(rates, self.above, self.side.levels.owners[1:], strict=False):
            add_unit_counts(every, owner, blocks, BLOCK, rate, found, matched)
        take_odds(found, self.share, odds)


class BlockQuery:
    """The terms of a query in a large shard.

    Args:
        words: The documents of the shard with their words.
        pairs: The same with their pairs of neighbours.
        terms: The terms and pairs asked for.
    """

    def __init__(self, words: BlockedLevels, pairs: BlockedLevels, terms: WeighedTerms) -> None:
        self._sides = (words, pairs)
        self._totals = tuple(
            sum(weight for term, (_, weight) in terms.items() if is_pair(term) == paired)
            for paired in (False, True)
        )
        self._terms = [
            (
                weight,
                [
                    occurrences
                    for term in alike
                    if (occurrences := self._sides[is_pair(term)].occurrences(term, terms[term][0]))
                ],
            )
            for weight, alike in _same_weight(terms)
        ]

    @property
    def blocks(self) -> Ints:
        """``(B,)`` the numbers of all blocks."""
        return np.arange(self._sides[0].num_blocks)

    def bounds(self) -> Array:
        """Return ``(B,)`` what no document of a block exceeds; -inf where no term occurs."""
        number = self._sides[0].num_blocks
        bounds, matched = np.zeros(number), np.zeros(number, np.bool_)
        for weight, alike in self._terms:
            odds = np.ones(number)
            for term in alike:
                most, present = term.bound()
                odds *= most
                matched |= present
            bounds += weight * np.log(odds)
        for side, total in zip(self._sides, self._totals, strict=True):
            if side.most_costs is not None and total:
                bounds += total * side.most_costs
        bounds += _SLACK * (1.0 + np.abs(bounds))
        bounds[~matched] = -np.inf
        return bounds

    def score(self, blocks: Ints) -> tuple[Ints, Array, NDArray[np.bool_]]:
        """Score the documents of some blocks.

        Args:
            blocks: ``(b,)`` their numbers, ascending.

        Returns:
            ``(n,)`` the rows of the documents, their scores, and whether any term occurs in them.
        """
        documents = self._sides[0].levels.num_documents
        rows = (blocks[:, None] * BLOCK + np.arange(BLOCK)).ravel()
        rows = rows[: np.searchsorted(rows, documents)]  # the last block may be shorter
        scores, found, matched = (np.zeros(len(rows), kind) for kind in (float, float, np.bool_))
        for weight, alike in self._terms:
            odds = np.ones(len(rows))
            for term in alike:
                term.multiply(blocks, found, matched, odds)
            scores += weight * np.log(odds)
        for side, total in zip(self._sides, self._totals, strict=True):
            if side.costs is not None and total:
                scores += total * side.costs[rows]
        return rows, scores, matched


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
    _blocked: dict[tuple[TextSmoothing, bool], BlockedLevels] = field(
        default_factory=dict, init=False, repr=False
    )

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

    def blocked(self, smoothing: TextSmoothing, paired: bool) -> BlockedLevels:
        """Return the words, or the pairs, in blocks; those of a few smoothings are kept."""
        known = self._blocked.get((smoothing, paired))
        if known is None:
            if len(self._blocked) >= _KEPT_BLOCKED:
                self._blocked.clear()
            known = BlockedLevels(self.neighbours if paired else self.levels, smoothing)
            self._blocked[smoothing, paired] = known
        return known

    def row(self, position: Any) -> Any:
        """Return the row of a remaining document, or the rows of some."""
        return position if self.rows is None else self.rows[position]


def _units_of_blocks(owner: Ints) -> tuple[Ints, Ints]:
    """Return the units of the documents of all blocks, and where each block starts, and the end."""
    blocks = np.arange(len(owner)) // BLOCK
    size = 1 + int(owner.max())
    pairs = np.unique(blocks * size + owner)
    return pairs % size, np.searchsorted(pairs // size, np.arange(blocks[-1] + 2))


def _same_weight(terms: WeighedTerms) -> Iterator[tuple[float, list[str]]]:
    """Yield terms that share a logarithm: of one weight, and as few as are safe to multiply."""
    ordered = sorted(terms, key=lambda term: terms[term][1])
    for weight, group in groupby(ordered, key=lambda term: terms[term][1]):
        alike = list(group)
        for first in range(0, len(alike), _FACTORS):
            yield weight, alike[first : first + _FACTORS]


def _num_entries(postings: Postings, live: NDArray[np.bool_] | None) -> int:
    """Return the number of distinct words of every text that remains."""
    return len(postings.texts) if live is None else int(live[postings.texts].sum())
