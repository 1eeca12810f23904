"""`Levels`: documents with the larger things they belong to, each with its own counts.

A shot belongs to a scene, a scene to a video; what is said of a whole video belongs to none of its
shots but to the video. Any number of levels is possible.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import NDArray

from wordsight.retrieval.errors import RetrievalError
from wordsight.retrieval.text.postings import Postings, Terms

__all__ = ["Levels"]

Ints = NDArray[np.int64]
Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Levels:
    """Counts of terms in N documents and in what they belong to.

    Attributes:
        postings: For each level its counts. The first level is the documents themselves; the last
            holds every word there is, and so makes the collection model.
        owners: For each level ``(N,)`` which of its members each document belongs to.
    """

    postings: tuple[Postings, ...]
    owners: tuple[Ints, ...]

    def __post_init__(self) -> None:
        if len(self.postings) != len(self.owners) or not self.owners:
            raise RetrievalError("each level needs its counts and the owner of each document.")
        if any(len(owner) != self.num_documents for owner in self.owners):
            raise RetrievalError(
                f"each level must say for {self.num_documents} documents what they belong to, got "
                f"{[len(owner) for owner in self.owners]}."
            )

    @classmethod
    def flat(cls, postings: Postings) -> Self:
        """Take every text as a document that belongs to nothing but the collection."""
        return cls((postings,), (np.arange(postings.num_texts),))

    @classmethod
    def build(
        cls,
        pieces: Postings,
        piece_owners: Sequence[NDArray[np.integer]],
        document_owners: Sequence[NDArray[np.integer]],
    ) -> Self:
        """Count the words of every level from pieces of text.

        Args:
            pieces: Counts in M pieces of text.
            piece_owners: For each level ``(M,)`` which member a piece is said of, -1 for none; on
                the last level every piece is said of something.
            document_owners: For each level ``(N,)`` which member each document belongs to; on the
                first level itself.
        """
        owners = tuple(np.asarray(owner, np.int64) for owner in document_owners)
        levels = tuple(
            pieces.grouped(of, 1 + max(int(np.max(o, initial=-1)), int(np.max(of, initial=-1))))
            for of, o in zip(piece_owners, owners, strict=True)
        )
        return cls(levels, owners)

    @property
    def num_documents(self) -> int:
        """How many documents there are."""
        return len(self.owners[0])

    @property
    def terms(self) -> Terms:
        """The vocabulary, the same on every level."""
        return self.postings[0].terms

    @property
    def collection(self) -> Postings:
        """The level that holds every word."""
        return self.postings[-1]

    def occurrences(self, term: int, num_levels: int) -> tuple[Ints, list[Array], list[Array]]:
        """Find the documents a term may have come from.

        Args:
            term: Its number.
            num_levels: How many levels to look at, from the documents upwards.

        Returns:
            The ``n`` documents, rising; and for each level ``(n,)`` the term's count in what the
            document belongs to, and how many words that holds.
        """
        holders = [level.of(term) for level in self.postings[:num_levels]]
        documents = holders[0][0].astype(np.int64)
        if num_levels > 1:
            above = [self._members(level, holders[level][0]) for level in range(1, num_levels)]
            documents = np.unique(np.concatenate([documents, *above]))
        counts, lengths = [], []
        for level, (texts, held) in enumerate(holders):
            owner = self.owners[level][documents]
            same = num_levels == 1
            counts.append(held.astype(float) if same else _looked_up(owner, texts, held))
            lengths.append(self.postings[level].lengths[owner].astype(float))
        return documents, counts, lengths

    def occurrence(self, term: int, document: int, num_levels: int) -> tuple[Array, Array]:
        """Find how often a term occurs in one document and in what it belongs to.

        Args:
            term: Its number.
            document: The document.
            num_levels: How many levels to look at, from the documents upwards.

        Returns:
            ``(num_levels,)`` counts, and ``(num_levels,)`` how many words each level holds.
        """
        counts, lengths = np.zeros(num_levels), np.zeros(num_levels)
        for level, held in enumerate(self.postings[:num_levels]):
            owner = int(self.owners[level][document])
            texts, numbers = held.of(term)
            place = int(np.searchsorted(texts, owner))
            if place < len(texts) and int(texts[place]) == owner:
                counts[level] = numbers[place]
            lengths[level] = held.lengths[owner]
        return counts, lengths

    def _members(self, level: int, holders: NDArray[np.integer]) -> Ints:
        """Return the documents that belong to any of some members of a level."""
        order, starts = self._children[level]
        if not len(holders):
            return order[:0]
        sizes = starts[holders + 1] - starts[holders]
        ends = np.cumsum(sizes)
        first = np.repeat(starts[holders] - ends + sizes, sizes)
        return order[first + np.arange(int(ends[-1]))]

    @cached_property
    def _children(self) -> list[tuple[Ints, Ints]]:
        found = []
        for owner, level in zip(self.owners, self.postings, strict=True):
            order = np.argsort(owner, kind="stable")
            starts = np.searchsorted(owner[order], np.arange(level.num_texts + 1))
            found.append((order, starts))
        return found


def _looked_up(owner: Ints, texts: NDArray[np.integer], counts: NDArray[np.integer]) -> Array:
    """Return the count of each owner, 0 for those that are not among the rising ``texts``."""
    if not len(texts):
        return np.zeros(len(owner))
    place = np.minimum(np.searchsorted(texts, owner), len(texts) - 1)
    return np.where(texts[place] == owner, counts[place], 0).astype(float)
