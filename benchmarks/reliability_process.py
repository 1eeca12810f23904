"""Commands in processes of their own, killed with SIGKILL at a chosen point of their work.

A process is forked from one that has imported everything, so that no kill is wasted on the start of
the interpreter. The point is a share of the processor time of an undisturbed run, or the n-th thing
done to a file or asked of the catalogue: time alone hardly hits the moment between two renames.
"""

import mmap
import os
import signal
import struct
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import sqlalchemy as sa

__all__ = ["Command", "Ending", "KillPoint", "call_command", "prepare_to_fork", "run"]

_FILE_EVENTS = frozenset(
    ("os.rename", "os.remove", "os.rmdir", "os.mkdir", "os.link", "os.truncate", "fcntl.flock")
)
_LOOK_EVERY = 0.002  # seconds
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT
# Not the user's files, and not there in every run.
_NOT_WORK = ("__pycache__", "/dev/", "/proc/")


@dataclass(frozen=True)
class KillPoint:
    """When to kill: after so much processor time, or just before an operation.

    Attributes:
        seconds: Of processor time of the process.
        operation: Number of the change to a file or question to the catalogue, from 1.
    """

    seconds: float | None = None
    operation: int | None = None


@dataclass(frozen=True)
class Ending:
    """How a process ended.

    Attributes:
        status: Its exit status; minus the signal that ended it.
        seconds: Processor time it had used when last looked at.
        operations: How many operations it had begun.
        said: What it printed on both channels.
        hung: Whether it had to be stopped because it took too long.
    """

    status: int
    seconds: float
    operations: int
    said: str
    hung: bool = False

    @property
    def killed(self) -> bool:
        """Whether the kill came before the end of the work."""
        return self.status == -signal.SIGKILL and not self.hung


def prepare_to_fork() -> None:
    """Import what the commands use, without running any of it: no thread must be alive yet."""
    import alembic.runtime.migration  # noqa: F401
    import cv2  # noqa: F401
    import numba  # noqa: F401
    import psycopg  # noqa: F401

    import wordsight.alignment.export
    import wordsight.alignment.observe.detections
    import wordsight.alignment.storage
    import wordsight.alignment.tasks
    import wordsight.cli.app
    import wordsight.cli.main
    import wordsight.library
    import wordsight.meaning
    import wordsight.retrieval.text
    import wordsight.video  # noqa: F401


@dataclass(frozen=True)
class Command:
    """A call of the ``wordsight`` program.

    Attributes:
        arguments: What follows its name on the command line.
    """

    arguments: tuple[str, ...]

    def __call__(self) -> None:
        """Run it in this process."""
        from wordsight.cli.main import main

        sys.argv = ["wordsight", *self.arguments]
        main()


def call_command(*arguments: str) -> Command:
    """Return a call of the ``wordsight`` program with these arguments."""
    return Command(arguments)


def run(
    call: Callable[[], None],
    folder: Path,
    *,
    kill: KillPoint | None = None,
    after: Callable[[], None] | None = None,
    patience: float = 300.0,
) -> Ending:
    """Run a call in a process group of its own.

    Args:
        call: What to do there.
        folder: Its working folder.
        kill: When to kill the whole group; never if left out.
        after: Called here once ``kill.seconds`` are used, instead of killing.
        patience: Seconds after which it is taken to hang.
    """
    counter = mmap.mmap(-1, 8)
    with tempfile.TemporaryFile() as words:  # elsewhere: the folder's disk may be full
        child = os.fork()
        if child == 0:
            _be_child(call, folder, words.fileno(), counter, kill)
        status, seconds, hung = _watch(child, kill, after, patience)
        words.seek(0)
        said = words.read().decode("utf-8", "replace")
    (operations,) = struct.unpack("q", counter[:8])
    return Ending(status, seconds, operations, said, hung)


def _be_child(
    call: Callable[[], None], folder: Path, words: int, counter: mmap.mmap, kill: KillPoint | None
) -> None:
    status = 1
    try:
        os.setsid()
        os.chdir(folder)
        os.dup2(words, 1)
        os.dup2(words, 2)
        sys.stdout = os.fdopen(1, "w", buffering=1, encoding="utf-8")
        sys.stderr = os.fdopen(2, "w", buffering=1, encoding="utf-8")
        _count_operations(counter, None if kill is None else kill.operation)
        call()
        status = 0
    except SystemExit as leaving:
        status = leaving.code if isinstance(leaving.code, int) else int(leaving.code is not None)
    except BaseException:
        import traceback

        traceback.print_exc()
    finally:
        with suppress(Exception):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(status)


def _count_operations(counter: mmap.mmap, last: int | None) -> None:
    """Count operations in shared memory, and die before the given one."""
    main_process = os.getpid()

    def count(*_: Any) -> None:
        if os.getpid() != main_process:
            return
        (number,) = struct.unpack("q", counter[:8])
        counter[:8] = struct.pack("q", number + 1)
        if last is not None and number + 1 >= last:
            os.killpg(0, signal.SIGKILL)
            signal.pause()

    def audit(event: str, arguments: Sequence[Any]) -> None:
        opening = event == "open" and isinstance(arguments[2], int) and arguments[2] & _WRITING
        if (opening or event in _FILE_EVENTS) and not _is_aside(arguments[0]):
            count()

    sys.addaudithook(audit)
    sa.event.listen(sa.Engine, "before_cursor_execute", count)
    sa.event.listen(sa.Engine, "commit", count)


def _is_aside(path: Any) -> bool:
    return isinstance(path, str | os.PathLike) and any(
        part in os.fspath(path) for part in _NOT_WORK
    )


def _watch(
    child: int, kill: KillPoint | None, after: Callable[[], None] | None, patience: float
) -> tuple[int, float, bool]:
    """Wait for a process, and kill it when its time has come."""
    limit = None if kill is None else kill.seconds
    deadline, used, hung = time.monotonic() + patience, 0.0, False
    while True:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status), used, hung
        used = max(used, _processor_seconds(child))
        hung = time.monotonic() > deadline
        if limit is not None and used >= limit and after is not None:
            limit = None
            after()
        elif hung or (limit is not None and used >= limit):
            with suppress(ProcessLookupError):
                os.killpg(child, signal.SIGKILL)
            _, status = os.waitpid(child, 0)
            return os.waitstatus_to_exitcode(status), used, hung
        time.sleep(_LOOK_EVERY)


def _processor_seconds(process: int) -> float:
    """Return what all threads of a process have used, to the nanosecond where Linux tells."""
    total = 0
    for thread in Path(f"/proc/{process}/task").glob("*/schedstat"):
        with suppress(OSError, ValueError, IndexError):
            total += int(thread.read_text().split()[0])
    return total / 1e9
