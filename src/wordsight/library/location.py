"""Where a library is: a folder, or a database URL with a folder for the files beside it."""

import os
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError

from wordsight.errors import LibraryError

__all__ = ["CATALOGUE_NAME", "Location"]

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
