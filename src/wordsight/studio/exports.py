"""Files that were made of a video for somebody to take away: films, boxes, sheets and tables.

Each is in a folder of its own beside a note of what it is; it stays until somebody removes it.
"""

import json
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from wordsight.errors import WordsightError
from wordsight.files import write_text

__all__ = [
    "ExportedFile",
    "export_path",
    "exporting",
    "list_exports",
    "read_export",
    "remove_export",
    "sweep_exports",
]

_FOLDER = "made"
_NOTE = "made.json"


@dataclass(frozen=True)
class ExportedFile:
    """A file that was made.

    Attributes:
        name: Twelve hexadecimal digits.
        video: Of which video.
        what: What kind of file it is.
        title: What it shows, for people.
        file: Its own name.
        time: When it was made, in seconds since 1970.
        size: Its bytes.
    """

    name: str
    video: str
    what: str
    title: str
    file: str
    time: float
    size: int


@contextmanager
def exporting(
    folder: Path, name: str, video: str, what: str, title: str, file: str
) -> Iterator[Path]:
    """Give a path to write a file to, and note what it is when it is whole."""
    place = folder / _FOLDER / Path(name).name
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    try:
        yield place / file
    except BaseException:
        shutil.rmtree(place, ignore_errors=True)
        raise
    made = ExportedFile(
        place.name, video, what, title, file, time.time(), (place / file).stat().st_size
    )
    write_text(place / _NOTE, json.dumps(vars(made)))


def list_exports(folder: Path, video: str | None = None) -> list[ExportedFile]:
    """Return what was made of a video, or of all, the newest first."""
    found = [_read(path) for path in (folder / _FOLDER).glob(f"*/{_NOTE}")]
    wanted = [one for one in found if video is None or one.video == video]
    return sorted(wanted, key=lambda one: -one.time)


def read_export(folder: Path, name: str) -> ExportedFile:
    """Return the note of one file.

    Raises:
        WordsightError: If there is none of that name.
    """
    path = folder / _FOLDER / Path(name).name / _NOTE
    if not path.is_file():
        raise WordsightError(f"there is no file {name}; it may have been removed.")
    return _read(path)


def export_path(folder: Path, name: str) -> Path:
    """Return where a file is."""
    return folder / _FOLDER / Path(name).name / read_export(folder, name).file


def remove_export(folder: Path, name: str) -> None:
    """Remove a file."""
    read_export(folder, name)
    shutil.rmtree(folder / _FOLDER / Path(name).name)


def sweep_exports(folder: Path) -> int:
    """Remove what was begun and never finished, such as by a job that was stopped; say how many."""
    begun = [path for path in (folder / _FOLDER).glob("*") if not (path / _NOTE).is_file()]
    for path in begun:
        shutil.rmtree(path, ignore_errors=True)
    return len(begun)


def _read(path: Path) -> ExportedFile:
    return ExportedFile(**json.loads(path.read_text(encoding="utf-8")))
