"""Engine on a Dask cluster: an existing one, or one of processes of this machine."""

import asyncio
import queue
import time
import uuid
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
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

__all__ = ["Cluster", "ClusterParts", "this_station"]


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
            # Machines elsewhere may be reached by way of their scheduler only.
            self._client: Any = dask.Client(
                address or self._own, timeout=patience, direct_to_workers=address is None
            )
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

    def stations(self) -> list[str]:
        """Return the addresses of the workers."""
        return sorted(self._client.nthreads())

    def map_at(
        self, function: Callable[[Item], Result], items: Mapping[str, Item]
    ) -> dict[str, ItemOutcome[Item, Result]]:
        """Work at chosen workers only; see :meth:`wordsight.engine.Engine.map_at`."""
        futures = {
            station: self._client.submit(
                _attempt,
                function,
                item,
                None,
                0,
                pure=False,
                workers=[station],
                allow_other_workers=False,
            )
            for station, item in items.items()
        }
        outcomes = {}
        try:
            for station, future in futures.items():
                outcomes[station] = self._at_station(station, future, items[station])
        finally:
            self._client.cancel(list(futures.values()))
        return outcomes

    def _at_station(self, station: str, future: Any, item: Item) -> ItemOutcome[Item, Any]:
        while station in self._client.nthreads():
            with suppress(TimeoutError):  # a task whose only worker is lost would wait forever
                future.exception(timeout=_LOOK_SECONDS)
                return _outcome(future, item)
        return ItemOutcome(item, error=f"the worker {station} was lost", crashed=True)

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


def this_station() -> str:
    """Return the name of the worker that this runs in, as :meth:`Cluster.stations` has it."""
    return str(_distributed().get_worker().address)


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

_LOOK_SECONDS = 3.0  # how often to look whether workers are still there
_PATIENCE = 60.0  # seconds without any worker before giving up
_TRIES = 3  # times parts are brought to other workers in one round before they are to blame


class _Share:
    """The parts of one worker, in its memory: a Dask actor."""

    def __init__(self) -> None:
        self._parts: list[Any] = []
        self._thread = ThreadPoolExecutor(1)  # all actors of a worker share one otherwise

    def keep(self, part: Any) -> None:
        self._parts.append(part)

    async def work(
        self, function: Callable[[Any, Any], Any], argument: Any
    ) -> tuple[list[Any], str | None]:
        """Work on all parts; return the results, and what went wrong if anything did."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._thread, self._work, function, argument)

    def _work(
        self, function: Callable[[Any, Any], Any], argument: Any
    ) -> tuple[list[Any], str | None]:
        try:
            return [function(part, argument) for part in self._parts], None
        except Exception as error:
            return [], message_of(error)


class ClusterParts(HeldParts, Generic[Part]):
    """Parts in the memory of a cluster's workers; those of a lost worker are brought to others.

    A round is one message to each worker and one back, past the scheduler, whose tasks take
    longer than a step of training does.

    Args:
        client: Dask's client.
        parts: The parts; kept here too, for workers that are lost.
    """

    def __init__(self, client: Any, parts: Sequence[Part]) -> None:
        self._client = client
        self._parts = list(parts)
        self._count = min(len(self._parts), len(self._seats()))
        self._held: dict[int, tuple[Any, str]] = {}

    def map(self, function: Callable[[Part, Any], Result], argument: Any) -> list[Result]:
        """Work on all parts, each where it lies."""
        results: dict[int, Result] = {}
        lost = Counter[int]()
        waiting = set(range(self._count))
        while waiting:
            self._bring(waiting)
            calls = {share: self._held[share][0].work(function, argument) for share in waiting}
            for share, call in calls.items():
                found = self._heard(share, call)
                if found is None:
                    del self._held[share]
                    lost[share] += 1
                    if lost[share] > _TRIES:
                        raise EngineError("the same parts lost their workers again and again.")
                    continue
                if found[1] is not None:
                    raise EngineError(f"the work failed: {found[1]}.")
                results |= zip(self._numbers(share), found[0], strict=True)
                waiting.remove(share)
        return [results[number] for number in range(len(self._parts))]

    def _numbers(self, share: int) -> range:
        return range(share, len(self._parts), self._count)

    def _heard(self, share: int, call: Any) -> Any:
        """Return what a worker answers; None if it is lost."""
        while True:
            try:
                return call.result(timeout=_LOOK_SECONDS)
            except TimeoutError:
                if self._held[share][1] not in self._seats():
                    return None
            except (OSError, RuntimeError):
                return None

    def _bring(self, shares: Iterable[int]) -> None:
        """Bring shares that no worker has to those that have fewest."""
        for share in sorted(shares):
            while share not in self._held:
                seats = self._some_seats()
                taken = Counter(seat for _, seat in self._held.values())
                seat = min(seats, key=lambda one: taken[one] / seats.count(one))
                with suppress(OSError, RuntimeError, TimeoutError):
                    self._held[share] = self._settled(share, seat)

    def _settled(self, share: int, seat: str) -> tuple[Any, str]:
        actor = self._client.submit(
            _Share, actor=True, pure=False, workers=[seat], allow_other_workers=True
        ).result(timeout=_PATIENCE)
        # One by one: all parts of a worker, pickled at once, would take their room twice over.
        for number in self._numbers(share):
            actor.keep(self._parts[number]).result(timeout=_PATIENCE)
        return actor, seat

    def _some_seats(self) -> list[str]:
        """Return the seats; wait for some if there are none."""
        end = time.monotonic() + _PATIENCE
        while not (seats := self._seats()):
            if time.monotonic() > end:
                raise EngineError(
                    "the cluster has no workers any more; what they printed tells why."
                )
            time.sleep(0.1)
        return seats

    def _seats(self) -> list[str]:
        """Return the address of the worker of every thread."""
        threads = self._client.nthreads()
        return [address for address, count in threads.items() for _ in range(count)]

    def close(self) -> None:
        """Let the workers forget the parts."""
        self._held.clear()  # an actor ends with the last reference to it
