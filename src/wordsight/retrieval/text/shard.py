"""`Shard`: documents stored together, those that remain of them, and their counts."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from wordsight.retrieval.text.analysis import is_pair
from wordsight.retrieval.text.blocks import BlockedLevels
from wordsight.retrieval.text.levels import Levels
from wordsight.retrieval.text.postings import Postings
from wordsight.retrieval.text.smoothing import TextSmoothing

__all__ = ["Shard", "TermUnit"]

Ints = NDArray[np.int64]
TermUnit = Literal["words", "documents"]
_KEPT_BLOCKED = 4  # words and pairs under two smoothings


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


def _num_entries(postings: Postings, live: NDArray[np.bool_] | None) -> int:
    """Return the number of distinct words of every text that remains."""
    return len(postings.texts) if live is None else int(live[postings.texts].sum())
