"""The connection to the catalogue: SQLite or PostgreSQL, transactions, errors in plain words."""

import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import sqlalchemy as sa
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, OperationalError, SQLAlchemyError

from wordsight.errors import LibraryError

__all__ = ["CATALOGUE_NAME", "Database", "Location"]


# Where a library is: a folder, or a database URL with a folder for the files beside it.

CATALOGUE_NAME = "catalogue.sqlite"
"""The database file inside a library that is a folder."""

_POSTGRES = "postgresql+psycopg"
_DRIVERS = {"postgresql": _POSTGRES, "postgres": _POSTGRES, _POSTGRES: _POSTGRES}


@dataclass(frozen=True)
class Location:
    """A parsed ``where``.

    Attributes:
        url: The database, with the driver we use.
        folder: Where the files are, if ``where`` tells; a server's catalogue knows its own.
        bucket: The address the files are at, if not in the folder, which then has copies.
        apart: Whether the place of the files was named, and does not follow from the catalogue's.
    """

    url: URL
    folder: Path | None
    bucket: str | None = None
    apart: bool = False

    @classmethod
    def parse(cls, where: str | os.PathLike[str]) -> "Location":
        """Understand a folder, ``sqlite:///file`` or ``postgresql://user@host/database``.

        Raises:
            LibraryError: If it is a URL of another kind or not one at all.
        """
        text = os.fspath(where)
        if "://" not in text:
            folder = Path(text).expanduser().absolute()
            return cls(URL.create("sqlite", database=str(folder / CATALOGUE_NAME)), folder)
        try:
            url = make_url(text)
        except (ArgumentError, ValueError):
            # The text itself may hold a password, so it is not repeated.
            raise LibraryError(
                "the library's address is not a database URL; expected a folder or something like "
                "postgresql://user@host:5432/database."
            ) from None
        if url.drivername == "sqlite":
            return cls._sqlite(url)
        if url.drivername in _DRIVERS:
            return cls(url.set(drivername=_DRIVERS[url.drivername]), None)
        raise LibraryError(
            f"a library cannot live in a database of the kind {url.drivername}://; give a folder, "
            "sqlite:///file or postgresql://user@host/database."
        )

    @classmethod
    def _sqlite(cls, url: URL) -> "Location":
        if not url.database or url.database == ":memory:" or url.query:
            raise LibraryError(
                "sqlite:// needs a file and nothing else, as in sqlite:////absolute/path.sqlite."
            )
        file = Path(url.database).expanduser().absolute()
        beside = file.with_name(f"{file.stem}-files")
        folder = file.parent if file.name == CATALOGUE_NAME else beside
        return cls(URL.create("sqlite", database=str(file)), folder)

    @property
    def file(self) -> Path | None:
        """The database file, if it is one."""
        if self.url.drivername == "sqlite" and self.url.database:
            return Path(self.url.database)
        return None

    def __str__(self) -> str:
        """Name the place for people, without a password or other secrets of the URL."""
        if self.file is not None:
            inside = self.file.name == CATALOGUE_NAME and self.folder == self.file.parent
            return str(self.folder if inside else self.file)
        shown = self.url.set(drivername="postgresql", query={})
        return shown.render_as_string(hide_password=True)


CONNECT_SECONDS = 5
"""How long a database server may take to answer before we call it out of reach."""

RESTART_SECONDS = 20.0
"""How long a server that answered before may be away, as when it is restarted."""

_BUSY_SECONDS = 60.0  # how long a writer waits for another; each writes for milliseconds
_WRITING = "wordsight_writing"
# Any number will do, as long as all of Wordsight uses the same and nothing else does.
_ADVISORY_LOCK = 0x776F7264


