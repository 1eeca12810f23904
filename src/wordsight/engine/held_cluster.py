"""Parts held in the memory of a Dask cluster's workers."""

import time
import uuid
from collections import Counter
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any, Generic, TypeVar

from wordsight.closing import Closing
from wordsight.engine.outcome import EngineError, message_of

__all__ = ["HeldByCluster"]

Part = TypeVar("Part")
Result = TypeVar("Result")

_GROUPS_PER_WORKER = 8
"""Tasks of a round per worker thread: each costs the scheduler milliseconds, but what a lost worker
had is done again by the task."""

_LOOK_SECONDS = 3.0  # how often to look whether workers are still there
_PATIENCE = 60.0  # seconds without any worker before giving up
_TRIES = 3  # times a group is brought to other workers in one round before it is to blame


class HeldByCluster(Closing, Generic[Part]):
    """Parts in the memory of a cluster's workers; those of a lost worker are made again elsewhere.

    Neighbouring parts are held in groups, as many on each worker as on any other, and each round
    is one task per group: scheduling costs the same however many parts there are.

    Args:
        client: Dask's client.
        parts: The parts; kept here too, for workers that are lost.
    """

    def __init__(self, client: Any, parts: Sequence[Part]) -> None:
        self._client = client
        seats = self._seats()
        size = max(1, -(-len(parts) // max(1, _GROUPS_PER_WORKER * len(seats))))
        self._groups = [list(parts[at : at + size]) for at in range(0, len(parts), size)]
        self._held: dict[int, tuple[Any, str]] = {}
        self._bring(range(len(self._groups)), seats)

    def map(self, function: Callable[[Part, Any], Result], argument: Any) -> list[Result]:
        """Work on all parts, each where it lies."""
        seats = self._seats()
        self._bring(self._homeless(seats), seats)
        shared = self._client.submit(_keep, argument, pure=False)
        work = {number: self._start(number, function, shared) for number in self._held}
        try:
            self._wait_for(work, function, shared)
            found = self._client.gather([work[number] for number in range(len(self._groups))])
            return [result for results in found for result in results]
        except EngineError:
            raise
        except Exception as error:  # whatever the work raised, and Dask's own when workers die
            raise EngineError(f"the work failed: {message_of(error)}.") from error

    def _start(self, number: int, function: Callable[[Part, Any], Result], shared: Any) -> Any:
        group, seat = self._held[number]
        return self._client.submit(
            _work_on, function, group, shared, pure=False, retries=2, **_at(seat)
        )

    def _wait_for(
        self, work: dict[int, Any], function: Callable[[Part, Any], Result], shared: Any
    ) -> None:
        """Wait for all work; begin again what would wait for workers that never come back."""
        distributed: Any = import_module("distributed")
        seen, moved = time.monotonic(), Counter[int]()
        while True:
            try:
                distributed.wait(list(work.values()), timeout=_LOOK_SECONDS)
                return
            except TimeoutError:
                seats = self._seats()
            if seats:
                seen = time.monotonic()
                lost = [n for n in self._homeless(seats) if work[n].status == "pending"]
                moved.update(lost)
                if max(moved.values(), default=0) > _TRIES:
                    raise EngineError("the same parts lost their workers again and again.")
                self._bring(lost, seats)
                work |= {number: self._start(number, function, shared) for number in lost}
            elif time.monotonic() - seen > _PATIENCE:
                raise EngineError(
                    "the cluster has no workers any more; what they printed tells why."
                )

    def _bring(self, numbers: Sequence[int], seats: Sequence[str]) -> None:
        """Bring groups to the workers in turn; the scheduler knows how to make them again."""
        config: Any = import_module("dask.config")
        for number in numbers:
            seat = seats[number % len(seats)] if seats else ""
            key = f"wordsight-part-{uuid.uuid4().hex}"
            with config.set({"distributed.admin.large-graph-warning-threshold": "1TB"}):
                held = self._client.submit(_keep, self._groups[number], key=key, **_at(seat))
            self._held[number] = (held, seat)

    def _homeless(self, seats: Sequence[str]) -> list[int]:
        return [number for number, (_, seat) in self._held.items() if seat not in seats]

    def _seats(self) -> list[str]:
        threads = self._client.nthreads()
        return [address for address, count in threads.items() for _ in range(count)]

    def close(self) -> None:
        """Let the workers forget the parts."""
        for group, _ in self._held.values():
            group.release()
        self._held.clear()


def _at(seat: str) -> dict[str, Any]:
    """Say where a task should run; elsewhere if that worker is gone."""
    return {"workers": [seat], "allow_other_workers": True} if seat else {}


def _keep(value: Any) -> Any:
    return value


def _work_on(function: Callable[[Any, Any], Any], group: list[Any], argument: Any) -> list[Any]:
    return [function(part, argument) for part in group]
