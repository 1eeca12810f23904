"""Running jobs: a thread of the server that starts a process per job and watches it.

There are four queues: one for work that may take hours, such as learning, one for what a user
waits for, such as an alignment, one for watches, and one for questions. Those are answered by
processes that keep running, two at most, so that pages stay quick however many are asked.
"""

import os
import secrets
import socket
import sqlite3
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

from wordsight.studio.jobs import JOB_KINDS
from wordsight.studio.jobs.store import JobError, JobRecord, JobStore

__all__ = ["JobRunner"]

_LOOK_EVERY = 0.3  # seconds
_PATIENCE = 5.0  # seconds a job has to stop by itself
_RENEW_EVERY = 3.0  # seconds between two signs of life
_LONGEST_ANSWER = 600.0  # seconds a question may take
_ANSWERS_AT_ONCE = 2
_WARM = frozenset(kind for kind, task in JOB_KINDS.items() if task.warm)
_LASTING = frozenset(kind for kind, task in JOB_KINDS.items() if task.lasting)
_QUEUES = (
    *(
        frozenset(k for k, task in JOB_KINDS.items() if task.awaited is awaited) - _WARM - _LASTING
        for awaited in (False, True)
    ),
    _LASTING,
)


class JobRunner:
    """Runs the jobs of a store, some at once, each in a process of its own.

    Args:
        store: The jobs.
        library: The library they work on.
        at_once: How many of each queue may run side by side.
    """

    def __init__(self, store: JobStore, library: str, at_once: int = 1) -> None:
        self._store = store
        self._library = library
        self._at_once = at_once
        self._owner = f"{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(4)}"
        self._running: dict[int, tuple[str, subprocess.Popen[bytes]]] = {}
        self._idle: list[subprocess.Popen[bytes]] = []
        self._begun: dict[int, float] = {}
        self._renewed = 0.0
        self._stop = threading.Event()
        self._wake = threading.Event()
        self._thread = threading.Thread(target=self._loop, name="wordsight-jobs", daemon=True)

    def start(self) -> None:
        """Take up what a server that died has left, and begin."""
        self._store.resume()
        self._thread.start()

    def stop(self) -> None:
        """End the processes; their jobs go on when the studio starts again."""
        self._stop.set()
        self._wake.set()
        if self._thread.is_alive():
            self._thread.join(_PATIENCE + 1)

    def wake(self) -> None:
        """Look at the queue now."""
        self._wake.set()

    def _loop(self) -> None:
        while not self._stop.is_set():
            # A full disk stops the queue, but not this thread: it goes on when there is room.
            with suppress(sqlite3.OperationalError, OSError):
                self._stay_alive()
                self._look_after()
                for queue in _QUEUES:
                    self._fill(queue, self._at_once)
                self._fill(_WARM, _ANSWERS_AT_ONCE if self._at_once else 0)
            self._wake.wait(_LOOK_EVERY)
            self._wake.clear()
        for process in (*(process for _, process in self._running.values()), *self._idle):
            _end(process)
        with suppress(sqlite3.OperationalError):
            self._store.resume(self._owner)

    def _stay_alive(self) -> None:
        """Renew the lease of what runs here, and take over from servers that are dead."""
        if time.monotonic() - self._renewed < _RENEW_EVERY:
            return
        self._renewed = time.monotonic()
        if self._running:
            self._store.renew(self._owner)
        self._store.resume()

    def _fill(self, queue: frozenset[str], at_once: int) -> None:
        busy = sum(kind in queue for kind, _ in self._running.values())
        while busy < at_once:
            job = self._store.take(queue, self._owner)
            if job is None:
                return
            self._running[job.id] = (job.kind, self._begin(job))
            self._begun[job.id] = time.monotonic()
            busy += 1

    def _begin(self, job: JobRecord) -> subprocess.Popen[bytes]:
        if job.kind not in _WARM:
            return self._start(str(job.id), f"job-{job.id}.log")
        while self._idle:
            worker = self._idle.pop()
            if worker.poll() is None:
                break
        else:
            worker = self._start("-", "answers.log")
        assert worker.stdin is not None
        with suppress(BrokenPipeError):  # one that has just died is seen to be dead soon enough
            worker.stdin.write(f"{job.id}\n".encode())
            worker.stdin.flush()
        return worker

    def _start(self, what: str, log: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "wordsight.studio.jobs.job_process"]
        with Path(self._store.path.with_name(log)).open("wb") as errors:
            # In a session of its own, which Ctrl-C does not reach: a job that it ended would count
            # as failed, while those that stop() ends go on when the studio starts again.
            return subprocess.Popen(
                [*command, str(self._store.path), what, self._library, str(os.getpid())],
                stdin=subprocess.PIPE if what == "-" else subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=errors,
                start_new_session=True,
            )

    def _look_after(self) -> None:
        for number, (kind, process) in list(self._running.items()):
            warm = kind in _WARM
            if warm and time.monotonic() - self._begun[number] > _LONGEST_ANSWER:
                minutes = round(_LONGEST_ANSWER / 60)
                self._store.finish(number, "failed", f"this took more than {minutes} minutes.")
            held = self._store.is_held(number, self._owner)
            answered = warm and self._state(number) in ("done", "failed")
            if not held and answered and self._begun[number] + _LONGEST_ANSWER > time.monotonic():
                self._idle.append(process)
            elif not held and process.poll() is None:
                _end(process)
            elif process.poll() is None:
                continue
            else:
                # A process that ended without a word crashed: it says so itself otherwise.
                self._store.finish(
                    number, "failed", f"the work ended unexpectedly (exit {process.returncode})."
                )
            del self._running[number], self._begun[number]
            self._store.path.with_name(f"job-{number}.log").unlink(missing_ok=True)

    def _state(self, number: int) -> str:
        try:
            return self._store.get(number).state
        except JobError:
            return "cancelled"


def _end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(_PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
