"""Parts held in the memory of a Dask cluster's workers."""

import uuid
from collections.abc import Callable, Sequence
from itertools import cycle
from types import TracebackType
from typing import Any, Generic, Self, TypeVar

from wordsight.engine.outcome import EngineError, message_of

__all__ = ["HeldByCluster"]

Part = TypeVar("Part")
Result = TypeVar("Result")

_GROUPS_PER_WORKER = 8
"""Tasks of a round per worker thread: each costs the scheduler milliseconds, but what a lost worker
had is done again by the task."""


class HeldByCluster(Generic[Part]):
    """Parts in the memory of a cluster's workers; the scheduler knows how to make them again.

    Neighbouring parts are held in groups, as many on each worker as on any other, and each round
    is one task per group: scheduling costs the same however many parts there are.

    Args:
        client: Dask's client.
        parts: The parts.
    """

    def __init__(self, client: Any, parts: Sequence[Part]) -> None:
        self._client = client
        threads = client.nthreads()
        seats = [address for address, count in threads.items() for _ in range(count)]
        size = -(-len(parts) // max(1, _GROUPS_PER_WORKER * len(seats)))
        groups = [list(parts[at : at + size]) for at in range(0, len(parts), max(1, size))]
        name = uuid.uuid4().hex
        self._groups = [
            (client.submit(_keep, group, key=f"wordsight-part-{name}-{number}", **_at(seat)), seat)
            for number, (group, seat) in enumerate(zip(groups, cycle(seats), strict=False))
        ]

    def map(self, function: Callable[[Part, Any], Result], argument: Any) -> list[Result]:
        """Work on all parts, each where it lies."""
        shared = self._client.submit(_keep, argument, pure=False)
        work = [
            self._client.submit(
                _work_on, function, group, shared, pure=False, retries=2, **_at(seat)
            )
            for group, seat in self._groups
        ]
        try:
            return [result for results in self._client.gather(work) for result in results]
        except Exception as error:  # whatever the work raised, and Dask's own when workers die
            raise EngineError(f"the work failed: {message_of(error)}.") from error

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for group, _ in self._groups:
            group.release()


def _at(seat: str) -> dict[str, Any]:
    """Say where a task should run; elsewhere if that worker is gone."""
    return {"workers": [seat], "allow_other_workers": True}


def _keep(value: Any) -> Any:
    return value


def _work_on(function: Callable[[Any, Any], Any], group: list[Any], argument: Any) -> list[Any]:
    return [function(part, argument) for part in group]
