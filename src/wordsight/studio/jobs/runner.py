"""Running jobs: a thread of the server that starts a process per job and watches it.

There are two queues: one for work that may take hours, such as learning, and one for what somebody
sits and waits for, such as an alignment.
"""

import os
import subprocess
import sys
import threading
from pathlib import Path

from wordsight.studio.jobs import JOB_KINDS
from wordsight.studio.jobs.store import JobError, JobRecord, JobStore

__all__ = ["JobRunner"]

_LOOK_EVERY = 0.3  # seconds
_PATIENCE = 5.0  # seconds a job has to stop by itself
_QUEUES = tuple(
    frozenset(kind for kind, task in JOB_KINDS.items() if task.awaited is awaited)
    for awaited in (False, True)
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
        self._running: dict[int, tuple[str, subprocess.Popen[bytes]]] = {}
        self._stop = threading.Event()
        self._wake = threading.Event()
        self._thread = threading.Thread(target=self._loop, name="wordsight-jobs", daemon=True)

    def start(self) -> None:
        """Take up what a server before this one left, and begin."""
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
            self._look_after()
            for queue in _QUEUES:
                self._fill(queue)
            self._wake.wait(_LOOK_EVERY)
            self._wake.clear()
        for _, process in self._running.values():
            _end(process)

    def _fill(self, queue: frozenset[str]) -> None:
        busy = sum(kind in queue for kind, _ in self._running.values())
        while busy < self._at_once:
            job = self._store.take(queue)
            if job is None:
                return
            self._running[job.id] = (job.kind, self._begin(job))
            busy += 1

    def _begin(self, job: JobRecord) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "wordsight.studio.jobs.job_process"]
        log = self._store.path.with_name(f"job-{job.id}.log")
        with Path(log).open("wb") as errors:
            # In a session of its own, which Ctrl-C does not reach: a job that it ended would count
            # as failed, while those that stop() ends go on when the studio starts again.
            return subprocess.Popen(
                [*command, str(self._store.path), str(job.id), self._library, str(os.getpid())],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=errors,
                start_new_session=True,
            )

    def _look_after(self) -> None:
        for number, (_, process) in list(self._running.items()):
            if self._state(number) != "running" and process.poll() is None:
                _end(process)
            if process.poll() is not None:
                # A process that ended without a word crashed: it says so itself otherwise.
                self._store.finish(
                    number, "failed", f"the work ended unexpectedly (exit {process.returncode})."
                )
                del self._running[number]
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
