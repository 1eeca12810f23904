"""Ctrl-C delayed while a process is started, until its caller owns it."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["interrupts_held_back"]


@contextmanager
def interrupts_held_back() -> Iterator[None]:
    """Hold Ctrl-C back here for a moment, and in what is started meanwhile until it lets it in.

    Ctrl-C reaches the whole group. A new interpreter that it meets before the first line of ours
    would die with a traceback; the signal mask is inherited, so it waits there for that line. And
    here a worker that is started but not yet owned by its caller would not be ended.
    """
    came: list[int] = []
    handler = signal.getsignal(signal.SIGINT)
    # A mask is this thread's own: where there are others, one of them takes the signal, and Python
    # handles it in the main thread all the same. Noting it there comes first and goes last, so
    # that no interruption can leave the mask as it is.
    ours = threading.current_thread() is threading.main_thread() and handler is not None
    if ours:
        signal.signal(signal.SIGINT, lambda number, frame: came.append(number))
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        if ours:
            signal.signal(signal.SIGINT, handler)
        if came:
            signal.raise_signal(signal.SIGINT)
