"""Work done in worker processes of this machine, safe from items that crash them.

Each worker is a fresh interpreter that has one item at a time, so that the item that killed it is
known and every other goes on. The main program is not imported there, so scripts and notebooks
need no ``if __name__ == "__main__"``; the function must come from a module that can be imported.
"""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, Pipe, wait
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from wordsight.engine.base import WAITING_PER_WORKER, EngineError, ItemOutcome, ReorderBuffer
from wordsight.engine.worker import DONE, FAILED, NOTE, READY, UNUSABLE
from wordsight.interrupts import interrupts_held_back

if TYPE_CHECKING:
    from wordsight.engine.process_parts import ProcessParts

__all__ = ["Processes", "WorkerProcess", "cause_of", "usable_cores"]

Item = TypeVar("Item")
Part = TypeVar("Part")
Result = TypeVar("Result")

_GRACE_SECONDS = 3.0
# Each worker's share of the cores, told to the libraries that start threads of their own.
_THREAD_SETTINGS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "OPENCV_FOR_THREADS_NUM")


def usable_cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class Processes:
    """Runs a function in worker processes.

    A worker that dies (a segmentation fault, no memory left, ``os._exit``) is replaced and its item
    tried again; an item that kills its workers every time fails alone. Workers start as items come,
    leave with their parent even if it is killed, and are gone when the iterator is exhausted or
    closed. What they print goes to standard error.

    Args:
        workers: How many processes at most; ``None`` for one per core.
        tries: How many workers an item may kill before it fails.

    Examples:
        >>> from math import factorial
        >>> sorted(outcome.result for outcome in Processes(2).map(factorial, [3, 4]))
        [6, 24]
    """

    def __init__(self, workers: int | None = None, *, tries: int = 2):
        for name, value in {"workers": workers, "tries": tries}.items():
            if value is not None and value < 1:
                raise EngineError(f"{name} must be 1 or more, got {value}.")
        self.workers = workers or usable_cores()
        self.tries = tries

    def map(
        self,
        function: Callable[[Item], Result],
        items: Iterable[Item],
        *,
        on_note: Callable[[Item, Any], None] | None = None,
        ordered: bool = False,
    ) -> Generator[ItemOutcome[Item, Result], None, None]:
        """Yield an outcome per item as they come; see :class:`wordsight.engine.Engine`.

        Raises:
            EngineError: If workers cannot be started or cannot import the function.
        """
        if getattr(function, "__module__", None) == "__main__":
            raise EngineError(
                f"{getattr(function, '__name__', function)} is defined in the main program, which "
                "worker processes do not run; move it to a module they can import, or use Serial."
            )
        order: ReorderBuffer[Item, Result] = ReorderBuffer(
            ordered, WAITING_PER_WORKER * self.workers
        )
        crew = _Crew(function, self.workers, self.tries, on_note, order)
        try:
            yield from crew.work(items)
        finally:
            crew.dismiss()

    def hold(self, parts: Sequence[Part]) -> "ProcessParts[Part]":
        """Keep parts in the workers; see :class:`wordsight.engine.HeldParts`."""
        from wordsight.engine.process_parts import ProcessParts

        return ProcessParts(parts, self.workers)


@dataclass
class WorkItem(Generic[Item]):
    """An item on its way: its number, and how many workers died over it."""

    number: int
    item: Item
    deaths: int = 0


