"""Shared parts of engines: protocols, outcomes, notes, order of results; and the serial engine."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, TypeVar

from wordsight.closing import Closing
from wordsight.errors import WordsightError

__all__ = [
    "WAITING_PER_WORKER",
    "Engine",
    "EngineError",
    "EngineTask",
    "HeldParts",
    "ItemOutcome",
    "LocalParts",
    "ReorderBuffer",
    "Serial",
    "create_engine",
    "message_of",
    "open_engine",
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


class HeldParts(Closing):
    """Parts of a data set that stay with the workers. Use it in a ``with`` block.

    Learning iterates over the same clips with parameters that change a little. Each round sends
    the parameters out and collects every part's sums in the order of the parts, so that their
    total has the same digits on every engine and with any number of workers.
    """

    @abstractmethod
    def map(self, function: Callable[[Any, Any], Result], argument: Any) -> list[Result]:
        """Return ``function(part, argument)`` of every part, in order.

        Args:
            function: Applied to each part; importable by name.
            argument: What the parts do not hold, such as the parameters of this round.

        Raises:
            EngineError: If a part fails although it was retried.
        """


@dataclass(frozen=True)
class EngineTask(Generic[Item, Result]):
    """What an engine is asked to do; see :meth:`Engine.map`."""

    function: Callable[[Item], Result]
    items: Iterable[Item]
    on_note: Callable[[Item, Any], None] | None
    ordered: bool


class Engine(ABC):
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

        Raises:
            EngineError: If workers cannot be started or cannot import the function.
        """
        return self._run(EngineTask(function, items, on_note, ordered))

    @abstractmethod
    def _run(
        self, task: EngineTask[Item, Result]
    ) -> Generator[ItemOutcome[Item, Result], None, None]:
        """Do a task."""

    @abstractmethod
    def hold(self, parts: Sequence[Any]) -> HeldParts:
        """Send parts of a data set to the workers and keep them there for repeated use.

        Args:
            parts: The parts; must be picklable.
        """

    def stations(self) -> list[str]:
        """Return the names of workers that work can be sent to, one by one; none by default."""
        return []

    def map_at(
        self, function: Callable[[Item], Result], items: Mapping[str, Item]
    ) -> dict[str, ItemOutcome[Item, Result]]:
        """Apply a function to one item at each of some stations, and nowhere else.

        Args:
            function: Applied to each item; importable by name.
            items: An item per name of a station.

        Returns:
            An outcome per station; of one that is lost or not there, it says so (``crashed``).

        Raises:
            EngineError: If workers of this engine have no names.
        """
        raise EngineError(
            "its workers are not machines of their own; give the address of a Dask scheduler, "
            "tcp://host:8786, or dask:2."
        )


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


Part = TypeVar("Part")


class LocalParts(HeldParts, Generic[Part]):
    """Parts held in this process."""

    def __init__(self, parts: Sequence[Part]) -> None:
        self._parts = list(parts)

    def map(self, function: Callable[[Part, Any], Result], argument: Any) -> list[Result]:
        """Apply the function to one part after another."""
        return [function(part, argument) for part in self._parts]

    def close(self) -> None:
        """Drop the parts."""
        self._parts.clear()


class Serial(Engine):
    """Runs everything in this process: easy to debug, but no protection from crashes.

    Examples:
        >>> [outcome.result for outcome in Serial().map(abs, [-1, 2])]
        [1, 2]
    """

    def _run(
        self, task: EngineTask[Item, Result]
    ) -> Generator[ItemOutcome[Item, Result], None, None]:
        for item in task.items:
            note = task.on_note
            with nullcontext() if note is None else receiving_notes(partial(note, item)):
                outcome = _outcome(task.function, item)
            yield outcome

    def hold(self, parts: Sequence[Part]) -> LocalParts[Part]:
        """Keep parts in this process; see :class:`wordsight.engine.HeldParts`."""
        return LocalParts(parts)


def _outcome(function: Callable[[Item], Result], item: Item) -> ItemOutcome[Item, Result]:
    try:
        return ItemOutcome(item, function(item))
    except Exception as error:
        return ItemOutcome(item, error=message_of(error))


def create_engine(name: str | None) -> Engine:
    """Return the engine of a name.

    Args:
        name: ``serial``; ``processes`` or ``processes:4``; ``dask`` or ``dask:4`` for a cluster of
            processes of this machine; or the address of a Dask scheduler, ``tcp://host:8786``.
            ``None`` is ``serial``.

    Raises:
        EngineError: If there is none of that name, or it cannot be reached.
    """
    kind, _, rest = (name or "serial").partition(":")
    if kind in ("tcp", "tls", "ucx"):
        from wordsight.engine.cluster import Cluster

        return Cluster(name)
    count = _count(name or "", rest)
    if kind == "serial":
        return Serial()
    if kind == "processes":
        from wordsight.engine.processes import Processes

        return Processes(count)
    if kind == "dask":
        from wordsight.engine.cluster import Cluster

        return Cluster(workers=count or 2)
    raise EngineError(
        f"there is no engine {name!r}; expected serial, processes, processes:4, dask, dask:4 or "
        "the address of a Dask scheduler, tcp://host:8786."
    )


@contextmanager
def open_engine(name: str | None) -> Iterator[Engine | None]:
    """Find the engine of a name for the time of a block, and end what was started for it.

    Args:
        name: As for :func:`create_engine`; ``None`` for no engine.
    """
    engine = None if name is None else create_engine(name)
    try:
        yield engine
    finally:
        close = getattr(engine, "close", None)
        if close is not None:
            close()


def _count(name: str, rest: str) -> int | None:
    if not rest:
        return None
    if not rest.isdigit() or int(rest) < 1:
        raise EngineError(f"{name!r} must end in a number of workers, 1 or more.")
    return int(rest)
