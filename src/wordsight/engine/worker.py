"""Both sides of a worker of :class:`wordsight.engine.Processes`, which does one item at a time.

It lives as long as its parent: the parent holds the other end of its standard input and never
writes there, so that the end of that pipe means that the parent is gone, however it went.
"""

import os
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, Pipe
from types import FrameType
from typing import Any, Generic, TypeVar

from wordsight.engine.base import message_of, receiving_notes
from wordsight.interrupts import interrupts_held_back

__all__ = [
    "DONE",
    "FAILED",
    "NOTE",
    "READY",
    "UNUSABLE",
    "WorkItem",
    "WorkerProcess",
    "cause_of",
    "main",
]

Item = TypeVar("Item")

READY, NOTE, DONE, FAILED, UNUSABLE = "ready", "note", "done", "failed", "unusable"
"""The first of every pair a worker sends: what the second is."""

_LIFELINE = 0  # standard input
_CHECK_SECONDS = 1.0
_GRACE_SECONDS = 2.0
_AGAIN_SECONDS = 0.02

# Each worker's share of the cores, set for the libraries that start threads of their own.
_THREAD_SETTINGS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "OPENCV_FOR_THREADS_NUM")


@dataclass
class WorkItem(Generic[Item]):
    """An item on its way: its number, and how many workers died over it."""

    number: int
    item: Item
    deaths: int = 0


class WorkerProcess(Generic[Item]):
    """One process and the task it has at hand."""

    def __init__(self, function: Callable[[Item], Any], threads: int):
        ours, theirs = Pipe()
        call = (
            f"import sys; sys.path[:] = {sys.path!r}; "
            f"from wordsight.engine.worker import main; main({theirs.fileno()}, {os.getpid()})"
        )
        with theirs, interrupts_held_back():
            self.process = subprocess.Popen(
                [sys.executable, "-c", call],
                stdin=subprocess.PIPE,
                stdout=2,  # results of the program go to standard output, chatter does not
                pass_fds=[theirs.fileno()],
                env={**{name: str(threads) for name in _THREAD_SETTINGS}, **os.environ},
            )
        self.connection: Connection[Any, Any] = ours
        self.ready = False
        self.task: WorkItem[Item] | None = None
        with suppress(OSError):  # if it died at once, handing out its first item will tell
            self.connection.send(function)

    def end(self, deadline: float) -> int:
        """Wait for the process until a moment of the monotonic clock, then kill it."""
        try:
            status = self.process.wait(max(0.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            self.process.kill()
            status = self.process.wait()
        self.release()
        return status

    def release(self) -> None:
        """Close our ends of the pipes, which tells a worker that is idle to go."""
        self.connection.close()
        if self.process.stdin is not None:
            self.process.stdin.close()


def cause_of(status: int) -> str:
    """Put the exit status of a process into words."""
    if status >= 0:
        return f"ended with exit status {status}"
    try:
        name = signal.Signals(-status).name
    except ValueError:
        name = f"signal {-status}"
    hint = {
        "SIGKILL": "; most likely there was no memory left",
        "SIGSEGV": "; most likely the file breaks its decoder",
        "SIGABRT": "; most likely the file breaks its decoder",
    }.get(name, "")
    return f"was ended by {name}{hint}"


def main(descriptor: int, parent: int) -> None:
    """Serve items from a connection until it closes or the parent is gone.

    Args:
        descriptor: File descriptor of our end of the connection.
        parent: Process id of the parent.
    """
    # Ctrl-C reaches the whole group; the parent decides what becomes of us.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # Held back by the parent while this interpreter started; programs we start may be interrupted.
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])
    signal.signal(signal.SIGTERM, _leave)
    threading.Thread(target=_leave_with, args=(parent,), daemon=True).start()
    connection: Connection[Any, Any] = Connection(descriptor)
    with suppress(EOFError, BrokenPipeError, ConnectionResetError):
        _serve(connection)
    sys.stderr.flush()
    os._exit(0)  # nothing is left to tidy, and taking an interpreter down costs time


def _serve(connection: "Connection[Any, Any]") -> None:
    try:
        function = connection.recv()
    except (ImportError, AttributeError) as error:
        connection.send((UNUSABLE, message_of(error)))
        return
    connection.send((READY, None))
    with receiving_notes(lambda note: connection.send((NOTE, note))):
        while True:
            item = connection.recv()
            try:
                reply = (DONE, function(item))
            except Exception as error:
                reply = (FAILED, message_of(error))
            _send(connection, reply)


def _send(connection: "Connection[Any, Any]", reply: tuple[str, Any]) -> None:
    try:
        connection.send(reply)
    except (EOFError, OSError):
        raise EOFError from None
    except Exception as error:  # whatever pickle says of a result it cannot send
        connection.send((FAILED, f"the result cannot be sent back: {message_of(error)}"))


def _leave(number: int, frame: FrameType | None) -> None:
    # An exception rather than the default, so that half-written files are removed on the way out;
    # a second signal must not interrupt that.
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    sys.unraisablehook = _leave_later
    raise SystemExit(128 + number)


def _leave_later(dropped: "sys.UnraisableHookArgs") -> None:
    """Leave once more where Python dropped the first time, as in a generator's end."""
    if isinstance(dropped.exc_value, SystemExit):
        signal.signal(signal.SIGTERM, _leave)
        threading.Timer(_AGAIN_SECONDS, os.kill, (os.getpid(), signal.SIGTERM)).start()


def _leave_with(parent: int) -> None:
    # A pipe that closes is noticed at once; the parent's id also catches the rare case that
    # another process has inherited the pipe's other end.
    while os.getppid() == parent:
        readable, _, _ = select.select([_LIFELINE], [], [], _CHECK_SECONDS)
        if readable and not os.read(_LIFELINE, 1):
            break
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(_GRACE_SECONDS)
    os._exit(1)
