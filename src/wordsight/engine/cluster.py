"""Work done by a Dask cluster: one that is there already, or one of processes of this machine."""

import queue
import time
import uuid
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import suppress
from multiprocessing import resource_tracker
from typing import TYPE_CHECKING, Any, TypeVar

from wordsight.closing import Closing
from wordsight.engine.notes import listening
from wordsight.engine.order import WAITING_PER_WORKER, Order
from wordsight.engine.outcome import EngineError, Outcome, message_of
from wordsight.interrupts import interrupts_held_back

if TYPE_CHECKING:
    from wordsight.engine.held_cluster import HeldByCluster

__all__ = ["Cluster"]

Item = TypeVar("Item")
Part = TypeVar("Part")
Result = TypeVar("Result")

_AHEAD = 2  # items in flight per worker thread: one at work, one on its way
_COUNT_SECONDS = 5.0  # how long a count of workers is taken as true
_PATIENCE = 60.0  # seconds for the first worker of a cluster to appear
_CONNECT = 10.0  # seconds for a scheduler elsewhere to answer
_NOTE, _DONE = "note", "done"
# Left alone, a cluster of one machine looks at itself so often that it takes a tenth of a core.
_CALM = {
    "distributed.worker.profile.enabled": False,
    "distributed.admin.tick.interval": "1s",
    "distributed.admin.system-monitor.interval": "5s",
    "distributed.worker.memory.monitor-interval": "1s",
    # Dask has memory given back as soon as it is free; arrays that come and go then cost more time
    # in the system than in the work.
    "distributed.nanny.pre-spawn-environ.MALLOC_TRIM_THRESHOLD_": None,
}


class Cluster(Closing):
    """Runs a function on the workers of a Dask cluster.

    Functions must be importable on the workers, where Wordsight must be installed too. A worker
    that dies costs nothing but time: its work is done again elsewhere. What functions
    :func:`wordsight.engine.tell` arrives while the item is under way, or not at all.

    Args:
        address: The scheduler, such as ``tcp://10.0.0.1:8786``; a cluster of processes of this
            machine is started, and ended with :meth:`close`, if left out.
        workers: How many processes that cluster has.

    Raises:
        EngineError: If Dask is not installed, the scheduler does not answer or has no workers.
    """

    def __init__(self, address: str | None = None, workers: int = 2) -> None:
        dask = _distributed()
        self._own: Any = None
        self._counted = (-_COUNT_SECONDS, 0)
        try:
            if address is None:
                self._own = _local_cluster(workers)
            # Its own scheduler answers, but on a busy machine not within seconds.
            patience = _CONNECT if address else _PATIENCE
            self._client: Any = dask.Client(address or self._own, timeout=patience)
        except (OSError, ValueError, TimeoutError) as error:
            raise EngineError(
                f"the Dask scheduler at {address} does not answer: {message_of(error)}."
            ) from error
        except RuntimeError as error:  # Dask's workers import the main program
            raise EngineError(
                f"the workers of a cluster did not start ({message_of(error)}); a script must "
                "start it below: if __name__ == '__main__':"
            ) from error
        try:
            self._client.wait_for_workers(1, timeout=_PATIENCE)
        except TimeoutError as error:
            self.close()
            raise EngineError(
                f"the Dask cluster at {address} has no workers; start some with: dask worker "
                f"{address}"
            ) from error

    @property
    def dashboard(self) -> str:
        """Where the cluster can be watched in a browser."""
        return str(self._client.dashboard_link)

    @property
    def workers(self) -> int:
        """How many worker threads there are, or were a few seconds ago."""
        when, count = self._counted
        if time.monotonic() - when > _COUNT_SECONDS:
            count = int(sum(self._client.nthreads().values()))
            self._counted = (time.monotonic(), count)
        return max(1, count)

    def map(
        self,
        function: Callable[[Item], Result],
        items: Iterable[Item],
        *,
        on_note: Callable[[Item, Any], None] | None = None,
        ordered: bool = False,
    ) -> Generator[Outcome[Item, Result], None, None]:
        """Yield an outcome per item as they come; see :class:`wordsight.engine.Engine`."""
        source = iter(items)
        order: Order[Item, Result] = Order(ordered, WAITING_PER_WORKER * self.workers)
        pending: dict[int, tuple[Any, Item]] = {}
        # Notes and results come from threads of Dask's own; here they meet in one queue.
        heard: queue.SimpleQueue[tuple[str, int, Any]] = queue.SimpleQueue()
        topic = f"wordsight-{uuid.uuid4().hex}" if on_note is not None else None
        if topic is not None:
            self._client.subscribe_topic(topic, lambda event: heard.put((_NOTE, *event[1])))
        try:
            while True:
                while order.room and len(pending) < _AHEAD * self.workers:
                    try:
                        item = next(source)
                    except StopIteration:
                        break
                    number = order.take()
                    future = self._client.submit(
                        _attempt, function, item, topic, number, pure=False
                    )
                    pending[number] = (future, item)
                    future.add_done_callback(
                        lambda future, number=number: heard.put((_DONE, number, None))
                    )
                if not pending:
                    return
                kind, number, note = heard.get()
                if number not in pending:  # told too late to be of interest
                    continue
                if kind == _DONE:
                    future, item = pending.pop(number)
                    yield from order.give(number, _outcome(future, item))
                    future.release()
                elif on_note is not None:
                    on_note(pending[number][1], note)
        finally:
            self._client.cancel([future for future, _ in pending.values()])
            if topic is not None:
                with suppress(ValueError):
                    self._client.unsubscribe_topic(topic)

    def hold(self, parts: Sequence[Part]) -> "HeldByCluster[Part]":
        """Bring parts to the workers and keep them there; see :class:`wordsight.engine.Held`."""
        from wordsight.engine.held_cluster import HeldByCluster

        return HeldByCluster(self._client, parts)

    def close(self) -> None:
        """Leave the cluster, and end it if it was started here."""
        self._client.close()
        if self._own is not None:
            self._own.close()


def _local_cluster(workers: int) -> Any:
    """Start a cluster of processes of this machine, each with one thread."""
    import dask.config

    # What is started here never hears of Ctrl-C, which would have every process die with a
    # traceback: they end with the cluster. Python's own tracker first: starting it lets Ctrl-C in.
    resource_tracker.ensure_running()
    with dask.config.set(_CALM), interrupts_held_back():
        return _distributed().LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            processes=True,
            dashboard_address="127.0.0.1:0",
            silence_logs=50,
        )


def _distributed() -> Any:
    try:
        import distributed
    except ImportError as error:
        raise EngineError("work on a cluster needs Dask: pip install 'wordsight[dask]'.") from error
    return distributed


def _attempt(
    function: Callable[[Any], Any], item: Any, topic: str | None, number: int
) -> tuple[Any, str | None]:
    worker = _distributed().get_worker()

    def listener(note: Any) -> None:
        if topic is not None:
            worker.log_event(topic, (number, note))

    try:
        with listening(listener):
            return function(item), None
    except Exception as error:
        return None, message_of(error)


def _outcome(future: Any, item: Item) -> Outcome[Item, Any]:
    try:
        # A result that was lost with its worker after it was done is waited for once more.
        result, problem = future.result()
    except _distributed().scheduler.KilledWorker:
        return Outcome(item, error="every worker that tried it was lost", crashed=True)
    except Exception as error:
        return Outcome(item, error=f"the cluster cannot do it: {message_of(error)}")
    return Outcome(item, result) if problem is None else Outcome(item, error=problem)
