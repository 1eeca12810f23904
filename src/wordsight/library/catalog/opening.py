"""Creating and opening a library, with a clear error for everything that can go wrong."""

import os
import secrets
import sqlite3
import tempfile
import time
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import sqlalchemy as sa

from wordsight import __version__
from wordsight.errors import LibraryError
from wordsight.library.catalog import queries
from wordsight.library.catalog.database import CATALOGUE_NAME, Database, Location
from wordsight.library.catalog.queries import put_setting
from wordsight.library.catalog.schema import SCHEMA_VERSION
from wordsight.library.files.bucket import Bucket, is_url, shown_url
from wordsight.library.files.remote_store import cache_folder, store_at
from wordsight.library.files.store import ArtefactStore

__all__ = ["MIGRATIONS", "create_library", "make_or_upgrade", "open_library", "version_of"]


# Making the catalogue's tables and bringing old ones up to date, by one process at a time.

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

    A process that comes while another is at it waits, and then finds nothing to do.

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


_CREATED, _FOLDER, _APART, _ID = "created_at", "artefacts", "artefacts_apart", "library_id"
_MARK = "wordsight-library.txt"  # in a bucket, says which library its files belong to
# All there can be in a folder where making a library was interrupted.
_OWN_NAMES = {CATALOGUE_NAME, f"{CATALOGUE_NAME}-wal", f"{CATALOGUE_NAME}-shm", "staging"}


def create_library(
    where: str | os.PathLike[str], artefacts: str | os.PathLike[str] | None
) -> tuple[Database, ArtefactStore]:
    """Make an empty library; one whose making was interrupted is completed.

    Raises:
        LibraryError: If there is one already, the folder is in use or cannot be made, or a server
            is named without a folder for the files.
    """
    location = _located(where, artefacts)
    if location.folder is None:
        raise LibraryError(
            f"a library in {location} needs a folder for its files too; name one (--artefacts "
            "FOLDER). It is remembered in the catalogue."
        )
    _make_folder(location)
    if location.file is not None and not location.file.exists():
        _check_empty(location.folder)  # before anything of ours is in it
    database = Database(location, create=True)
    try:
        if version_of(database) is not None and _setting(database, _CREATED) is not None:
            raise LibraryError(f"there is a library at {location} already; open it instead.")
        if location.bucket is None:
            _check_empty(location.folder)
        make_or_upgrade(database)
        if location.bucket is not None:
            _mark_bucket(database, location.bucket)
        with database.write() as connection:
            put_setting(connection, _FOLDER, location.bucket or str(location.folder))
            if location.apart:
                put_setting(connection, _APART, "yes")
            put_setting(connection, "created_by", f"wordsight {__version__}")
            put_setting(connection, _CREATED, datetime.now(UTC).isoformat())
    except BaseException:
        database.close()
        raise
    return database, store_at(location.folder, location.bucket)


def open_library(
    where: str | os.PathLike[str], artefacts: str | os.PathLike[str] | None, create: bool
) -> tuple[Database, ArtefactStore]:
    """Open a library, bringing an old one up to date.

    Raises:
        LibraryError: If there is none, it is damaged, newer than this program or out of reach.
    """
    location = _located(where, artefacts)
    if location.file is not None and not location.file.is_file():
        if create:
            return _create_or_join(where, artefacts)
        raise _no_library(location)
    database = Database(location, read_only=_is_read_only(location))
    try:
        version = version_of(database)
        if version is None or _setting(database, _CREATED) is None:
            if not create:
                raise _no_library(location)
            database.close()
            return _create_or_join(where, artefacts)
        if version < SCHEMA_VERSION:
            _upgrade(database, version)
        store = store_at(*_place_of(database))
    except BaseException:
        database.close()
        raise
    return database, store


def _create_or_join(
    where: str | os.PathLike[str], artefacts: str | os.PathLike[str] | None
) -> tuple[Database, ArtefactStore]:
    """Make a library, or open the one that another process made at this very moment."""
    try:
        return create_library(where, artefacts)
    except LibraryError:
        try:
            return open_library(where, artefacts, create=False)
        except LibraryError:
            pass  # no other process did: what was in the way of making it is the news
        raise


