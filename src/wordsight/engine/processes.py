"""Engine of worker processes on this machine; an item that crashes one harms no other.

Each worker is a fresh interpreter that has one item at a time, so that the item that killed it is
known and every other goes on. The main program is not imported there, so scripts and notebooks
need no ``if __name__ == "__main__"``; the function must come from a module that can be imported.
A worker that holds parts and dies is replaced, and its part redone.
"""

import os
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import chain
from multiprocessing.connection import Connection, wait
from typing import Any, Generic, Self, TypeVar

from wordsight.engine.base import (
    WAITING_PER_WORKER,
    Engine,
    EngineError,
    EngineTask,
    HeldParts,
    ItemOutcome,
    ReorderBuffer,
)
from wordsight.engine.worker import (
    DONE,
    FAILED,
    NOTE,
    READY,
    UNUSABLE,
    WorkerProcess,
    WorkItem,
    cause_of,
)
from wordsight.interrupts import interrupts_held_back

__all__ = ["ProcessParts", "Processes", "in_threads", "usable_cores"]


Item = TypeVar("Item")

Part = TypeVar("Part")

Result = TypeVar("Result")

_GRACE_SECONDS = 3.0

_PATIENCE = 3.0  # seconds for a worker to leave
_TRIES = 3  # deaths over one part after which it is to blame
_AHEAD = 2  # orders a worker has: what it does, and what comes next, so that it never waits
# What this process holds, when it is a worker: its parts, and what this round is about.
_held: dict[int, Any] = {}
_round: dict[str, Any] = {}


def usable_cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def in_threads(
    work: Callable[[Item], Result], items: Sequence[Item], *, alone: bool = False
) -> list[Result]:
    """Return the results of a function for some items, in their order, from a thread per core.

    It saves time where the function spends its own outside the interpreter's lock, and more of it
    than the millisecond that threads take to start.

    Args:
        work: The function.
        items: What it is called with.
        alone: Whether the calling thread does it all, where there is little to do.
    """
    threads = min(usable_cores(), len(items))
    if threads < 2 or alone:
        return [work(item) for item in items]
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(work, items))


class Processes(Engine):
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

    def _run(
        self, task: EngineTask[Item, Result]
    ) -> Generator[ItemOutcome[Item, Result], None, None]:
        function = task.function
        if getattr(function, "__module__", None) == "__main__":
            raise EngineError(
                f"{getattr(function, '__name__', function)} is defined in the main program, which "
                "worker processes do not run; move it to a module they can import, or use Serial."
            )
        order: ReorderBuffer[Item, Result] = ReorderBuffer(
            task.ordered, WAITING_PER_WORKER * self.workers
        )
        crew = _Crew(function, self.workers, self.tries, task.on_note, order)
        try:
            yield from crew.work(task.items)
        finally:
            crew.dismiss()

    def hold(self, parts: Sequence[Part]) -> "ProcessParts[Part]":
        """Keep parts in the workers; see :class:`wordsight.engine.HeldParts`."""
        return ProcessParts(parts, self.workers)


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
            raise EngineError(f"worker processes cannot import the function to run: {value}.")
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


def keep_or_work(order: tuple[Any, ...]) -> Any:
    """Execute an order of a worker of held parts: keep parts, hear what is to be done, or do it."""
    if order[0] == "keep":
        _held.update(order[1])
    elif order[0] == "round":
        _round.update(function=order[1], argument=order[2])
    else:
        return _round["function"](_held[order[1]], _round["argument"])
    return None


