"""Libraries are made and opened, and everything in the way is told in plain words."""

import shutil
import sqlite3
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest
import sqlalchemy as sa

from wordsight.errors import LibraryError
from wordsight.library import Library
from wordsight.library.catalog import database, opening

# To root nothing is read-only, so the right to override permissions is given up first (Linux's
# CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH, bits 1 and 2).
GIVE_UP_RIGHTS = """
import ctypes, os
if os.geteuid() == 0:
    libc = ctypes.CDLL(None, use_errno=True)
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)
    sets = (ctypes.c_uint32 * 6)()
    assert libc.capget(header, sets) == 0
    for n in range(3):
        sets[n] &= ~0b110
    assert libc.capset(header, sets) == 0
"""


def run_without_rights(program, *arguments):
    return subprocess.run(
        [sys.executable, "-c", GIVE_UP_RIGHTS + textwrap.dedent(program), *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=300,
    )


def test_a_new_library_is_empty_and_whole(place):
    with Library.create(**place) as library:
        assert len(library) == 0
        assert library.videos() == []
        assert library.verify().clean


@pytest.mark.slow
def test_a_library_can_be_opened_again(place):
    Library.create(**place).close()
    with Library.open(place["where"]) as library:
        assert library.folder == Path(place.get("artefacts", place["where"]))
        assert not library.read_only


@pytest.mark.slow
@pytest.mark.parametrize("moment", ["_located", "_make_folder", "make_or_upgrade"])
def test_a_library_that_another_makes_meanwhile_is_opened(place, monkeypatch, moment):
    real, calls = getattr(opening, moment), []

    def overtaken(*arguments):
        calls.append(arguments)
        if len(calls) == 1:
            monkeypatch.setattr(opening, moment, real)
            with Library.create(**place) as other:
                (Path(other.folder) / "videos").mkdir()
        return real(*arguments)

    monkeypatch.setattr(opening, moment, overtaken)
    with Library.open(**place, create=True) as library:
        assert calls
        assert library.verify().clean


@pytest.mark.slow
def test_there_is_no_second_library_in_one_place(place):
    Library.create(**place).close()
    with pytest.raises(LibraryError, match="already"):
        Library.create(**place)


@pytest.mark.slow
def test_open_makes_one_only_if_told(place):
    with pytest.raises(LibraryError, match="no library at"):
        Library.open(**place)
    Library.open(**place, create=True).close()
    Library.open(**place, create=True).close()


@pytest.mark.slow
def test_one_whose_making_was_interrupted_is_completed(place):
    Library.create(**place).close()
    with Library.open(place["where"]) as library, library._database.write() as connection:
        connection.execute(sa.text("DELETE FROM library"))
    with pytest.raises(LibraryError, match="no library at"):
        Library.open(**place)
    Library.open(**place, create=True).close()
    Library.open(place["where"]).close()


def test_a_catalogue_file_without_tables_is_no_library(tmp_path):
    sqlite3.connect(tmp_path / "catalogue.sqlite").close()
    with pytest.raises(LibraryError, match="no library at"):
        Library.open(tmp_path)
    Library.create(tmp_path).close()


def test_a_library_can_be_moved(tmp_path):
    Library.create(tmp_path / "here").close()
    shutil.move(tmp_path / "here", tmp_path / "there 🧪")
    with Library.open(tmp_path / "there 🧪") as library:
        assert library.folder == tmp_path / "there 🧪"
        assert library.verify().clean


@pytest.mark.slow
def test_the_files_of_a_server_library_can_be_moved(postgres_url, tmp_path):
    Library.create(postgres_url, artefacts=tmp_path / "here").close()
    shutil.move(tmp_path / "here", tmp_path / "there")
    with pytest.raises(LibraryError, match="if they were moved, name their folder"):
        Library.open(postgres_url)
    with Library.open(postgres_url, artefacts=tmp_path / "there") as library:
        assert library.folder == tmp_path / "there"


def test_a_server_needs_a_folder_for_the_files(postgres_url):
    with pytest.raises(LibraryError, match="needs a folder for its files"):
        Library.create(postgres_url)


def test_a_database_file_of_ones_own(tmp_path):
    with Library.create(f"sqlite:///{tmp_path}/lab.db") as library:
        assert library.folder == tmp_path / "lab-files"
    Library.open(f"sqlite:///{tmp_path}/lab.db").close()


def test_a_folder_in_use_is_refused_and_left_alone(tmp_path):
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(LibraryError, match=r"not empty.*thesis\.tex"):
        Library.create(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


def test_a_file_is_refused(tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(LibraryError, match="is a file"):
        Library.create(tmp_path / "file")
    with pytest.raises(LibraryError, match="is a file"):
        Library.open(tmp_path / "file")


def test_a_catalogue_that_is_something_else_is_told(tmp_path):
    (tmp_path / "catalogue.sqlite").write_text("this is no database, whatever its name" * 100)
    with pytest.raises(LibraryError, match="damaged"):
        Library.open(tmp_path)


@pytest.mark.slow
def test_a_library_from_a_newer_version_is_refused(place):
    with Library.create(**place) as library, library._database.write() as connection:
        connection.execute(sa.text("UPDATE alembic_version SET version_num = '0999'"))
    with pytest.raises(LibraryError, match=r"newer Wordsight.*update Wordsight"):
        Library.open(place["where"])


def test_a_server_that_does_not_answer_is_told_soon(tmp_path):
    began = time.monotonic()
    with pytest.raises(LibraryError, match="does not answer") as caught:
        Library.open("postgresql://ann:secret@127.0.0.1:1/lab")
    assert "secret" not in str(caught.value)
    assert time.monotonic() - began < database.RESTART_SECONDS  # one that never was is no restart


@pytest.mark.slow
def test_a_server_that_is_silent_is_given_up_soon(tmp_path):
    import socket

    with socket.socket() as server:  # takes the connection and never says a word
        server.bind(("127.0.0.1", 0))
        server.listen()
        began = time.monotonic()
        with pytest.raises(LibraryError, match="does not answer"):
            Library.open(f"postgresql://ann@127.0.0.1:{server.getsockname()[1]}/lab")
        assert time.monotonic() - began < 60  # the system alone would take minutes


def test_a_missing_driver_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(LibraryError, match=r"pip install 'wordsight\[postgres\]'"):
        Library.open("postgresql://localhost/lab")


@pytest.mark.slow
def test_a_read_only_library_can_be_read_but_not_changed(tmp_path):
    place = tmp_path / "library"
    Library.create(place).close()
    for path in (place, *place.iterdir()):
        path.chmod(0o555 if path.is_dir() else 0o444)
    program = """
        import sys
        from wordsight.errors import LibraryError
        from wordsight.library import Library
        with Library.open(sys.argv[1]) as library:
            print(library.read_only, len(library), library.verify().clean)
            for change in (lambda: library.add(sys.argv[1]), lambda: library.put_artefact(
                    "notes", print, suffix="", settings={})):
                try:
                    change()
                except LibraryError as error:
                    print(error)
    """
    result = run_without_rights(program, place)
    assert result.returncode == 0, result.stderr
    answer, *refusals = result.stdout.splitlines()
    assert answer == "True 0 True"
    assert len(refusals) == 2 and all("is read-only" in refusal for refusal in refusals)


@pytest.mark.slow
def test_a_folder_one_may_not_write_to_is_refused(tmp_path):
    program = """
        import sys
        from wordsight.errors import LibraryError
        from wordsight.library import Library
        try:
            Library.create(sys.argv[1])
        except LibraryError as error:
            print(error)
    """
    (tmp_path / "kept").mkdir(mode=0o555)
    for place in (tmp_path / "kept", tmp_path / "kept" / "library"):
        result = run_without_rights(program, place)
        assert "choose" in result.stdout, result.stderr
        assert "Traceback" not in result.stderr