def _located(where: str | os.PathLike[str], artefacts: str | os.PathLike[str] | None) -> Location:
    location = Location.parse(where)
    if location.folder is not None and location.folder.is_file():
        raise LibraryError(f"{location.folder} is a file; a library is a folder.")
    if artefacts is None:
        return location
    place = os.fspath(artefacts)
    if is_url(place):
        folder = location.folder or cache_folder(place)
        return replace(location, folder=folder, bucket=place.rstrip("/"), apart=True)
    folder = Path(place.partition("://")[2] or place).expanduser().absolute()
    return replace(location, folder=folder, apart=True)


def _make_folder(location: Location) -> None:
    for folder in {location.folder, location.file.parent if location.file else None} - {None}:
        try:
            Path(str(folder)).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise LibraryError(
                f"cannot make the library's folder {folder}: {error.strerror}; choose a place you "
                "may write to."
            ) from error
        if not os.access(str(folder), os.W_OK):
            raise LibraryError(f"the folder {folder} is read-only; choose another for the library.")


def _check_empty(folder: Path) -> None:
    foreign = sorted(path.name for path in folder.iterdir() if path.name not in _OWN_NAMES)
    if foreign:
        raise LibraryError(
            f"the folder {folder} is not empty (it holds {', '.join(foreign[:3])}"
            f"{', ...' if len(foreign) > 3 else ''}); choose a new or empty one for the library."
        )


def _is_read_only(location: Location) -> bool:
    if location.file is None:
        return False
    return not (os.access(location.file, os.W_OK) and os.access(location.file.parent, os.W_OK))


def _upgrade(database: Database, version: str) -> None:
    if database.read_only:
        raise LibraryError(
            f"the library {database.location} was made by an older Wordsight (schema {version}) "
            "and must be brought up to date, but it is read-only; copy it to a place you may "
            "write to."
        )
    make_or_upgrade(database)


def _mark_bucket(database: Database, url: str) -> None:
    """Claim a bucket for a library; two in one place would take each other's files for orphans."""
    bucket = Bucket(url)
    name = _setting(database, _ID)
    if name is None:
        name = secrets.token_hex(16)
        with database.write() as connection:
            put_setting(connection, _ID, name)
    mark = bucket.read(_MARK)
    if (mark is not None and mark.decode("utf-8", "replace").strip() != name) or (
        mark is None and bucket.names()
    ):
        raise LibraryError(
            f"{shown_url(url)} is not empty; choose a new or empty place for the library's files."
        )
    with tempfile.TemporaryDirectory() as home:
        file = Path(home) / _MARK
        file.write_text(name + "\n", encoding="utf-8")
        bucket.send(file, _MARK)


def _place_of(database: Database) -> tuple[Path, str | None]:
    """Return the folder of a library's files, and the bucket they are in if they are in one."""
    # What is named now, or the folder the catalogue is in, counts for more than a remembered one:
    # libraries get moved. Files that were put apart from the catalogue did not move with it.
    location, remembered = database.location, _setting(database, _FOLDER)
    if location.apart and location.bucket is not None:
        return location.folder or cache_folder(location.bucket), location.bucket
    apart = location.folder is None or _setting(database, _APART) is not None
    if remembered and apart and not location.apart:
        if is_url(remembered):
            own = None if database.read_only else location.folder
            return own or cache_folder(remembered), remembered
        return _existing(database, Path(remembered)), None
    return _existing(database, location.folder), None


def _existing(database: Database, folder: Path | None) -> Path:
    if folder is None or not folder.is_dir():
        raise LibraryError(
            f"the files of the library {database.location} should be in {folder}, which is not "
            "there; if they were moved, name their folder (--artefacts FOLDER)."
        )
    return folder


def _setting(database: Database, key: str) -> str | None:
    with database.read() as connection:
        return queries.setting(connection, key)


def _no_library(location: Location) -> LibraryError:
    return LibraryError(
        f"there is no library at {location}; make one with `wordsight init`, or check the name."
    )
