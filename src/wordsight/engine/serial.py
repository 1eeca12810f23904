"""Work done in this process, one item after another."""

from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import nullcontext
from functools import partial
from typing import Any, Generic, TypeVar

from wordsight.closing import Closing
from wordsight.engine.base import ItemOutcome, message_of, receiving_notes

__all__ = ["LocalParts", "Serial"]

Item = TypeVar("Item")
Part = TypeVar("Part")
Result = TypeVar("Result")


class LocalParts(Closing, Generic[Part]):
    """Parts held in this process."""

    def __init__(self, parts: Sequence[Part]) -> None:
        self._parts = list(parts)

    def map(self, function: Callable[[Part, Any], Result], argument: Any) -> list[Result]:
        """Apply the function to one part after another."""
        return [function(part, argument) for part in self._parts]

    def close(self) -> None:
        """Drop the parts."""
        self._parts.clear()


class Serial:
    """Runs everything in this process: easy to debug, but no protection from crashes.

    Examples:
        >>> [outcome.result for outcome in Serial().map(abs, [-1, 2])]
        [1, 2]
    """

    def map(
        self,
        function: Callable[[Item], Result],
        items: Iterable[Item],
        *,
        on_note: Callable[[Item, Any], None] | None = None,
        ordered: bool = False,
    ) -> Generator[ItemOutcome[Item, Result], None, None]:
        """Yield an outcome per item, always in order; see :class:`wordsight.engine.Engine`."""
        for item in items:
            with nullcontext() if on_note is None else receiving_notes(partial(on_note, item)):
                outcome = _outcome(function, item)
            yield outcome

    def hold(self, parts: Sequence[Part]) -> LocalParts[Part]:
        """Keep parts in this process; see :class:`wordsight.engine.HeldParts`."""
        return LocalParts(parts)


def _outcome(function: Callable[[Item], Result], item: Item) -> ItemOutcome[Item, Result]:
    try:
        return ItemOutcome(item, function(item))
    except Exception as error:
        return ItemOutcome(item, error=message_of(error))
