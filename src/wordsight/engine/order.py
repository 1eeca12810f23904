"""Outcomes in the order of their items, without letting too many of them wait for a slow one."""

from collections.abc import Iterator
from typing import Generic, TypeVar

from wordsight.engine.outcome import Outcome

__all__ = ["WAITING_PER_WORKER", "Order"]

Item = TypeVar("Item")
Result = TypeVar("Result")

WAITING_PER_WORKER = 16
"""Items per worker that may be finished or under way while an earlier one is not done yet: few
enough to be held in memory, enough that one slow item does not make the other workers idle."""


class Order(Generic[Item, Result]):
    """Numbers items as they are taken, and lets their outcomes go in that order, if so wished.

    Args:
        ordered: Whether outcomes wait for their turn; otherwise they go at once.
        most: How many items may be taken and not gone before no more should be taken.
    """

    def __init__(self, ordered: bool, most: int) -> None:
        self._ordered, self._most = ordered, most
        self._taken, self._gone = 0, 0
        self._waiting: dict[int, Outcome[Item, Result]] = {}

    @property
    def room(self) -> bool:
        """Whether another item may be taken."""
        return not self._ordered or self._taken - self._gone < self._most

    def take(self) -> int:
        """Return the number of the item that is taken now."""
        self._taken += 1
        return self._taken - 1

    def give(self, number: int, outcome: Outcome[Item, Result]) -> Iterator[Outcome[Item, Result]]:
        """Take the outcome of an item and yield all whose turn it is now."""
        if not self._ordered:
            yield outcome
            return
        self._waiting[number] = outcome
        while self._gone in self._waiting:
            self._gone += 1
            yield self._waiting.pop(self._gone - 1)
