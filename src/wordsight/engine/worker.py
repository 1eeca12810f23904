"""The far side of :class:`wordsight.engine.Processes`: a process that does one item at a time.

It lives as long as its parent: the parent holds the other end of its standard input and never
writes there, so that the end of that pipe means that the parent is gone, however it went.
"""

import os
import select
import signal
import sys
import threading
import time
from contextlib import suppress
from multiprocessing.connection import Connection
from types import FrameType
from typing import Any

from wordsight.engine.base import message_of, receiving_notes

__all__ = ["DONE", "FAILED", "NOTE", "READY", "UNUSABLE", "main"]

READY, NOTE, DONE, FAILED, UNUSABLE = "ready", "note", "done", "failed", "unusable"
"""The first of every pair a worker sends: what the second is."""

_LIFELINE = 0  # standard input
_CHECK_SECONDS = 1.0
_GRACE_SECONDS = 2.0
_AGAIN_SECONDS = 0.02


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