class Database:
    """Transactions on the catalogue.

    Writing transactions of all processes run one after the other, so that what one of them reads
    still holds when it writes, and files can be put in place together with their rows.

    Args:
        location: Which database.
        create: Whether a database file may come into being.
        read_only: Never write, and read even from a medium that cannot be written.
    """

    def __init__(self, location: Location, *, create: bool = False, read_only: bool = False):
        self.location = location
        self.read_only = read_only
        self._has_answered = False
        self._engine = (
            _postgres_engine(location)
            if location.file is None
            else _sqlite_engine(location.file, _mode(location.file, create, read_only))
        )

    @contextmanager
    def read(self) -> Iterator[sa.Connection]:
        """Give a connection that sees one state of the catalogue until the block ends."""
        with self._in_plain_words(), self._connect() as connection:
            yield connection

    @contextmanager
    def write(self) -> Iterator[sa.Connection]:
        """Give a connection with the sole right to write; commits if the block succeeds."""
        self.check_writable()
        with self._in_plain_words(), self._connect() as connection:
            connection.execution_options(**{_WRITING: True})
            with connection.begin():
                if connection.dialect.name == "postgresql":
                    connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_ADVISORY_LOCK)))
                yield connection

    def check_writable(self) -> None:
        """Refuse in plain words, before any work, what could not be entered after it.

        Raises:
            LibraryError: If the library is read-only.
        """
        if self.read_only:
            raise LibraryError(
                f"the library {self.location} is read-only; copy it to a place you may write to, "
                "or ask its owner for the right."
            )

    @contextmanager
    def without_foreign_keys(self) -> Iterator[sa.Connection]:
        """Like :meth:`write`, but for migrations: SQLite changes a table by building a new one.

        Dropping the old table would take along every row that refers to it, so SQLite does not
        look at references meanwhile; they are checked before the commit.
        """
        if self.location.file is None:
            with self.write() as connection:
                yield connection
            return
        engine = _sqlite_engine(self.location.file, "rw", foreign_keys=False)
        try:
            with self._in_plain_words(), engine.connect() as connection:
                connection.execution_options(**{_WRITING: True})
                with connection.begin():
                    yield connection
                    if connection.exec_driver_sql("PRAGMA foreign_key_check").first():
                        raise LibraryError(
                            f"updating the library {self.location} would break references in it; "
                            "nothing was changed. Please report this."
                        )
        finally:
            engine.dispose()

    def close(self) -> None:
        """Close all connections; the last one tidies SQLite's files."""
        self._engine.dispose()

    def _connect(self) -> sa.Connection:
        """Connect; before a transaction begins, a server that is being restarted is waited for."""
        waits = self._has_answered and self.location.file is None
        deadline = time.monotonic() + (RESTART_SECONDS if waits else 0.0)
        while True:
            try:
                connection = self._engine.connect()
            except OperationalError:
                if time.monotonic() >= deadline:
                    raise
                time.sleep(0.2)
            else:
                self._has_answered = True
                return connection

    @contextmanager
    def _in_plain_words(self) -> Iterator[None]:
        try:
            yield
        except DBAPIError as error:
            raise LibraryError(_told(str(self.location), error)) from error
        except SQLAlchemyError as error:
            raise LibraryError(f"the library {self.location} failed: {error}") from error


def _postgres_engine(location: Location) -> sa.Engine:
    try:
        return sa.create_engine(
            location.url,
            pool_pre_ping=True,
            connect_args={"connect_timeout": CONNECT_SECONDS, "application_name": "wordsight"},
        )
    except ImportError as error:
        raise LibraryError(
            "a library in PostgreSQL needs the driver psycopg: pip install 'wordsight[postgres]'"
        ) from error


def _mode(file: Path, create: bool, read_only: bool) -> str:
    if not read_only:
        return "rwc" if create else "rw"
    # Reading a write-ahead log needs files beside the database. Where they are not and cannot be
    # made, no other process can be writing either, which is what "immutable" promises.
    log = file.with_name(file.name + "-wal")
    if log.exists() or os.access(file.parent, os.W_OK):
        return "ro"
    return "ro&immutable=1"


def _sqlite_engine(file: Path, mode: str, *, foreign_keys: bool = True) -> sa.Engine:
    def connect() -> sqlite3.Connection:
        connection = sqlite3.connect(
            f"{file.absolute().as_uri()}?mode={mode}",
            uri=True,
            timeout=_BUSY_SECONDS,
            check_same_thread=False,
            isolation_level=None,  # transactions begin where we say, see below
        )
        connection.execute(f"PRAGMA foreign_keys = {'ON' if foreign_keys else 'OFF'}")
        # A commit is on disk when it returns, even if the power fails; we commit once per video,
        # so it costs nothing that anyone would notice.
        connection.execute("PRAGMA synchronous = FULL")
        return connection

    engine = sa.create_engine("sqlite://", creator=connect, poolclass=sa.pool.QueuePool)
    sa.event.listen(engine, "begin", _begin)
    return engine


def _begin(connection: sa.Connection) -> None:
    # A reader that later turns writer can be refused at once; a writer from the start waits.
    writing = connection.get_execution_options().get(_WRITING, False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writing else "BEGIN")


def _told(place: str, error: DBAPIError) -> str:
    said = str(error.orig).strip().partition("\n")[0]
    cases: tuple[tuple[tuple[str, ...], str], ...] = (
        (
            ("readonly database", "read-only"),
            f"the library {place} is read-only; copy it to a place you may write to, or ask its "
            "owner for the right",
        ),
        (
            ("disk is full", "no space left"),
            f"there is no room left for the library {place}; free some space and run the same "
            "command again",
        ),
        (
            ("disk i/o error",),
            f"the disk of the library {place} is full or fails; free some space and run the same "
            "command again",
        ),
        (
            ("not a database", "malformed", "disk image"),
            f"the catalogue of the library {place} is damaged; restore it from a copy, or make a "
            "new library and add the videos again",
        ),
        (
            ("unable to open",),
            f"the catalogue of the library {place} cannot be opened; check that it exists and "
            "that you may write to its folder",
        ),
        (("is locked",), f"the library {place} is busy with another process; try again later"),
        (
            ("server closed the connection", "terminating connection", "connection is lost"),
            f"the library's database {place} went away in the middle of the work; nothing is "
            "lost: run the same command again when it is back",
        ),
        (
            ("connection", "connect", "authentication", "timeout", "resolve", "does not exist"),
            f"the library's database {place} does not answer as it should; check the address, "
            "that the server is running, and your rights",
        ),
    )
    for signs, words in cases:
        if any(sign in said.lower() for sign in signs):
            return f"{words} ({said})."
    return f"the library {place} failed: {said}."
