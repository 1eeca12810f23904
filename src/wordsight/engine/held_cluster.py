"""Parts held in the memory of a Dask cluster's workers."""

import uuid
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any, Generic, Self, TypeVar

from wordsight.engine.outcome import EngineError, message_of

__all__ = ["HeldByCluster"]

Part = TypeVar("Part")
Result = TypeVar("Result")


class HeldByCluster(Generic[Part]):
    """Parts in the memory of a cluster's workers; the scheduler knows how to make them again.

    Args:
        client: Dask's client.
        parts: The parts.
    """

    def __init__(self, client: Any, parts: Sequence[Part]) -> None:
        self._client = client
        name = uuid.uuid4().hex
        self._parts = [
            client.submit(_keep, part, key=f"wordsight-part-{name}-{number}")
            for number, part in enumerate(parts)
        ]

    def map(self, function: Callable[[Part, Any], Result], argument: Any) -> list[Result]:
        """Work on all parts, each where it lies."""
        shared = self._client.submit(_keep, argument, pure=False)
        work = [
            self._client.submit(function, part, shared, pure=False, retries=2)
            for part in self._parts
        ]
        try:
            results: list[Result] = self._client.gather(work)
            return results
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
        for part in self._parts:
            part.release()


def _keep(value: Any) -> Any:
    return value
