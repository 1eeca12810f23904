"""From what people name - files, folders, metadata - to videos with their sentences and boxes."""

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from wordsight.errors import LibraryError, RecordError, WordsightError
from wordsight.files import BOX_SUFFIXES, SUBTITLE_SUFFIXES, VIDEO_SUFFIXES, check_plain
from wordsight.language.captions import Caption, looks_like_transcript, read_captions
from wordsight.library.catalog.database import CATALOGUE_NAME
from wordsight.library.catalog.entries import Failure
from wordsight.library.catalog.queries import NewSentence

__all__ = [
    "BOXES_SUFFIXES",
    "METADATA_NAME",
    "MetadataRow",
    "VideoSource",
    "gather",
    "read_metadata",
]


# Reading ``metadata.jsonl``: which sentences are said of which video, one row per sentence.
#
# The layout is that of Hugging Face's VideoFolder; a row that makes no sense is reported with its
# line number and the others are used.

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
        check_plain(file)
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
        return Failure(place, f"line {number} is not usable: {reason.rstrip('.')}.")
    except LibraryError as error:
        return Failure(place, f"line {number} is not usable: {str(error).rstrip('.')}.")


def _named_file(folder: Path, values: dict[str, Any]) -> Path:
    for key in (*_FILE_KEYS, "boxes"):  # boxes alone are an entry without pictures
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


BOXES_SUFFIXES = tuple(f".boxes{suffix}" for suffix in BOX_SUFFIXES)
"""Boxes beside a video have its name with one of these."""


@dataclass(frozen=True)
class VideoSource:
    """A video on its way into the library.

    Attributes:
        path: The file, absolute; a file of boxes is an entry without pictures.
        sentences: What is said of it.
        boxes: A file with its boxes, which takes the place of a detector.
    """

    path: Path
    sentences: tuple[NewSentence, ...] = ()
    boxes: Path | None = None

    @property
    def has_pictures(self) -> bool:
        """Whether it is a video, and not a file of boxes alone."""
        return self.path.suffix.lower() not in BOX_SUFFIXES


def gather(
    paths: Iterable[str | os.PathLike[str]],
    *,
    sentences: Iterable[str | Caption] = (),
    boxes: str | os.PathLike[str] | Mapping[str, str] | None = None,
) -> tuple[list[VideoSource], list[Failure]]:
    """Find the videos that paths stand for.

    Args:
        paths: Video files, files of boxes, folders to look through, ``metadata.jsonl`` files.
        sentences: Said of the one video there is.
        boxes: File with the boxes of the one video there is, or a file per video.

    Returns:
        The videos, each once, in order; and what could not be used.

    Raises:
        LibraryError: If sentences or boxes are given for more than one video.
    """
    failures: list[Failure] = []
    found: dict[Path, VideoSource] = {}
    for path in paths:
        for item in _expand(Path(path).expanduser().absolute()):
            if isinstance(item, Failure):
                failures.append(item)
            else:
                _merge(found, item)
    sources = [_with_files_beside(source, failures) for source in found.values()]
    return _with_given(sources, list(sentences), boxes), failures


def _expand(path: Path) -> Iterator[VideoSource | Failure]:
    if path.is_dir():
        yield from _folder(path)
    elif not path.exists():
        yield Failure(str(path), "there is no such file or folder.")
    elif path.suffix.lower() == ".jsonl":
        yield from _described(path)
    elif path.suffix.lower() in SUBTITLE_SUFFIXES:
        yield Failure(
            str(path),
            "these are subtitles; name the video instead, subtitles beside it with the same name "
            "are found on their own.",
        )
    else:
        yield VideoSource(path)


def _folder(folder: Path) -> Iterator[VideoSource | Failure]:
    empty = True
    for place, folders, files in os.walk(folder):
        if CATALOGUE_NAME in files:  # a library, whose own copies are in it already
            folders.clear()
            continue
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        described = METADATA_NAME in files
        if described:
            yield from _described(Path(place) / METADATA_NAME)
        videos = [Path(place) / name for name in sorted(files) if _is_video(name)]
        yield from (VideoSource(video) for video in videos)
        empty = empty and not described and not videos
    if empty:
        yield Failure(
            str(folder),
            f"the folder holds no videos; looked for files ending in "
            f"{', '.join(sorted(VIDEO_SUFFIXES))} and for {METADATA_NAME}.",
        )


def _is_video(name: str) -> bool:
    return not name.startswith(".") and Path(name).suffix.lower() in VIDEO_SUFFIXES


def _described(file: Path) -> Iterator[VideoSource | Failure]:
    for row in read_metadata(file):
        yield _source_of(row) if isinstance(row, MetadataRow) else row


def _source_of(row: MetadataRow) -> VideoSource | Failure:
    for file in (row.path, row.boxes):
        if file is not None and not file.is_file():
            return Failure(row.place, f"it names {file}, which is not there.")
    return VideoSource(row.path, row.sentences, row.boxes)


def _merge(found: dict[Path, VideoSource], source: VideoSource) -> None:
    before = found.get(source.path)
    if before is not None:
        source = VideoSource(
            source.path, before.sentences + source.sentences, before.boxes or source.boxes
        )
    found[source.path] = source


def _with_files_beside(source: VideoSource, failures: list[Failure]) -> VideoSource:
    said = list(source.sentences)
    for suffix in (".json",) if _has_transcript(source) else SUBTITLE_SUFFIXES:
        file = source.path.with_suffix(suffix)
        if file.is_file():
            try:
                said += [_sentence(caption, file.name) for caption in read_captions(file)]
            except (WordsightError, OSError) as error:
                failures.append(Failure(str(file), str(error)))
    if not source.has_pictures:
        return replace(source, sentences=tuple(said), boxes=None)
    beside = (source.path.with_suffix(suffix) for suffix in BOXES_SUFFIXES)
    boxes = source.boxes or next((file for file in beside if file.is_file()), None)
    return replace(source, sentences=tuple(said), boxes=boxes)


def _has_transcript(source: VideoSource) -> bool:
    """Whether a speech recogniser's JSON lies beside a video; its subtitles say the same."""
    file = source.path.with_suffix(".json")
    try:
        known = source.has_pictures and file.is_file()
        return known and looks_like_transcript(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError):
        return False


def _sentence(caption: Caption, source: str) -> NewSentence:
    return NewSentence(" ".join(caption.text.split()), caption.start, caption.end, source)


def _with_given(
    sources: list[VideoSource],
    sentences: list[str | Caption],
    boxes: str | os.PathLike[str] | Mapping[str, str] | None,
) -> list[VideoSource]:
    if isinstance(boxes, Mapping):
        files = {Path(video).absolute(): Path(file).absolute() for video, file in boxes.items()}
        sources = [replace(s, boxes=files.get(s.path, s.boxes)) for s in sources]
        boxes = None
    if not sentences and boxes is None:
        return sources
    if len(sources) != 1:
        raise LibraryError(
            f"sentences and boxes can be given for one video at a time, but there are "
            f"{len(sources)}; describe several in a {METADATA_NAME}."
        )
    given = (s if isinstance(s, Caption) else Caption(None, None, s) for s in sentences)
    (only,) = sources
    if boxes is not None and not only.has_pictures:
        raise LibraryError(
            f"{only.path.name} holds boxes already and has no pictures; give one file of boxes."
        )
    said = only.sentences + tuple(_sentence(caption, "given") for caption in given)
    file = only.boxes if boxes is None else Path(boxes).expanduser().absolute()
    return [replace(only, sentences=said, boxes=file)]
