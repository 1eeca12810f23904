"""Making the catalogue's tables and bringing old ones up to date, by one process at a time."""

import os
import sqlite3
import time
from pathlib import Path

import sqlalchemy as sa

from wordsight.errors import LibraryError
from wordsight.library.database import Database
from wordsight.library.schema import SCHEMA_VERSION

__all__ = ["MIGRATIONS", "make_or_upgrade", "version_of"]

MIGRATIONS = Path(__file__).parent / "migrations"
"""Folder with the migrations, in the order of their numbers under ``versions``."""

_VERSION_TABLE = "alembic_version"
_WAIT_SECONDS = 30.0


def version_of(database: Database) -> str | None:
    """Return the version of the catalogue's tables, ``None`` if there are none.

    Raises:
        LibraryError: If the catalogue was made by a newer version of Wordsight.
    """
    with database.read() as connection:
        version = _version(connection)
    if version is not None and version > SCHEMA_VERSION:
        raise LibraryError(
            f"the library {database.location} was made by a newer Wordsight (schema {version}, "
            f"this one knows up to {SCHEMA_VERSION}); update Wordsight to open it."
        )
    return version


def make_or_upgrade(database: Database, migrations: Path = MIGRATIONS) -> None:
    """Bring the tables to the newest version, all of it or nothing.

    Whoever comes while another process is at it waits, and then finds nothing to do.

    Args:
        database: The catalogue, empty or of any older version.
        migrations: Folder of the migrations.
    """
    # Not needed to open a library that is up to date, and slow to import.
    from alembic.config import Config
    from alembic.runtime.environment import EnvironmentContext
    from alembic.script import ScriptDirectory

    if database.location.file is not None:
        _use_write_ahead_log(database.location.file)
    script = ScriptDirectory(os.fspath(migrations))
    with (
        database.without_foreign_keys() as connection,
        EnvironmentContext(
            Config(), script, fn=lambda version, _: script._upgrade_revs("heads", version)
        ) as environment,
    ):
        environment.configure(connection=connection, render_as_batch=True)
        environment.run_migrations()


def _version(connection: sa.Connection) -> str | None:
    if not sa.inspect(connection).has_table(_VERSION_TABLE):
        return None
    found: str | None = connection.scalar(sa.text(f"SELECT version_num FROM {_VERSION_TABLE}"))
    return found


def _use_write_ahead_log(file: Path) -> None:
    # The mode stays with the file. It lets readers read while someone writes. SQLite refuses the
    # change at once, without waiting, while another process has the file open for writing.
    deadline = time.monotonic() + _WAIT_SECONDS
    while True:
        try:
            connection = sqlite3.connect(file.absolute().as_uri() + "?mode=rwc", uri=True)
            try:
                connection.execute("PRAGMA journal_mode = WAL")
            finally:
                connection.close()
            return
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > deadline:
                raise LibraryError(f"cannot make the catalogue {file}: {error}.") from error
            time.sleep(0.05)
