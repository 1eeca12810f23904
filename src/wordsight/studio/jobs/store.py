"""Jobs: work too long for a request, kept in a small database so that a restart loses nothing.

A job is a kind and its arguments. It runs in a process of its own, which can be stopped, and which
cannot take the server down. Everything a job does can be begun again, so a job that was running
when the server died is simply put back into the queue. Several servers may work on one queue: each
renews the lease of its running jobs every few seconds, and only jobs of a dead one are taken over.
"""

import json
import os
import socket
import sqlite3
import threading
import time
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from wordsight.errors import WordsightError

__all__ = ["JobError", "JobRecord", "JobStore"]

State = Literal["queued", "running", "done", "failed", "cancelled"]
_COLUMNS = "id, kind, title, arguments, state, progress, message, result, attempt, created, changed"
_TABLE = """
CREATE TABLE IF NOT EXISTS jobs (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    kind TEXT NOT NULL,
    title TEXT NOT NULL,
    arguments TEXT NOT NULL,
    state TEXT NOT NULL,
    progress REAL NOT NULL DEFAULT 0,
    message TEXT NOT NULL DEFAULT '',
    result TEXT,
    attempt INTEGER NOT NULL DEFAULT 1,
    created REAL NOT NULL,
    changed REAL NOT NULL,
    owner TEXT NOT NULL DEFAULT '',
    beat REAL NOT NULL DEFAULT 0
)
"""
_LATER = {"owner": "TEXT NOT NULL DEFAULT ''", "beat": "REAL NOT NULL DEFAULT 0"}
_LEASE = 15.0  # seconds without a sign of life after which a server counts as dead


class JobError(WordsightError):
    """A job that does not exist, or cannot do what is asked of it now."""


@dataclass(frozen=True)
class JobRecord:
    """One piece of work.

    Attributes:
        id: Its number.
        kind: What it does, as in :mod:`wordsight.studio.jobs`.
        title: What it does, for people.
        arguments: What it does it with.
        state: Whether it waits, runs or is over, and how it ended.
        progress: How much is done, 0 to 1.
        message: What it is at, or why it failed.
        result: What came out of it.
        attempt: How often it was begun.
        created: When it was asked for, in seconds since 1970.
        changed: When anything about it last changed.
    """

    id: int
    kind: str
    title: str
    arguments: dict[str, Any]
    state: State
    progress: float
    message: str
    result: dict[str, Any] | None
    attempt: int
    created: float
    changed: float

    @property
    def over(self) -> bool:
        """Whether nothing more will happen to it by itself."""
        return self.state in ("done", "failed", "cancelled")