class WorkerProcess(Generic[Item]):
    """One process and the task it has at hand."""

    def __init__(self, function: Callable[[Item], Any], threads: int):
        ours, theirs = Pipe()
        call = (
            f"import sys; sys.path[:] = {sys.path!r}; "
            f"from wordsight.engine.worker import main; main({theirs.fileno()}, {os.getpid()})"
        )
        with theirs, interrupts_held_back():
            self.process = subprocess.Popen(
                [sys.executable, "-c", call],
                stdin=subprocess.PIPE,
                stdout=2,  # results of the program go to standard output, chatter does not
                pass_fds=[theirs.fileno()],
                env={**{name: str(threads) for name in _THREAD_SETTINGS}, **os.environ},
            )
        self.connection: Connection[Any, Any] = ours
        self.ready = False
        self.task: WorkItem[Item] | None = None
        with suppress(OSError):  # if it died at once, handing out its first item will tell
            self.connection.send(function)

    def end(self, deadline: float) -> int:
        """Wait for the process until a moment of the monotonic clock, then kill it."""
        try:
            status = self.process.wait(max(0.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            self.process.kill()
            status = self.process.wait()
        self.release()
        return status

    def release(self) -> None:
        """Close our ends of the pipes, which tells a worker that is idle to go."""
        self.connection.close()
        if self.process.stdin is not None:
            self.process.stdin.close()


class _Crew(Generic[Item, Result]):
    """The workers of one call of :meth:`Processes.map`."""

    def __init__(
        self,
        function: Callable[[Item], Result],
        limit: int,
        tries: int,
        on_note: Callable[[Item, Any], None] | None,
        order: ReorderBuffer[Item, Result],
    ):
        self._function, self._limit, self._tries = function, limit, tries
        self._on_note, self._order = on_note, order
        self._busy: dict[Connection[Any, Any], WorkerProcess[Item]] = {}
        self._idle: list[WorkerProcess[Item]] = []
        self._again: list[WorkItem[Item]] = []

    def work(self, items: Iterable[Item]) -> Iterator[ItemOutcome[Item, Result]]:
        """Hand out items while there is room, and yield outcomes as they come."""
        tasks = self._tasks(iter(items))
        while True:
            while len(self._busy) < self._limit and (task := next(tasks)) is not None:
                yield from self._assign(task)
            if not self._busy:
                return
            yield from self._collect()

    def _tasks(self, items: Iterator[Item]) -> Iterator["WorkItem[Item] | None"]:
        """Yield what is to be done next, ``None`` for nothing now; without end."""
        more = True
        while True:
            if self._again:
                yield self._again.pop()
            elif not (more and self._order.has_room):
                yield None
            else:
                try:
                    item = next(items)
                except StopIteration:
                    more = False
                else:
                    yield WorkItem(self._order.start(), item)

    def _assign(self, task: "WorkItem[Item]") -> Iterator[ItemOutcome[Item, Result]]:
        threads = max(1, usable_cores() // self._limit)
        with interrupts_held_back():
            worker = self._idle.pop() if self._idle else WorkerProcess(self._function, threads)
            worker.task = task
            self._busy[worker.connection] = worker
        try:
            worker.connection.send(task.item)
        except OSError:
            yield from self._bury(worker, task)

    def _collect(self) -> Iterator[ItemOutcome[Item, Result]]:
        for connection in wait(list(self._busy)):
            worker = self._busy[connection]  # type: ignore[index]  # wait() returns what it got
            task = worker.task
            if task is None:
                continue
            try:
                kind, value = worker.connection.recv()
            except (EOFError, OSError):
                yield from self._bury(worker, task)
            else:
                yield from self._take(worker, task, kind, value)

    def _take(
        self, worker: WorkerProcess[Item], task: "WorkItem[Item]", kind: str, value: Any
    ) -> Iterator[ItemOutcome[Item, Result]]:
        if kind == READY:
            worker.ready = True
        elif kind == NOTE and self._on_note is not None:
            self._on_note(task.item, value)
        elif kind == UNUSABLE:
            raise EngineError(f"worker processes cannot import what they shall run: {value}.")
        elif kind in (DONE, FAILED):
            self._idle.append(self._busy.pop(worker.connection))
            done = kind == DONE
            outcome: ItemOutcome[Item, Result] = (
                ItemOutcome(task.item, value) if done else ItemOutcome(task.item, error=value)
            )
            yield from self._order.release(task.number, outcome)

    def _bury(
        self, worker: WorkerProcess[Item], task: "WorkItem[Item]"
    ) -> Iterator[ItemOutcome[Item, Result]]:
        del self._busy[worker.connection]
        status = worker.end(time.monotonic() + _GRACE_SECONDS)
        if not worker.ready and status >= 0:  # one that was killed on its way up is tried again
            raise EngineError(
                f"a worker process could not start ({cause_of(status)}); what it printed is above. "
                "Try one worker, which runs everything in this process."
            )
        task.deaths += 1
        if task.deaths < self._tries:  # killed by another perhaps: it gets a worker of its own
            self._again.append(task)
            return
        error = f"the worker process {cause_of(status)}"
        yield from self._order.release(
            task.number, ItemOutcome(task.item, error=error, crashed=True)
        )

    def dismiss(self) -> None:
        """End all workers: idle ones by closing their pipe, others by a signal, then by force."""
        crew = [*self._idle, *self._busy.values()]
        for worker in self._busy.values():
            worker.process.terminate()
        for worker in crew:
            worker.release()
        deadline = time.monotonic() + _GRACE_SECONDS
        for worker in crew:
            worker.end(deadline)
        self._busy.clear()
        self._idle.clear()


def cause_of(status: int) -> str:
    """Put the exit status of a process into words."""
    if status >= 0:
        return f"ended with exit status {status}"
    try:
        name = signal.Signals(-status).name
    except ValueError:
        name = f"signal {-status}"
    hint = {
        "SIGKILL": "; most likely there was no memory left",
        "SIGSEGV": "; most likely the file breaks its decoder",
        "SIGABRT": "; most likely the file breaks its decoder",
    }.get(name, "")
    return f"was ended by {name}{hint}"
