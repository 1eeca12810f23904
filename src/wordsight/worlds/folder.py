"""Writing a world into a folder: the videos, the sentences given with them, and the truth.

The folder gets ``*.mp4``, ``metadata.jsonl`` (one row ``{"file_name", "text"}`` for each pair of a
video and a sentence, the VideoFolder layout), ``truth.jsonl`` (one object for each film), and what
a film brings along, such as the text of a protocol.
"""

import hashlib
import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from wordsight.files import TEMPORARY_MARK, write_text
from wordsight.progress import Progress
from wordsight.worlds.checks import WorldError
from wordsight.worlds.film import RenderedFilm

__all__ = ["METADATA_NAME", "TRUTH_NAME", "write_world"]

METADATA_NAME = "metadata.jsonl"
TRUTH_NAME = "truth.jsonl"
_JOURNAL_NAME = ".world-in-progress.jsonl"
"""Which films are complete, while others are not; what an interrupted run leaves and resumes."""


def write_world(
    films: Iterable[RenderedFilm[Any]],
    folder: str | os.PathLike[str],
    *,
    force: bool = False,
    total: int | None = None,
    progress: Progress | None = None,
) -> Path:
    """Render films into a folder.

    An interrupted run resumes when it is called again with the same films;
    complete films are recognised by their truth.

    Args:
        films: What to render.
        folder: Where to; made if missing. It must be empty, or hold an interrupted run.
        force: Whether a world already in the folder is replaced. Files of others stay.
        total: How many films there are, for ``progress``.
        progress: Called after every film.

    Returns:
        The folder.

    Raises:
        WorldError: If the folder is not empty, or there are no films.
    """
    folder = Path(folder)
    done = _prepare(folder, force)
    metadata: list[str] = []
    truth: list[str] = []
    for film in films:
        record = film.record()
        name, line = str(record["file_name"]), _json(record)
        digest = hashlib.sha256(f"{film.crf}\n{line}".encode()).hexdigest()
        if _must_render(folder, name, digest, done, force):
            film.write(folder / name, overwrite=True)
            companions = record.get("companions", [])
            row = {"file_name": name, "digest": digest, "companions": companions}
            _append(folder / _JOURNAL_NAME, row)
        for ending, text in film.companions.items():
            write_text(folder / f"{film.name}{ending}", text)
        done.pop(name, None)
        truth.append(line)
        metadata.extend(_json({"file_name": name, "text": text}) for text in film.sentences)
        if progress is not None:
            progress(len(truth), total, film.name)
    if not truth:
        raise WorldError("a world needs at least one film, got none; ask for one clip or more.")
    for row in done.values():  # films of an interrupted run with more clips than this one
        _remove_film(folder, row)
    write_text(folder / TRUTH_NAME, "".join(truth))
    write_text(folder / METADATA_NAME, "".join(metadata))
    (folder / _JOURNAL_NAME).unlink(missing_ok=True)
    return folder


def _prepare(folder: Path, force: bool) -> dict[str, dict[str, Any]]:
    """Make the folder fit for writing; return the films an interrupted run completed."""
    if folder.exists() and not folder.is_dir():
        raise WorldError(f"{folder} is a file; a world needs a folder of its own.")
    folder.mkdir(parents=True, exist_ok=True)
    journal = folder / _JOURNAL_NAME
    there = sorted(path.name for path in folder.iterdir())
    if there and not journal.exists() and not force:
        raise WorldError(
            f"{folder} is not empty (it holds {there[0]}); choose another folder, or "
            "pass force (--force) to replace the world in it."
        )
    for path in folder.glob(f".*{TEMPORARY_MARK}*"):
        path.unlink(missing_ok=True)
    if force:
        for row in _lines(folder / TRUTH_NAME):
            _remove_film(folder, row)
        for name in (TRUTH_NAME, METADATA_NAME):
            (folder / name).unlink(missing_ok=True)
    journal.touch()  # before the first film, so that even it can be resumed
    return {str(row["file_name"]): row for row in _lines(journal)}


def _remove_film(folder: Path, row: dict[str, Any]) -> None:
    video = str(row.get("file_name", ""))
    companions = [str(name) for name in row.get("companions", [])]
    for name in [video, *companions]:
        # Only what a run wrote: plain names of one film, never a path that leads elsewhere.
        if name == Path(name).name and video.endswith(".mp4") and name.startswith(video[:-4]):
            (folder / name).unlink(missing_ok=True)


def _must_render(
    folder: Path, name: str, digest: str, done: dict[str, dict[str, Any]], force: bool
) -> bool:
    former = done[name]["digest"] if name in done else digest
    if former != digest and not force:
        raise WorldError(
            f"{folder} holds an interrupted run of another world ({name} differs); choose another "
            "folder, or pass force (--force) to replace it."
        )
    return name not in done or former != digest or not (folder / name).is_file()


def _json(value: dict[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")) + "\n"


def _append(path: Path, row: dict[str, Any]) -> None:
    with path.open("a", encoding="utf-8") as file:
        file.write(_json(row))
        file.flush()
        os.fsync(file.fileno())


def _lines(path: Path) -> list[dict[str, Any]]:
    """Read the rows of a JSONL file; a last line cut off by a crash is left out."""
    if not path.is_file():
        return []
    rows = []
    for line in path.read_text(encoding="utf-8").splitlines():
        try:
            row = json.loads(line)
        except json.JSONDecodeError:
            break
        if isinstance(row, dict):
            rows.append(row)
    return rows
