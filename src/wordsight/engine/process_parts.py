"""Parts held by worker processes of this machine; one that dies is replaced and its part redone."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from itertools import chain
from multiprocessing.connection import wait
from types import TracebackType
from typing import Any, Generic, Self, TypeVar

from wordsight.engine.base import EngineError
from wordsight.engine.processes import WorkerProcess, cause_of, usable_cores
from wordsight.engine.worker import DONE, FAILED, READY, UNUSABLE
from wordsight.interrupts import interrupts_held_back

__all__ = ["ProcessParts"]

Part = TypeVar("Part")
Result = TypeVar("Result")

_PATIENCE = 3.0  # seconds for a worker to leave
_TRIES = 3  # deaths over one part after which it is to blame
_AHEAD = 2  # orders a worker has: what it does, and what comes next, so that it never waits

# What this process holds, when it is a worker: its parts, and what this round is about.
_held: dict[int, Any] = {}
_round: dict[str, Any] = {}


def keep_or_work(order: tuple[Any, ...]) -> Any:
    """Do what a worker of held parts is told: keep parts, hear what is to be done, or do it."""
    if order[0] == "keep":
        _held.update(order[1])
    elif order[0] == "round":
        _round.update(function=order[1], argument=order[2])
    else:
        return _round["function"](_held[order[1]], _round["argument"])
    return None


class ProcessParts(Generic[Part]):
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
            if not self._hears(seat, self._round):
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
        except BaseException:  # then nobody calls __exit__, and the workers would stay
            self._dismiss()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._dismiss()

    def _dismiss(self) -> None:
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
