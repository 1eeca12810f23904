"""`Terms`: a sorted vocabulary as bytes, searched where it lies, on disk or in memory."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Self

import numpy as np
from numpy.typing import NDArray

__all__ = ["Terms"]


@dataclass(frozen=True, eq=False)
class Terms:
    """The terms of a collection in the order of their UTF-8 bytes, numbered from 0.

    Attributes:
        data: ``(B,)`` the bytes of all terms one after the other.
        offsets: ``(T + 1,)`` where each begins.

    Example:
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
