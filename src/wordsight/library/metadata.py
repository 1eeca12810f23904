"""Reading ``metadata.jsonl``: which sentences are said of which video, one row per sentence.

The layout is that of Hugging Face's VideoFolder; a row that makes no sense is reported with its
line number and the others are used.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wordsight.errors import LibraryError, RecordError
from wordsight.language.captions import Caption
from wordsight.library.catalogue import NewSentence
from wordsight.library.entries import Failure

__all__ = ["METADATA_NAME", "MetadataRow", "read_metadata"]

METADATA_NAME = "metadata.jsonl"
"""The file a folder of videos is described by."""

_FILE_KEYS = ("file_name", "video", "path")
_TEXT_KEYS = ("text", "sentence", "caption", "sentences")
_SHOWN = 80  # letters of a bad line that a message repeats


@dataclass(frozen=True)
class MetadataRow:
    """One line of the file.

    Attributes:
        path: The video, absolute.
        sentences: What is said of it.
        boxes: A file with its boxes, absolute, if the row names one.
        place: File and line, for messages.
    """

    path: Path
    sentences: tuple[NewSentence, ...]
    boxes: Path | None
    place: str


def read_metadata(file: Path) -> Iterator[MetadataRow | Failure]:
    """Yield the rows of a file in order, and a failure for each line that is not one.

    Args:
        file: The ``metadata.jsonl``; the files it names are relative to its folder.

    Yields:
        A row or a failure per line that is not empty.
    """
    try:
        with file.open("rb") as lines:
            for number, line in enumerate(lines, start=1):
                if line.strip():
                    yield _row(file, number, line)
    except OSError as error:
        yield Failure(str(file), f"cannot be read: {error.strerror}.")


def _row(file: Path, number: int, line: bytes) -> MetadataRow | Failure:
    place = f"{file}:{number}"
    try:
        values = json.loads(line.decode("utf-8-sig"))
        if not isinstance(values, dict):
            raise LibraryError(f"expected an object {{...}}, got {_short(line)}")
        path = _named_file(file.parent, values)
        return MetadataRow(
            path, _sentences(values, f"{file.name}:{number}"), _boxes(file, values), place
        )
    except ValueError as error:  # bad UTF-8, bad JSON, and bad times and texts
        reason = str(error) if isinstance(error, RecordError) else f"not JSON: {_short(line)}"
        return Failure(place, f"line {number} is not usable: {reason}.")
    except LibraryError as error:
        return Failure(place, f"line {number} is not usable: {error}.")


def _named_file(folder: Path, values: dict[str, Any]) -> Path:
    for key in _FILE_KEYS:
        name = values.get(key)
        if isinstance(name, str) and name.strip():
            if "\0" in name:
                raise LibraryError("the file name holds a NUL character")
            return (folder / name).absolute()
    raise LibraryError(f"it names no video; expected a text under {' or '.join(_FILE_KEYS)}")


def _sentences(values: dict[str, Any], source: str) -> tuple[NewSentence, ...]:
    given: Any = next((values[key] for key in _TEXT_KEYS if values.get(key) is not None), [])
    texts = given if isinstance(given, list) else [given]
    if not all(isinstance(text, str) for text in texts):
        raise LibraryError(f"a sentence must be text, got {_short(repr(given).encode())}")
    start, end = _seconds(values, "start"), _seconds(values, "end")
    said = (Caption(start, end, text) for text in texts)
    return tuple(NewSentence(" ".join(s.text.split()), s.start, s.end, source) for s in said)


def _seconds(values: dict[str, Any], key: str) -> float | None:
    value = values.get(key)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise LibraryError(f"{key} must be a number of seconds, got {_short(repr(value).encode())}")
    return float(value)


def _boxes(file: Path, values: dict[str, Any]) -> Path | None:
    named = values.get("boxes")
    return (file.parent / named).absolute() if isinstance(named, str) and named else None


def _short(line: bytes) -> str:
    text = line.decode("utf-8", errors="replace").strip()
    return text if len(text) <= _SHOWN else text[: _SHOWN - 3] + "..."
