"""Running jobs: a thread of the server that starts a process per job and watches it."""

import subprocess
import sys
import threading
from pathlib import Path

from wordsight.studio.jobs import Job, JobError, JobStore

__all__ = ["JobRunner"]

_LOOK_EVERY = 0.3  # seconds
_PATIENCE = 5.0  # seconds a job has to stop by itself


class JobRunner:
    """Runs the jobs of a store, some at once, each in a process of its own.

    Args:
        store: The jobs.
        library: The library they work on.
        at_once: How many may run side by side.
    """

    def __init__(self, store: JobStore, library: str, at_once: int = 1) -> None:
        self._store = store
        self._library = library
        self._at_once = at_once
        self._running: dict[int, subprocess.Popen[bytes]] = {}
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
            while len(self._running) < self._at_once:
                job = self._store.take()
                if job is None:
                    break
                self._running[job.id] = self._begin(job)
            self._wake.wait(_LOOK_EVERY)
            self._wake.clear()
        for process in self._running.values():
            _end(process)

    def _begin(self, job: Job) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "wordsight.studio.work"]
        log = self._store.path.with_name(f"job-{job.id}.log")
        with Path(log).open("wb") as errors:
            return subprocess.Popen(
                [*command, str(self._store.path), str(job.id), self._library],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=errors,
            )

    def _look_after(self) -> None:
        for number, process in list(self._running.items()):
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
