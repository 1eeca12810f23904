"""`Levels`: the counts of documents and of the larger units they belong to.

A shot belongs to a scene and a scene to a video; a text about a whole video belongs to the video
but to none of its shots. Any number of levels is possible.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import NDArray

from wordsight.errors import RetrievalError
from wordsight.retrieval.text.postings import Postings, Terms

__all__ = ["Levels"]

Ints = NDArray[np.int64]
Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Levels:
    """Term counts of N documents and of the units they belong to.

    Attributes:
        postings: The counts of each level. The first level is the documents; the last contains
            every word, and so defines the collection model.
        owners: For each level ``(N,)`` the unit each document belongs to.
    """

    postings: tuple[Postings, ...]
    owners: tuple[Ints, ...]

    def __post_init__(self) -> None:
        if len(self.postings) != len(self.owners) or not self.owners:
            raise RetrievalError("each level needs its counts and the owner of each document.")
        if any(len(owner) != self.num_documents for owner in self.owners):
            raise RetrievalError(
                f"each level must give the owners of {self.num_documents} documents, got "
                f"{[len(owner) for owner in self.owners]}."
            )

    @classmethod
    def flat(cls, postings: Postings) -> Self:
        """Create a single level: every text is a document."""
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
            pieces: Counts of M pieces of text.
            piece_owners: For each level ``(M,)`` the unit of each piece, -1 for none; on the last
                level every piece has one.
            document_owners: For each level ``(N,)`` the unit of each document; on the first level
                itself.
        """
        owners = tuple(np.asarray(owner, np.int64) for owner in document_owners)
        levels = tuple(
            pieces.grouped(of, 1 + max(int(np.max(o, initial=-1)), int(np.max(of, initial=-1))))
            for of, o in zip(piece_owners, owners, strict=True)
        )
        return cls(levels, owners)

    @property
    def num_documents(self) -> int:
        """The number of documents."""
        return len(self.owners[0])

    @property
    def terms(self) -> Terms:
        """The vocabulary, the same on every level."""
        return self.postings[0].terms

    @property
    def collection(self) -> Postings:
        """The level that contains every word."""
        return self.postings[-1]

    def occurrences(self, term: int, num_levels: int) -> tuple[Ints, list[Array], list[Array]]:
        """Find the documents in which, or in whose units, a term occurs.

        Args:
            term: Its number.
            num_levels: The number of levels to use, from the documents upwards.

        Returns:
            The ``n`` documents, ascending; and for each level ``(n,)`` the count of the term in the
            document's unit, and the length of that unit.
        """
        holders = [level.term_counts(term) for level in self.postings[:num_levels]]
        documents = holders[0][0].astype(np.int64)
        if num_levels > 1:
            above = [self._members(level, holders[level][0]) for level in range(1, num_levels)]
            documents = np.unique(np.concatenate([documents, *above]))
        counts, lengths = [], []
        for level, (texts, held) in enumerate(holders):
            owner = self.owners[level][documents]
            same = num_levels == 1
            counts.append(held.astype(float) if same else _lookup(owner, texts, held))
            lengths.append(self.postings[level].lengths[owner].astype(float))
        return documents, counts, lengths

    def occurrence(self, term: int, documents: Ints, num_levels: int) -> tuple[Array, Array]:
        """Return ``(num_levels, n)`` counts of a term in documents' units, and their lengths."""
        counts, lengths = np.zeros((2, num_levels, len(documents)))
        for level, held in enumerate(self.postings[:num_levels]):
            owner = self.owners[level][documents]
            counts[level] = _lookup(owner, *held.term_counts(term))
            lengths[level] = held.lengths[owner]
        return counts, lengths

    def _members(self, level: int, units: NDArray[np.integer]) -> Ints:
        """Return the documents that belong to some units of a level."""
        order, starts = self.children[level]
        if not len(units):
            return order[:0]
        sizes = starts[units + 1] - starts[units]
        ends = np.cumsum(sizes)
        first = np.repeat(starts[units] - ends + sizes, sizes)
        return order[first + np.arange(int(ends[-1]))]

    @cached_property
    def children(self) -> list[tuple[Ints, Ints]]:
        """For each level the documents sorted by unit, and where each unit starts."""
        children = []
        for owner, level in zip(self.owners, self.postings, strict=True):
            order = np.argsort(owner, kind="stable")
            sizes = np.bincount(owner, minlength=level.num_texts)
            starts = np.concatenate([[0], np.cumsum(sizes)])
            children.append((order, starts))
        return children


def _lookup(owner: Ints, texts: NDArray[np.integer], counts: NDArray[np.integer]) -> Array:
    """Return the count of each owner, 0 for those that are not among the ascending ``texts``."""
    if not len(texts):
        return np.zeros(len(owner))
    # In their own type: for another, all texts would be converted first.
    own = owner.astype(texts.dtype, copy=False)
    place = np.minimum(texts.searchsorted(own), len(texts) - 1)
    return np.where(texts[place] == owner, counts[place], 0).astype(float)
