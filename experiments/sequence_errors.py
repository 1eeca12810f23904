"""Sequences of states: exactly right once runs are made one, or how near they come."""

from collections.abc import Hashable, Sequence
from typing import TypeVar

__all__ = ["compressed", "edit_distance", "sequence_error"]

State = TypeVar("State", bound=Hashable)


def compressed(states: Sequence[State]) -> list[State]:
    """Leave out every state that equals the one before it.

    Examples:
        >>> compressed("aabbba")
        ['a', 'b', 'a']
    """
    return [s for k, s in enumerate(states) if k == 0 or s != states[k - 1]]


def sequence_error(found: Sequence[Sequence[State]], truth: Sequence[Sequence[State]]) -> float:
    """Return the share of videos whose compressed sequence of states is not exactly right.

    Args:
        found: Per video the states that were inferred, compressed or not.
        truth: Per video the true ones, likewise.

    Raises:
        ValueError: If the two are not of the same number, or there are none.
    """
    if len(found) != len(truth) or not truth:
        raise ValueError(f"{len(found)} sequences do not match {len(truth)} true ones.")
    wrong = [compressed(f) != compressed(t) for f, t in zip(found, truth, strict=True)]
    return sum(wrong) / len(wrong)


def edit_distance(found: Sequence[State], truth: Sequence[State]) -> int:
    """Return how many states must be added, left out or changed to get from one to the other.

    Examples:
        >>> edit_distance("abc", "ac")
        1
    """
    row = list(range(len(truth) + 1))
    for i, state in enumerate(found, start=1):
        before, row[0] = row[0], i
        for j, other in enumerate(truth, start=1):
            change = before + (state != other)
            before, row[j] = row[j], min(change, row[j] + 1, row[j - 1] + 1)
    return row[-1]
