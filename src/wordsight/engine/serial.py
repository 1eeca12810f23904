"""Work done here, one item after the other."""

from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import nullcontext
from functools import partial
from typing import Any, TypeVar

from wordsight.engine.held import HeldHere
from wordsight.engine.notes import listening
from wordsight.engine.outcome import Outcome, message_of

__all__ = ["Serial"]

Item = TypeVar("Item")
Part = TypeVar("Part")
Result = TypeVar("Result")


class Serial:
    """Runs everything in this process: nothing to start, easy to debug, no protection from crashes.

    Example:
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
    ) -> Generator[Outcome[Item, Result], None, None]:
        """Yield an outcome per item, always in order; see :class:`wordsight.engine.Engine`."""
        for item in items:
            with nullcontext() if on_note is None else listening(partial(on_note, item)):
                outcome = _outcome(function, item)
            yield outcome

    def hold(self, parts: Sequence[Part]) -> HeldHere[Part]:
        """Keep parts in this process; see :class:`wordsight.engine.Held`."""
        return HeldHere(parts)


def _outcome(function: Callable[[Item], Result], item: Item) -> Outcome[Item, Result]:
    try:
        return Outcome(item, function(item))
    except Exception as error:
        return Outcome(item, error=message_of(error))
