"""Work done by a Dask cluster: one that is there already, or one of processes of this machine."""

import uuid
from collections.abc import Callable, Generator, Iterable, Sequence
from types import TracebackType
from typing import Any, Generic, Self, TypeVar

from wordsight.engine.outcome import EngineError, Outcome, message_of

__all__ = ["Cluster", "HeldByCluster"]

Item = TypeVar("Item")
Part = TypeVar("Part")
Result = TypeVar("Result")

_AHEAD = 3  # items in flight per worker thread: enough to keep it busy, few enough to hold


class Cluster:
    """Runs a function on the workers of a Dask cluster.

    Functions must be importable on the workers, where Wordsight must be installed too. A worker
    that dies costs nothing but time: its work is done again elsewhere. What functions
    :func:`wordsight.engine.tell` is not brought back.

    Args:
        address: The scheduler, such as ``tcp://10.0.0.1:8786``; a cluster of processes of this
            machine is started, and ended with :meth:`close`, if left out.
        workers: How many processes that cluster has.

    Raises:
        EngineError: If Dask is not installed or the scheduler does not answer.
    """

    def __init__(self, address: str | None = None, workers: int = 2) -> None:
        dask = _distributed()
        self._own: Any = None
        try:
            if address is None:
                self._own = dask.LocalCluster(
                    n_workers=workers,
                    threads_per_worker=1,
                    processes=True,
                    dashboard_address="127.0.0.1:0",
                    silence_logs=50,
                )
            self._client: Any = dask.Client(address or self._own, timeout=10)
        except (OSError, ValueError, TimeoutError) as error:
            raise EngineError(
                f"the Dask scheduler at {address} does not answer: {message_of(error)}."
            ) from error

    @property
    def dashboard(self) -> str:
        """Where the cluster can be watched in a browser."""
        return str(self._client.dashboard_link)

    @property
    def workers(self) -> int:
        """How many worker threads there are."""
        return int(sum(self._client.nthreads().values()))

    def map(
        self,
        function: Callable[[Item], Result],
        items: Iterable[Item],
        *,
        on_note: Callable[[Item, Any], None] | None = None,
    ) -> Generator[Outcome[Item, Result], None, None]:
        """Yield an outcome per item as they come; see :class:`wordsight.engine.Engine`."""
        source = iter(items)
        pending: dict[Any, Item] = {}
        done = _distributed().as_completed()
        try:
            while True:
                while len(pending) < _AHEAD * max(1, self.workers):
                    try:
                        item = next(source)
                    except StopIteration:
                        break
                    future = self._client.submit(_attempt, function, item, pure=False)
                    pending[future] = item
                    done.add(future)
                if not pending:
                    return
                future = next(done)
                yield _outcome(future, pending.pop(future))
                future.release()
        finally:
            self._client.cancel(list(pending))

    def hold(self, parts: Sequence[Part]) -> "HeldByCluster[Part]":
        """Bring parts to the workers and keep them there; see :class:`wordsight.engine.Held`."""
        return HeldByCluster(self._client, parts)

    def close(self) -> None:
        """Leave the cluster, and end it if it was started here."""
        self._client.close()
        if self._own is not None:
            self._own.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


class HeldByCluster(Generic[Part]):
    """Parts in the memory of a cluster's workers; the scheduler knows how to make them again."""

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


def _distributed() -> Any:
    try:
        import distributed
    except ImportError as error:
        raise EngineError("work on a cluster needs Dask: pip install 'wordsight[dask]'.") from error
    return distributed


def _keep(value: Any) -> Any:
    return value


def _attempt(function: Callable[[Any], Any], item: Any) -> tuple[Any, str | None]:
    try:
        return function(item), None
    except Exception as error:
        return None, message_of(error)


def _outcome(future: Any, item: Item) -> Outcome[Item, Any]:
    if future.status != "finished":
        cause = future.exception()
        return Outcome(item, error=f"the worker was lost: {message_of(cause)}", crashed=True)
    result, problem = future.result()
    return Outcome(item, result) if problem is None else Outcome(item, error=problem)
