"""Doing the next piece of work in a thread while the last one is being used."""

import threading
from collections.abc import Generator, Iterator
from queue import Empty, Full, Queue
from typing import TypeVar

__all__ = ["ahead"]

Item = TypeVar("Item")

_CHECK_SECONDS = 0.1


class _End:
    """Comes last, with what went wrong if anything did."""

    def __init__(self, error: BaseException | None = None):
        self.error = error


def ahead(items: Iterator[Item], depth: int) -> Generator[Item, None, None]:
    """Yield the items of an iterator that runs in its own thread, up to ``depth`` items ahead.

    An exception of the iterator comes out here, after the items before it. The thread has ended
    and the iterator is closed when this one ends, is closed or fails.

    Args:
        items: A generator; only the thread touches it from now on.
        depth: How many items may wait.
    """
    queue: Queue[Item | _End] = Queue(maxsize=depth)
    stop = threading.Event()
    thread = threading.Thread(target=_fill, args=(items, queue, stop), daemon=True)
    thread.start()
    try:
        while not isinstance(item := queue.get(), _End):
            yield item
        if item.error is not None:
            raise item.error
    finally:
        stop.set()
        _empty(queue)
        thread.join()


def _fill(items: Iterator[Item], queue: "Queue[Item | _End]", stop: threading.Event) -> None:
    end = _End()
    try:
        for item in items:
            if not _put(queue, item, stop):
                break
    except BaseException as error:
        end = _End(error)
    finally:
        close = getattr(items, "close", None)
        if close is not None:
            close()
    _put(queue, end, stop)


def _put(queue: "Queue[Item | _End]", item: Item | _End, stop: threading.Event) -> bool:
    while not stop.is_set():
        try:
            queue.put(item, timeout=_CHECK_SECONDS)
        except Full:
            continue
        return True
    return False


def _empty(queue: "Queue[Item | _End]") -> None:
    try:
        while True:
            queue.get_nowait()
    except Empty:
        return
