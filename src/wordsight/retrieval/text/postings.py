"""Counts of words: `Terms`, a sorted vocabulary, `Postings` of every text, and `Levels` of units.

Both are plain arrays, in memory or memory-mapped; nothing here copies them.

A shot belongs to a scene and a scene to a video; a text about a whole video belongs to the video
but to none of its shots. Any number of levels is possible.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, pairwise
from typing import Self

import numpy as np
from numpy.typing import NDArray

from wordsight.errors import RetrievalError
from wordsight.retrieval.documents import pack_strings

__all__ = ["Levels", "Postings", "Terms"]

Ints = NDArray[np.int64]
_MOST_LOOKED_UP = 1000
Triples = tuple[NDArray[np.integer], NDArray[np.integer], NDArray[np.integer]]

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Terms:
    """A vocabulary sorted by UTF-8 bytes, numbered from 0.

    Attributes:
        data: ``(B,)`` the concatenated bytes of all terms.
        offsets: ``(T + 1,)`` the start of each term.

    Examples:
        >>> terms = Terms.from_names(["cup", "bag"])
        >>> terms.number("cup"), terms.number("mug"), terms.names
        (1, None, ('bag', 'cup'))
    """

    data: NDArray[np.uint8]
    offsets: NDArray[np.int64]

    @classmethod
    def from_names(cls, names: Iterable[str]) -> Self:
        """Create a vocabulary from distinct terms in any order."""
        # Python sorts by code point, which is the order of UTF-8 bytes.
        return cls(*pack_strings(sorted(names)))

    @classmethod
    def union(cls, parts: Sequence["Terms"]) -> "Terms":
        """Return the union of vocabularies."""
        if len(parts) == 1:
            return parts[0]
        return cls.from_names(set().union(*(part.names for part in parts)))

    @cached_property
    def names(self) -> tuple[str, ...]:
        """All terms."""
        data, offsets = self.data.tobytes(), self.offsets.tolist()
        return tuple(data[start:end].decode() for start, end in pairwise(offsets))

    def number(self, name: str) -> int | None:
        """Return the number of a term, ``None`` if it is missing, by binary search."""
        known = self._looked_up
        number = known.get(name, -1)
        if number == -1:
            if len(known) >= _MOST_LOOKED_UP:
                known.clear()
            number = known[name] = self._search(name)
        return number

    def _search(self, name: str) -> int | None:
        wanted = name.encode("utf-8", "replace")
        low, high = 0, len(self)
        while low < high:
            middle = (low + high) // 2
            if self._bytes(middle) < wanted:
                low = middle + 1
            else:
                high = middle
        return low if low < len(self) and self._bytes(low) == wanted else None

    @cached_property
    def _looked_up(self) -> dict[str, int | None]:
        """The last look-ups: a search asks for the same term for every hit."""
        return {}

    @cached_property
    def numbers(self) -> dict[str, int]:
        """The number of every term, for many look-ups."""
        return {name: number for number, name in enumerate(self.names)}

    def numbers_of(self, other: "Terms") -> NDArray[np.int64]:
        """Return the number here of each term of a vocabulary that this one contains."""
        if other is self:
            return np.arange(len(self))
        numbers = self.numbers
        return np.fromiter((numbers[name] for name in other.names), np.int64, len(other))

    def _bytes(self, number: int) -> bytes:
        return self.data[int(self.offsets[number]) : int(self.offsets[number + 1])].tobytes()

    def __len__(self) -> int:
        return len(self.offsets) - 1


@dataclass(frozen=True, eq=False)
class Postings:
    """Counts of T terms in N texts.

    Attributes:
        terms: The vocabulary.
        starts: ``(T + 1,)`` where the entries of each term start.
        texts: ``(P,)`` text numbers, ascending within a term.
        counts: ``(P,)`` occurrences of the term in the text, at least 1.
        lengths: ``(N,)`` number of terms in each text, with repetitions.

    Examples:
        >>> postings = Postings.build([["a", "b", "a"], ["b"]])
        >>> texts, counts = postings.term_counts(postings.terms.number("a"))
        >>> texts.tolist(), counts.tolist(), postings.probabilities.tolist()
        ([0], [2], [0.5, 0.5])
    """

    terms: Terms
    starts: Ints
    texts: NDArray[np.integer]
    counts: NDArray[np.integer]
    lengths: Ints

    def __post_init__(self) -> None:
        starts = self.starts
        if len(starts) != len(self.terms) + 1 or starts[-1] != len(self.texts):
            raise RetrievalError(
                f"postings of {len(self.terms)} terms and {len(self.texts)} entries do not fit "
                f"starts of shape {starts.shape}; the index is damaged, build it again."
            )

    @classmethod
    def build(cls, texts: Iterable[Sequence[str]]) -> Self:
        """Count the terms of texts.

        Args:
            texts: The terms of each text in any order; a text may be empty.
        """
        given = list(texts)
        lengths = np.fromiter(map(len, given), np.int64, len(given))
        total = int(lengths.sum())
        # One look-up per word, in C: a new term takes the next number.
        numbering = _Numbering()
        ids = np.fromiter(map(numbering.__getitem__, chain.from_iterable(given)), np.int64, total)
        names = sorted(numbering)
        rank = np.empty(len(names), np.int64)
        rank[[numbering[name] for name in names]] = np.arange(len(names))
        # Sorting one number per word brings equal (term, text) pairs together.
        size = max(1, len(lengths))
        keys = rank[ids] * size + np.repeat(np.arange(len(lengths)), lengths)
        keys.sort()
        first = np.flatnonzero(np.diff(keys, prepend=-1))
        counts = np.diff(first, append=len(keys)).astype(np.int32)
        terms, owners = np.divmod(keys[first], size)
        starts = np.searchsorted(terms, np.arange(len(names) + 1))
        return cls(Terms.from_names(names), starts, owners.astype(np.int32), counts, lengths)

    @classmethod
    def from_triples(cls, terms: Terms, triples: Triples, lengths: Ints) -> Self:
        """Create postings from counts in any order, summing those of the same term and text.

        Args:
            terms: The vocabulary.
            triples: Term number, text number and count of each entry, three arrays ``(E,)``.
            lengths: ``(N,)`` number of words in each text.
        """
        numbers, texts, counts = triples
        size = max(1, len(lengths))
        # One number per entry sorts faster than two.
        keys = np.asarray(numbers, np.int64) * size + texts
        order = np.argsort(keys, kind="stable")
        keys = keys[order]
        first = np.flatnonzero(np.diff(keys, prepend=-1))
        totals = (
            np.add.reduceat(np.asarray(counts, np.int32)[order], first) if len(first) else counts
        )
        number, owner = np.divmod(keys[first], size)
        starts = np.searchsorted(number, np.arange(len(terms) + 1))
        return cls(terms, starts, owner.astype(np.int32), totals, np.asarray(lengths, np.int64))

    @property
    def num_texts(self) -> int:
        """The number of texts."""
        return len(self.lengths)

    @cached_property
    def num_words(self) -> int:
        """The number of words of all texts, with repetitions."""
        return int(self.lengths.sum())

    def term_counts(self, term: int) -> tuple[NDArray[np.integer], NDArray[np.integer]]:
        """Return the texts in which a term occurs, ascending, and its counts."""
        where = slice(int(self.starts[term]), int(self.starts[term + 1]))
        return self.texts[where], self.counts[where]

    def triples(self) -> Triples:
        """Return term number, text number and count of every entry."""
        numbers = np.repeat(np.arange(len(self.terms)), np.diff(self.starts))
        return numbers, self.texts, self.counts

    @cached_property
    def probabilities(self) -> NDArray[np.float64]:
        """``(T,)`` relative frequency of each term in the collection."""
        totals = np.concatenate([[0], np.cumsum(self.counts, dtype=np.int64)])
        return np.diff(totals[self.starts]) / max(1, self.num_words)

    @cached_property
    def by_text(self) -> tuple[Ints, NDArray[np.int64], NDArray[np.integer]]:
        """The same counts sorted by text: starts ``(N + 1,)``, term numbers and counts ``(P,)``."""
        numbers, texts, counts = self.triples()
        order = np.argsort(texts, kind="stable")
        starts = np.searchsorted(texts[order], np.arange(self.num_texts + 1))
        return starts, numbers[order].astype(np.int64), counts[order]

    def text_counts(self, text: int) -> tuple[NDArray[np.int64], NDArray[np.integer]]:
        """Return the term numbers of one text, ascending, and their counts."""
        starts, terms, counts = self.by_text
        where = slice(int(starts[text]), int(starts[text + 1]))
        return terms[where], counts[where]

    def grouped(self, group_of: NDArray[np.integer], num_groups: int) -> "Postings":
        """Return the postings of groups of texts.

        Args:
            group_of: ``(N,)`` group of each text, from 0; -1 for a text without a group.
            num_groups: The number of groups.
        """
        numbers, texts, counts = self.triples()
        groups = np.asarray(group_of, np.int64)
        kept, member = groups[texts] >= 0, groups >= 0
        lengths = np.bincount(groups[member], self.lengths[member], minlength=num_groups)
        entries = (numbers[kept], groups[texts][kept], counts[kept])
        return Postings.from_triples(self.terms, entries, lengths.astype(np.int64))

    @classmethod
    def concatenated(cls, parts: "Sequence[tuple[Postings, NDArray[np.integer]]]") -> Self:
        """Merge the texts of several postings.

        Args:
            parts: Postings, and ``(N,)`` the new number of each of its texts, -1 to omit it.
        """
        terms = Terms.union([postings.terms for postings, _ in parts])
        size = 1 + max((int(np.max(new, initial=-1)) for _, new in parts), default=-1)
        lengths = np.zeros(size, np.int64)
        none = np.zeros(0, np.int32)
        triples: list[Triples] = [] if parts else [(none, none, none)]
        for postings, new in parts:
            numbers, texts, counts = postings.triples()
            kept = np.asarray(new)[texts] >= 0
            places = terms.numbers_of(postings.terms)
            triples.append((places[numbers[kept]], np.asarray(new)[texts][kept], counts[kept]))
            lengths[new[new >= 0]] = postings.lengths[new >= 0]
        numbers, texts, counts = (np.concatenate(column) for column in zip(*triples, strict=True))
        return cls.from_triples(terms, (numbers, texts, counts), lengths)


class _Numbering(dict[str, int]):
    """Numbers words in the order of their first look-up."""

    def __missing__(self, word: str) -> int:
        number = self[word] = len(self)
        return number


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
