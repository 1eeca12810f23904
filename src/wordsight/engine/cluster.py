"""Work done by a Dask cluster: one that is there already, or one of processes of this machine."""

import queue
import time
import uuid
from collections import Counter
from collections.abc import Callable, Generator, Sequence
from contextlib import suppress
from importlib import import_module
from multiprocessing import resource_tracker
from typing import Any, Generic, TypeVar

from wordsight.closing import Closing
from wordsight.engine.base import (
    WAITING_PER_WORKER,
    Engine,
    EngineError,
    EngineTask,
    HeldParts,
    ItemOutcome,
    ReorderBuffer,
    message_of,
    receiving_notes,
)
from wordsight.interrupts import interrupts_held_back

__all__ = ["Cluster", "ClusterParts"]


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


class Cluster(Engine, Closing):
    """Runs a function on the workers of a Dask cluster.

    Functions must be importable on the workers, where Wordsight must be installed too. A worker
    that dies costs nothing but time: its work is done again elsewhere. What functions
    :func:`wordsight.engine.send_note` arrives while the item is under way, or not at all.

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

    def _run(
        self, task: EngineTask[Item, Result]
    ) -> Generator[ItemOutcome[Item, Result], None, None]:
        source, on_note = iter(task.items), task.on_note
        order: ReorderBuffer[Item, Result] = ReorderBuffer(
            task.ordered, WAITING_PER_WORKER * self.workers
        )
        pending: dict[int, tuple[Any, Item]] = {}
        # Notes and results come from threads of Dask's own; here they meet in one queue.
        heard: queue.SimpleQueue[tuple[str, int, Any]] = queue.SimpleQueue()
        topic = f"wordsight-{uuid.uuid4().hex}" if on_note is not None else None
        if topic is not None:
            self._client.subscribe_topic(topic, lambda event: heard.put((_NOTE, *event[1])))
        try:
            while True:
                while order.has_room and len(pending) < _AHEAD * self.workers:
                    try:
                        item = next(source)
                    except StopIteration:
                        break
                    number = order.start()
                    future = self._client.submit(
                        _attempt, task.function, item, topic, number, pure=False
                    )
                    pending[number] = (future, item)
                    future.add_done_callback(
                        lambda future, number=number: heard.put((_DONE, number, None))
                    )
                if not pending:
                    return
                kind, number, note = heard.get()
                if number not in pending:  # came too late to be of interest
                    continue
                if kind == _DONE:
                    future, item = pending.pop(number)
                    yield from order.release(number, _outcome(future, item))
                    future.release()
                elif on_note is not None:
                    on_note(pending[number][1], note)
        finally:
            self._client.cancel([future for future, _ in pending.values()])
            if topic is not None:
                with suppress(ValueError):
                    self._client.unsubscribe_topic(topic)

    def hold(self, parts: Sequence[Part]) -> "ClusterParts[Part]":
        """Keep parts on the workers; see :class:`wordsight.engine.HeldParts`."""
        return ClusterParts(self._client, parts)

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
        with receiving_notes(listener):
            return function(item), None
    except Exception as error:
        return None, message_of(error)


def _outcome(future: Any, item: Item) -> ItemOutcome[Item, Any]:
    try:
        # A result that was lost with its worker after it was done is waited for once more.
        result, problem = future.result()
    except _distributed().scheduler.KilledWorker:
        return ItemOutcome(item, error="every worker that tried it was lost", crashed=True)
    except Exception as error:
        return ItemOutcome(item, error=f"the cluster cannot do it: {message_of(error)}")
    return ItemOutcome(item, result) if problem is None else ItemOutcome(item, error=problem)


# Parts held in the memory of a Dask cluster's workers.

_GROUPS_PER_WORKER = 8
"""Tasks of a round per worker thread: each costs the scheduler milliseconds, but what a lost worker
had is done again by the task."""

_LOOK_SECONDS = 3.0  # how often to look whether workers are still there
_PATIENCE = 60.0  # seconds without any worker before giving up
_TRIES = 3  # times a group is brought to other workers in one round before it is to blame


class ClusterParts(HeldParts, Generic[Part]):
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
