"""`Postings`: how often every term occurs in every text, as arrays sorted by term and text.

The arrays can lie in memory or on disk; nothing here copies them.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, pairwise
from typing import Self

import numpy as np
from numpy.typing import NDArray

from wordsight.retrieval.errors import RetrievalError

__all__ = ["Postings", "Terms"]

Ints = NDArray[np.int64]
Triples = tuple[NDArray[np.integer], NDArray[np.integer], NDArray[np.integer]]


# `Terms`: a sorted vocabulary as bytes, searched where it lies, on disk or in memory.


@dataclass(frozen=True, eq=False)
class Terms:
    """The terms of a collection in the order of their UTF-8 bytes, numbered from 0.

    Attributes:
        data: ``(B,)`` the bytes of all terms one after the other.
        offsets: ``(T + 1,)`` where each begins.

    Examples:
        >>> terms = Terms.of(["cup", "bag"])
        >>> terms.number("cup"), terms.number("mug"), terms.names
        (1, None, ('bag', 'cup'))
    """

    data: NDArray[np.uint8]
    offsets: NDArray[np.int64]

    @classmethod
    def of(cls, names: Iterable[str]) -> Self:
        """Make a vocabulary of different terms in any order."""
        # Python sorts by code point, which is the order of UTF-8 bytes.
        encoded = [name.encode() for name in sorted(names)]
        offsets = np.zeros(len(encoded) + 1, np.int64)
        np.cumsum([len(name) for name in encoded], out=offsets[1:])
        return cls(np.frombuffer(b"".join(encoded), np.uint8), offsets)

    @classmethod
    def union(cls, parts: Sequence["Terms"]) -> "Terms":
        """Return the vocabulary of everything in any of the parts."""
        if len(parts) == 1:
            return parts[0]
        return cls.of(set().union(*(part.names for part in parts)))

    @cached_property
    def names(self) -> tuple[str, ...]:
        """All terms."""
        data, offsets = self.data.tobytes(), self.offsets.tolist()
        return tuple(data[start:end].decode() for start, end in pairwise(offsets))

    def name(self, number: int) -> str:
        """Return one term by its number."""
        return self._bytes(number).decode()

    def number(self, name: str) -> int | None:
        """Return the number of a term, ``None`` if it is not there."""
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
    def numbers(self) -> dict[str, int]:
        """The number of every term, for when many are asked for."""
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
        starts: ``(T + 1,)`` where the postings of each term start.
        texts: ``(P,)`` numbers of texts, rising within a term.
        counts: ``(P,)`` how often the term occurs in the text, at least once.
        lengths: ``(N,)`` number of terms in each text, repeats counted.

    Examples:
        >>> postings = Postings.build([["a", "b", "a"], ["b"]])
        >>> texts, counts = postings.of(postings.terms.number("a"))
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
        return cls(Terms.of(names), starts, owners.astype(np.int32), counts, lengths)

    @classmethod
    def from_triples(cls, terms: Terms, triples: Triples, lengths: Ints) -> Self:
        """Make postings from counts in any order, adding up those of the same term and text.

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
        """How many texts there are."""
        return len(self.lengths)

    @cached_property
    def num_words(self) -> int:
        """How many terms all texts hold together, repeats counted."""
        return int(self.lengths.sum())

    def of(self, term: int) -> tuple[NDArray[np.integer], NDArray[np.integer]]:
        """Return the texts a term occurs in, by its number, and how often it does."""
        where = slice(int(self.starts[term]), int(self.starts[term + 1]))
        return self.texts[where], self.counts[where]

    def triples(self) -> Triples:
        """Return term number, text number and count of every entry."""
        numbers = np.repeat(np.arange(len(self.terms)), np.diff(self.starts))
        return numbers, self.texts, self.counts

    @cached_property
    def probabilities(self) -> NDArray[np.float64]:
        """``(T,)`` share of each term among all words of the collection."""
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
        """Return the term numbers of one text, rising, and their counts."""
        starts, terms, counts = self.by_text
        where = slice(int(starts[text]), int(starts[text + 1]))
        return terms[where], counts[where]

    def grouped(self, group_of: NDArray[np.integer], num_groups: int) -> "Postings":
        """Return the postings of groups of texts, the words of a group's texts taken together.

        Args:
            group_of: ``(N,)`` group of each text, from 0; -1 for a text that belongs to none.
            num_groups: How many groups there are.
        """
        numbers, texts, counts = self.triples()
        groups = np.asarray(group_of, np.int64)
        kept, member = groups[texts] >= 0, groups >= 0
        lengths = np.bincount(groups[member], self.lengths[member], minlength=num_groups)
        entries = (numbers[kept], groups[texts][kept], counts[kept])
        return Postings.from_triples(self.terms, entries, lengths.astype(np.int64))

    @classmethod
    def concatenated(cls, parts: "Sequence[tuple[Postings, NDArray[np.integer]]]") -> Self:
        """Put the texts of several postings into one, those to be left out numbered -1.

        Args:
            parts: Postings, and ``(N,)`` the new number of each of its texts, or -1.
        """
        terms = Terms.union([postings.terms for postings, _ in parts])
        size = 1 + max((int(np.max(new, initial=-1)) for _, new in parts), default=-1)
        lengths = np.zeros(size, np.int64)
        found: list[Triples] = []
        for postings, new in parts:
            numbers, texts, counts = postings.triples()
            kept = np.asarray(new)[texts] >= 0
            places = terms.numbers_of(postings.terms)
            found.append((places[numbers[kept]], np.asarray(new)[texts][kept], counts[kept]))
            lengths[new[new >= 0]] = postings.lengths[new >= 0]
        return cls.from_triples(terms, _joined(found), lengths)


def _joined(found: list[Triples]) -> Triples:
    if not found:
        none = np.zeros(0, np.int32)
        return none, none, none
    numbers, texts, counts = (np.concatenate(column) for column in zip(*found, strict=True))
    return numbers, texts, counts


class _Numbering(dict[str, int]):
    """Numbers words in the order they are first asked for."""

    def __missing__(self, word: str) -> int:
        number = self[word] = len(self)
        return number
