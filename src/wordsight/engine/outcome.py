"""What comes back from work on many items: per item a result or a message, never an exception."""

from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from wordsight.engine.held import Held
from wordsight.errors import WordsightError

__all__ = ["Engine", "EngineError", "Outcome", "message_of"]

Item = TypeVar("Item")
Result = TypeVar("Result")


class EngineError(WordsightError):
    """Work that could not be started at all."""


@dataclass(frozen=True)
class Outcome(Generic[Item, Result]):
    """What became of one item.

    Attributes:
        item: The item as it was given.
        result: What the function returned; ``None`` if it failed.
        error: Why it failed, for people; ``None`` if it did not.
        crashed: Whether the process died instead of raising an exception.
    """

    item: Item
    result: Result | None = None
    error: str | None = None
    crashed: bool = False

    @property
    def ok(self) -> bool:
        """Whether there is a result."""
        return self.error is None


class Engine(Protocol):
    """Something that applies a function to items somewhere."""

    def map(
        self,
        function: Callable[[Item], Result],
        items: Iterable[Item],
        *,
        on_note: Callable[[Item, Any], None] | None = None,
        ordered: bool = False,
    ) -> Generator[Outcome[Item, Result], None, None]:
        """Yield an outcome per item as they come, in any order unless told otherwise.

        Args:
            function: What to do with one item; may call :func:`wordsight.engine.tell`.
            items: The items, taken one by one as there is room for them.
            on_note: Called with the item and what its function told.
            ordered: Whether outcomes come in the order of the items; those that are done early
                wait, and while many do no further items are taken.

        Yields:
            One outcome per item. Closing the iterator early stops the work.
        """
        ...

    def hold(self, parts: Sequence[Any]) -> Held:
        """Bring parts of a whole to where they are worked on again and again, and keep them there.

        Args:
            parts: The parts; what can be pickled.
        """
        ...


def message_of(error: BaseException) -> str:
    """Put an exception into words: our own as they are, others with the name of their class."""
    if isinstance(error, WordsightError):
        return str(error)
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
