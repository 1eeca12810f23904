"""The sample that golden results are made of, and the golden files to compare with.

``pytest tests/golden --update-golden`` writes the golden files anew; look at ``git diff`` then.
"""

import fcntl
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.golden.harness import Book, wordsight
from tests.golden.sample import ids_of, render_films


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-golden", action="store_true", help="write the golden files of tests/golden anew"
    )


@pytest.fixture
def golden(request: pytest.FixtureRequest, shared: Path) -> Callable[..., Book]:
    """Open a golden file by its name, with the folder its results are made in."""

    def open_book(name: str, root: Path, ids: dict[str, str] | None = None) -> Book:
        update = bool(request.config.getoption("--update-golden", default=False))
        return Book(name, (root, shared), update, dict(ids or {}))

    return open_book


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    """A folder that all processes which run tests share."""
    base = tmp_path_factory.getbasetemp()
    folder = (base if worker_id == "master" else base.parent) / "golden"
    folder.mkdir(exist_ok=True)
    return folder


@pytest.fixture(scope="session")
def films(shared: Path) -> Path:
    """Rendered films: street, tabletop and workbench, with a log of what the commands said."""
    with _once(shared, "films") as missing:
        if missing:
            render_films(shared)
    return shared


@pytest.fixture(scope="session")
def library(films: Path) -> Path:
    """The films in a library; not to be changed."""
    with _once(films, "library") as missing:
        if missing:
            sources = ("street", "tabletop", "workbench")
            _must(films, "add", *sources, "-d", "rendered", "-j", "1", "-L", "library")
    return films


@pytest.fixture(scope="session")
def words(library: Path) -> Path:
    """The library, and words learned from it."""
    with _once(library, "words") as missing:
        if missing:
            how = ("--restarts", "1", "--quick", "--grammar", "street")
            _must(library, "learn", *how, "-w", "words", "-L", "library")
    return library


@pytest.fixture
def own(words: Path, tmp_path: Path) -> tuple[Path, dict[str, str]]:
    """A copy of the library and its words that a test may change, and the ids of its videos."""
    for name in ("library", "words"):
        shutil.copytree(words / name, tmp_path / name)
    for name in ("street", "tabletop", "workbench", "add.json", "learn.json"):
        (tmp_path / name).symlink_to(words / name)
    return tmp_path, ids_of(tmp_path, "library")


def _must(folder: Path, *arguments: str) -> None:
    answer = wordsight(folder, *arguments, "--json")
    (folder / f"{arguments[0]}.json").write_text(answer.out, encoding="utf-8")
    assert answer.code == 0, answer.err


@contextmanager
def _once(folder: Path, name: str) -> Iterator[bool]:
    """Tell whether something has still to be made; other processes wait meanwhile."""
    done = folder / f"{name}.done"
    with (folder / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        missing = not done.exists()
        yield missing
        if missing:
            done.touch()
