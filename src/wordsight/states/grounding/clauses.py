"""Ground Horn clauses as bit sets, the input of the compiled search.

A state of F facts is a set of bits in ``ceil(F / 64)`` words; a clause is the set of its body's
facts and the number of its head, or -1 for *false*.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from wordsight.errors import StateError

__all__ = ["ClauseSet", "pack_bits", "unpack_bits"]

Words = NDArray[np.uint64]


def pack_bits(values: NDArray[np.bool_]) -> Words:
    """Return truth values ``(..., F)`` as words ``(..., W)``; at least one word."""
    count = values.shape[-1]
    words = max(1, -(-count // 64))
    padded = np.zeros((*values.shape[:-1], words * 64), dtype=np.uint8)
    padded[..., :count] = values
    packed = np.packbits(padded, axis=-1, bitorder="little")
    return np.ascontiguousarray(packed).view("<u8").astype(np.uint64)


def unpack_bits(words: Words, count: int) -> NDArray[np.bool_]:
    """Return words ``(..., W)`` as truth values ``(..., count)``."""
    octets = np.ascontiguousarray(words.astype("<u8")).view(np.uint8)
    return np.unpackbits(octets, axis=-1, bitorder="little")[..., :count].astype(np.bool_)


@dataclass(frozen=True, eq=False)
class ClauseSet:
    """C distinct ground clauses over F facts.

    Attributes:
        num_facts: F.
        bodies: Per clause the numbers of the facts in its body, sorted.
        heads: ``(C,)`` number of the fact in the head, -1 for *false*.
    """

    num_facts: int
    bodies: tuple[tuple[int, ...], ...]
    heads: NDArray[np.int64]

    def __post_init__(self) -> None:
        bodies = tuple(tuple(sorted(set(body))) for body in self.bodies)
        heads = np.asarray(self.heads, dtype=np.int64)
        used = [fact for body in bodies for fact in body] + heads.tolist()
        if len(heads) != len(bodies) or any(not -1 <= f < self.num_facts for f in used):
            raise StateError(
                f"there must be as many heads as bodies, with fact numbers below {self.num_facts}; "
                f"got {len(bodies)} bodies and {len(heads)} heads."
            )
        object.__setattr__(self, "bodies", bodies)
        object.__setattr__(self, "heads", heads)

    @classmethod
    def of(cls, num_facts: int, clauses: Iterable[tuple[Sequence[int], int | None]]) -> "ClauseSet":
        """Return the set of ``(body, head)`` pairs, the head ``None`` for *false*."""
        rows = list(clauses)
        heads = np.array([-1 if head is None else head for _, head in rows], dtype=np.int64)
        return cls(num_facts, tuple(tuple(body) for body, _ in rows), heads)

    def __len__(self) -> int:
        return len(self.bodies)

    @cached_property
    def body_words(self) -> Words:
        """``(C, W)`` the bodies as bit sets."""
        table = np.zeros((len(self), self.num_facts), dtype=np.bool_)
        for row, body in enumerate(self.bodies):
            table[row, list(body)] = True
        return pack_bits(table)

    @cached_property
    def units(self) -> NDArray[np.int64]:
        """``(F, 2)`` the unit clause that asserts each fact and the one that forbids it, or -1."""
        units = np.full((max(1, self.num_facts), 2), -1, dtype=np.int64)
        for row, (body, head) in enumerate(zip(self.bodies, self.heads, strict=True)):
            if not body and head >= 0:
                units[head, 0] = row
            elif len(body) == 1 and head < 0:
                units[body[0], 1] = row
        return units

    def violated(self, states: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return ``(S, C)`` which clauses each of the states ``(S, F)`` violates."""
        out = np.zeros((len(states), len(self)), dtype=np.bool_)
        for row, (body, head) in enumerate(zip(self.bodies, self.heads, strict=True)):
            holds = states[:, list(body)].all(axis=1)
            out[:, row] = holds if head < 0 else holds & ~states[:, head]
        return out