class JobStore:
    """The jobs of one studio, in a SQLite file that several processes may use at once.

    Args:
        path: The file; made if it is not there.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        self._lock = threading.Lock()
        with self._connect() as connection:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute(_TABLE)
            known = {row[1] for row in connection.execute("PRAGMA table_info(jobs)")}
            for name in _LATER.keys() - known:  # a file of an earlier version
                with suppress(sqlite3.OperationalError):  # another server was first
                    connection.execute(f"ALTER TABLE jobs ADD COLUMN {name} {_LATER[name]}")
        # One connection stays open: without any, the next one has to write files before it can
        # read, which a full disk does not let it.
        self._kept = sqlite3.connect(path, timeout=30, check_same_thread=False)
        self._kept.execute("SELECT count(*) FROM jobs").fetchone()

    def add(self, kind: str, title: str, arguments: Mapping[str, Any]) -> JobRecord:
        """Put a job into the queue."""
        now = time.time()
        with self._connect() as connection:
            row = connection.execute(
                "INSERT INTO jobs (kind, title, arguments, state, created, changed) "
                "VALUES (?, ?, ?, 'queued', ?, ?)",
                (kind, title, json.dumps(dict(arguments)), now, now),
            )
            number = int(row.lastrowid or 0)
        return self.get(number)

    def get(self, number: int) -> JobRecord:
        """Return one job.

        Raises:
            JobError: If there is none of that number.
        """
        with self._connect() as connection:
            row = connection.execute(
                f"SELECT {_COLUMNS} FROM jobs WHERE id = ?", (number,)
            ).fetchone()
        if row is None:
            raise JobError(f"there is no job {number}.")
        return _job(row)

    def list(
        self, *, limit: int = 50, offset: int = 0, without: Collection[str] = ()
    ) -> list[JobRecord]:
        """Return jobs, the newest first, some kinds left out."""
        values = list(without)
        where = f"WHERE kind NOT IN ({', '.join('?' for _ in values)})" if values else ""
        with self._connect() as connection:
            rows = connection.execute(
                f"SELECT {_COLUMNS} FROM jobs {where} ORDER BY id DESC LIMIT ? OFFSET ?",
                (*values, limit, offset),
            ).fetchall()
        return [_job(row) for row in rows]

    def unfinished(self) -> tuple[JobRecord, ...]:
        """Return the jobs that are running or queued."""
        with self._connect() as connection:
            rows = connection.execute(
                f"SELECT {_COLUMNS} FROM jobs WHERE state IN ('queued', 'running') ORDER BY id"
            ).fetchall()
        return tuple(map(_job, rows))

    def find(self, kind: str, arguments: Mapping[str, Any]) -> JobRecord | None:
        """Return the newest job of a kind with just these arguments, if there is one."""
        with self._connect() as connection:
            row = connection.execute(
                f"SELECT {_COLUMNS} FROM jobs WHERE kind = ? AND arguments = ? "
                "ORDER BY id DESC LIMIT 1",
                (kind, json.dumps(dict(arguments))),
            ).fetchone()
        return None if row is None else _job(row)

    def forget(self, kinds: Collection[str], before: float) -> int:
        """Delete jobs of some kinds that were over before a time; return how many there were."""
        marks = ", ".join("?" for _ in kinds)
        with self._connect() as connection:
            done = connection.execute(
                f"DELETE FROM jobs WHERE kind IN ({marks}) AND changed < ? "
                "AND state IN ('done', 'failed', 'cancelled')",
                (*kinds, before),
            )
        return done.rowcount

    def close(self) -> None:
        """Close the connection that is kept; others are opened as they are needed."""
        self._kept.close()

    def take(self, kinds: Collection[str] | None = None, owner: str = "") -> JobRecord | None:
        """Mark the oldest job of the queue, of some kinds or of all, as running and return it."""
        some = "" if kinds is None else f"AND kind IN ({', '.join('?' for _ in kinds)})"
        with self._connect() as connection:
            row = connection.execute(
                "UPDATE jobs SET state = 'running', message = '', changed = ?, owner = ?, beat = ? "
                f"WHERE id = (SELECT id FROM jobs WHERE state = 'queued' {some} ORDER BY id "
                "LIMIT 1) RETURNING id",
                (time.time(), owner, time.time(), *(kinds or ())),
            ).fetchone()
        return None if row is None else self.get(int(row[0]))

    def report(self, number: int, progress: float, message: str) -> None:
        """Note how far a running job is."""
        with self._connect() as connection:
            connection.execute(
                "UPDATE jobs SET progress = ?, message = ?, changed = ? "
                "WHERE id = ? AND state = 'running'",
                (min(max(progress, 0.0), 1.0), message, time.time(), number),
            )

    def finish(
        self, number: int, state: State, message: str = "", result: Mapping[str, Any] | None = None
    ) -> None:
        """Note how a running job ended; one that was cancelled stays so."""
        kept = None if result is None else json.dumps(dict(result))
        with self._connect() as connection:
            connection.execute(
                "UPDATE jobs SET state = ?, message = ?, result = ?, changed = ?, "
                "progress = CASE WHEN ? = 'done' THEN 1 ELSE progress END "
                "WHERE id = ? AND state = 'running'",
                (state, message, kept, time.time(), state, number),
            )

    def cancel(self, number: int) -> JobRecord:
        """Stop a job that waits or runs.

        Raises:
            JobError: If it is over already, or there is none.
        """
        return self._change(
            number, "state = 'cancelled'", ("queued", "running"), "be cancelled any more"
        )

    def retry(self, number: int) -> JobRecord:
        """Put a job that failed or was cancelled back into the queue.

        Raises:
            JobError: If it has not failed, or there is none.
        """
        changes = "state = 'queued', progress = 0, message = '', attempt = attempt + 1"
        return self._change(number, changes, ("failed", "cancelled"), "be tried again")

    def renew(self, owner: str) -> None:
        """Renew the lease of all running jobs of a server."""
        with self._connect() as connection:
            connection.execute(
                "UPDATE jobs SET beat = ? WHERE state = 'running' AND owner = ?",
                (time.time(), owner),
            )

    def is_held(self, number: int, owner: str) -> bool:
        """Tell whether a job is running and belongs to a server."""
        with self._connect() as connection:
            row = connection.execute(
                "SELECT id FROM jobs WHERE id = ? AND state = 'running' AND owner = ?",
                (number, owner),
            ).fetchone()
        return row is not None

    def resume(self, owner: str | None = None) -> int:
        """Put running jobs back into the queue: of servers that are dead, or of one that stops.

        Args:
            owner: The server that stops; all that are dead where left out.

        Returns:
            How many there were.
        """
        with self._connect() as connection:
            rows = connection.execute(
                "SELECT id, owner, beat FROM jobs WHERE state = 'running'"
            ).fetchall()
            lost = [
                (time.time(), *row)
                for row in rows
                if (not _is_alive(row[1], row[2]) if owner is None else row[1] == owner)
            ]
            if lost:  # who only looks must not have to write
                connection.executemany(
                    "UPDATE jobs SET state = 'queued', attempt = attempt + 1, changed = ?, "
                    "message = 'the studio was restarted' "
                    "WHERE id = ? AND owner = ? AND beat = ? AND state = 'running'",
                    lost,
                )
        return len(lost)

    def _change(self, number: int, changes: str, states: tuple[str, ...], what: str) -> JobRecord:
        marks = ", ".join("?" for _ in states)
        with self._connect() as connection:
            done = connection.execute(
                f"UPDATE jobs SET {changes}, changed = ? WHERE id = ? AND state IN ({marks})",
                (time.time(), number, *states),
            )
        job = self.get(number)
        if not done.rowcount:
            raise JobError(f"job {number} is {job.state} and cannot {what}.")
        return job

    @contextmanager
    def _connect(self) -> Iterator[sqlite3.Connection]:
        # A connection per use: cheap, and none is shared between threads.
        with self._lock:
            connection = sqlite3.connect(self.path, timeout=30)
            try:
                with connection:
                    yield connection
            finally:
                connection.close()


def _is_alive(owner: str, beat: float) -> bool:
    """Tell whether the server that runs a job still does; its owner is HOST:PROCESS:NUMBER."""
    if not owner or not 0 <= time.time() - beat < _LEASE:
        return False  # the files of an earlier version name no owner
    host, _, rest = owner.partition(":")
    if host != socket.gethostname():
        return True  # on another machine only its signs of life tell
    try:
        os.kill(int(rest.partition(":")[0]), 0)
    except (ProcessLookupError, ValueError):
        return False
    except PermissionError:
        pass
    return True


def _job(row: tuple[Any, ...]) -> JobRecord:
    (number, kind, title, arguments, state, progress, message, result, *rest) = row
    return JobRecord(
        number,
        kind,
        title,
        json.loads(arguments),
        state,
        progress,
        message,
        None if result is None else json.loads(result),
        *rest,
    )
