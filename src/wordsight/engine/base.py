"""What engines share: the protocols, outcomes of items, notes from running work, result order."""

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Generic, Protocol, Self, TypeVar

from wordsight.errors import WordsightError

__all__ = [
    "WAITING_PER_WORKER",
    "Engine",
    "EngineError",
    "HeldParts",
    "ItemOutcome",
    "ReorderBuffer",
    "message_of",
    "receiving_notes",
    "send_note",
]

Item = TypeVar("Item")
Result = TypeVar("Result")

WAITING_PER_WORKER = 16
"""Items per worker that may be finished or running while an earlier one is not done yet: few
enough to be held in memory, enough that one slow item does not idle the other workers."""


class EngineError(WordsightError):
    """Work that cannot be started or continued."""


@dataclass(frozen=True)
class ItemOutcome(Generic[Item, Result]):
    """The result of one item, or the reason why there is none.

    Attributes:
        item: The item as it was given.
        result: What the function returned; ``None`` if it failed.
        error: Error message for the user; ``None`` on success.
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


class HeldParts(Protocol):
    """Parts of a data set that stay with the workers. Use it in a ``with`` block.

    Learning iterates over the same clips with parameters that change a little. Each round sends
    the parameters out and collects every part's sums in the order of the parts, so that their
    total has the same digits on every engine and with any number of workers.
    """

    def map(self, function: Callable[[Any, Any], Result], argument: Any) -> list[Result]:
        """Return ``function(part, argument)`` of every part, in order.

        Args:
            function: Applied to each part; importable by name.
            argument: What the parts do not hold, such as the parameters of this round.

        Raises:
            EngineError: If a part fails although it was retried.
        """
        ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...


class Engine(Protocol):
    """Applies a function to items, here or in other processes."""

    def map(
        self,
        function: Callable[[Item], Result],
        items: Iterable[Item],
        *,
        on_note: Callable[[Item, Any], None] | None = None,
        ordered: bool = False,
    ) -> Generator[ItemOutcome[Item, Result], None, None]:
        """Yield an outcome per item as they complete; a failing item raises no exception.

        Args:
            function: Applied to each item; may call :func:`wordsight.engine.send_note`.
            items: The items, consumed as workers become free.
            on_note: Called with the item and each note its function sends.
            ordered: Whether outcomes come in the order of the items. Early outcomes then wait, and
                while many do no further items are consumed.

        Yields:
            One outcome per item. Closing the iterator early stops the work.
        """
        ...

    def hold(self, parts: Sequence[Any]) -> HeldParts:
        """Send parts of a data set to the workers and keep them there for repeated use.

        Args:
            parts: The parts; must be picklable.
        """
        ...


def message_of(error: BaseException) -> str:
    """Return the message of an exception; other classes than our own are named."""
    if isinstance(error, WordsightError):
        return str(error)
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__


_listener: ContextVar[Callable[[Any], None] | None] = ContextVar("_listener", default=None)


def send_note(note: Any) -> None:
    """Send a small picklable note, such as progress, to the caller of the running work.

    Does nothing if there is no listener. Call it from the thread the function was called in.
    """
    listener = _listener.get()
    if listener is not None:
        listener(note)


@contextmanager
def receiving_notes(listener: Callable[[Any], None]) -> Iterator[None]:
    """Pass the notes that :func:`send_note` sends inside the block to ``listener``."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


class ReorderBuffer(Generic[Item, Result]):
    """Numbers items as they are started and releases their outcomes in that order if required.

    Args:
        ordered: Whether outcomes wait for their turn; otherwise they are released at once.
        capacity: How many items may be started and not released before no more should start.
    """

    def __init__(self, ordered: bool, capacity: int) -> None:
        self._ordered, self._capacity = ordered, capacity
        self._started, self._released = 0, 0
        self._waiting: dict[int, ItemOutcome[Item, Result]] = {}

    @property
    def has_room(self) -> bool:
        """Whether another item may be started."""
        return not self._ordered or self._started - self._released < self._capacity

    def start(self) -> int:
        """Return the number of the item that starts now."""
        self._started += 1
        return self._started - 1

    def release(
        self, number: int, outcome: ItemOutcome[Item, Result]
    ) -> Iterator[ItemOutcome[Item, Result]]:
        """Add the outcome of an item and yield all outcomes whose turn it is."""
        if not self._ordered:
            yield outcome
            return
        self._waiting[number] = outcome
        while self._released in self._waiting:
            self._released += 1
            yield self._waiting.pop(self._released - 1)
