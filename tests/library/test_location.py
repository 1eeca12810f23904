"""Where a library is, and that no password is ever shown."""

from pathlib import Path

import pytest

from wordsight.errors import LibraryError
from wordsight.library.catalog.database import Location


@pytest.mark.parametrize(
    ("where", "database", "folder"),
    [
        # a folder
        ("/data/lab", "/data/lab/catalogue.sqlite", "/data/lab"),
        # a folder with spaces and an emoji
        ("/data/my lab 🧪", "/data/my lab 🧪/catalogue.sqlite", "/data/my lab 🧪"),
        # a database file of one's own, with a folder beside it
        ("sqlite:////data/lab.db", "/data/lab.db", "/data/lab-files"),
        # the database file inside a library
        ("sqlite:////data/lab/catalogue.sqlite", "/data/lab/catalogue.sqlite", "/data/lab"),
    ],
)
def test_files_and_folders(where, database, folder):
    location = Location.parse(where)
    assert (location.url.database, location.folder) == (database, Path(folder))
    assert location.file == Path(database)


def test_a_relative_folder_becomes_absolute(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert Location.parse("lab").folder == tmp_path / "lab"


@pytest.mark.parametrize("scheme", ["postgresql", "postgres", "postgresql+psycopg"])
def test_a_server(scheme):
    location = Location.parse(f"{scheme}://ann:secret@db.example:5433/lab?password=hidden")
    assert location.url.drivername == "postgresql+psycopg"
    assert location.url.password == "secret"
    assert location.folder is None and location.file is None
    assert str(location) == "postgresql://ann:***@db.example:5433/lab"
    assert "secret" not in repr(location)


@pytest.mark.parametrize(
    "where",
    [
        "mysql://ann:secret@db.example/lab",  # another kind of server
        "postgresql://ann:secret@db:port/lab",  # a port that is no number
        "sqlite://",  # no file
        "sqlite:///:memory:",  # gone when closed
        "://secret",  # nothing before the colon
    ],
)
def test_other_addresses_are_refused_without_repeating_them(where):
    with pytest.raises(LibraryError) as caught:
        Location.parse(where)
    assert "secret" not in str(caught.value)