class ProcessParts(HeldParts, Generic[Part]):
    """Parts shared out among worker processes.

    Args:
        parts: The parts; kept here too, for workers that have to be replaced.
        workers: How many processes at most.
    """

    def __init__(self, parts: Sequence[Part], workers: int) -> None:
        self._parts = list(parts)
        self._count = max(1, min(workers, len(self._parts)))
        self._crew: dict[int, WorkerProcess[Any]] = {}
        self._round: tuple[Any, ...] | None = None

    def map(self, function: Callable[[Part, Any], Result], argument: Any) -> list[Result]:
        """Work on all parts, each where it is held; see :class:`wordsight.engine.HeldParts`."""
        # What the parts do not hold goes to every worker once, not with every part.
        self._round = ("round", function, argument)
        for seat in self._crew:
            self._send(seat, self._round)
        for seat in self._crew:
            if not self._heard(seat):
                self._replace(seat, 0, deaths=1)  # it died since the last round
        results: dict[int, Result] = {}
        waiting = {seat: self._parts_of(seat) for seat in range(self._count)}
        at_hand: dict[int, list[int]] = {seat: [] for seat in waiting}
        deaths = [0] * len(self._parts)
        while len(results) < len(self._parts):
            self._hand_out(waiting, at_hand)
            for seat in self._ready(at_hand):
                found = self._receive(seat)
                if found is None:
                    number = at_hand[seat][0]
                    deaths[number] += 1
                    waiting[seat] = at_hand[seat] + waiting[seat]
                    at_hand[seat] = []
                    self._replace(seat, number, deaths[number])
                elif found[0] == DONE:
                    results[at_hand[seat].pop(0)] = found[1]
        return [results[number] for number in range(len(self._parts))]

    def _hand_out(self, waiting: dict[int, list[int]], at_hand: dict[int, list[int]]) -> None:
        for seat, numbers in waiting.items():
            while numbers and len(at_hand[seat]) < _AHEAD:
                at_hand[seat].append(numbers.pop(0))
                self._send(seat, ("work", at_hand[seat][-1]))

    def __enter__(self) -> Self:
        threads = max(1, usable_cores() // self._count)
        try:
            for seat in range(self._count):
                with interrupts_held_back():
                    self._crew[seat] = WorkerProcess(keep_or_work, threads)
            for seat in range(self._count):
                self._settle(seat)
        except BaseException:  # __exit__ is not called then, and the workers would stay
            self.close()
            raise
        return self

    def close(self) -> None:
        """End the workers."""
        for worker in self._crew.values():
            worker.process.terminate()
            worker.release()
        deadline = time.monotonic() + _PATIENCE
        for worker in self._crew.values():
            worker.end(deadline)
        self._crew.clear()

    def _parts_of(self, seat: int) -> list[int]:
        return list(range(seat, len(self._parts), self._count))

    def _settle(self, seat: int) -> None:
        """Give a new worker its parts, and what the round is about where one is under way."""
        # One by one: all parts of a worker, pickled at once, would take their room twice over.
        orders: Iterator[tuple[Any, ...]] = (
            ("keep", {number: self._parts[number]}) for number in self._parts_of(seat)
        )
        if self._round is not None:
            orders = chain(orders, [self._round])
        if not all(self._hears(seat, order) for order in orders):
            raise EngineError(
                f"a worker process {cause_of(self._crew[seat].process.wait())} before it could "
                "work; what it printed is above."
            )

    def _hears(self, seat: int, order: tuple[Any, ...]) -> bool:
        """Tell a worker something and wait until it has heard; false if it has died."""
        self._send(seat, order)
        return self._heard(seat)

    def _heard(self, seat: int) -> bool:
        """Wait until a worker has done its only order; false if it has died."""
        while True:
            found = self._receive(seat)
            if found is None or found[0] == DONE:
                return found is not None

    def _send(self, seat: int, order: tuple[Any, ...]) -> None:
        with suppress(OSError):  # if the worker has died, reading from it will tell
            self._crew[seat].connection.send(order)

    def _ready(self, at_hand: dict[int, list[int]]) -> list[int]:
        seats = {self._crew[seat].connection: seat for seat in at_hand if at_hand[seat]}
        return [seats[found] for found in wait(list(seats))]  # type: ignore[index]

    def _receive(self, seat: int) -> tuple[str, Any] | None:
        """Return what a worker sends, or ``None`` if it has died."""
        try:
            kind, value = self._crew[seat].connection.recv()
        except (EOFError, OSError):
            return None
        if kind in (FAILED, UNUSABLE):
            raise EngineError(f"the work failed: {value}.")
        return (READY, None) if kind not in (DONE, READY) else (kind, value)

    def _replace(self, seat: int, number: int, deaths: int) -> None:
        status = self._crew[seat].end(time.monotonic() + _PATIENCE)
        if deaths >= _TRIES:
            raise EngineError(
                f"part {number + 1} of {len(self._parts)} killed {deaths} worker processes in a "
                f"row; the last one {cause_of(status)}."
            )
        with interrupts_held_back():
            self._crew[seat] = WorkerProcess(keep_or_work, max(1, usable_cores() // self._count))
        self._settle(seat)
