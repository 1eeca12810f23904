"""From what people name - files, folders, metadata - to videos with their sentences and boxes."""

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from wordsight.errors import LibraryError, WordsightError
from wordsight.language.captions import Caption, read_captions
from wordsight.library.catalogue import NewSentence
from wordsight.library.entries import Failure
from wordsight.library.location import CATALOGUE_NAME
from wordsight.library.metadata import METADATA_NAME, MetadataRow, read_metadata

__all__ = ["BOXES_SUFFIXES", "SUBTITLE_SUFFIXES", "VIDEO_SUFFIXES", "Source", "gather"]

VIDEO_SUFFIXES = frozenset(
    (".3gp", ".avi", ".flv", ".m4v", ".mkv", ".mov", ".mp4", ".mpeg", ".mpg", ".webm", ".wmv")
)
"""What a video inside a folder is recognised by; a file named on its own may have any suffix."""

SUBTITLE_SUFFIXES = (".srt", ".vtt")
"""Subtitles beside a video have its name with one of these."""

BOXES_SUFFIXES = (".boxes.csv", ".boxes.txt", ".boxes.json", ".boxes.xml")
"""Boxes beside a video have its name with one of these."""


@dataclass(frozen=True)
class Source:
    """A video on its way into the library.

    Attributes:
        path: The file, absolute.
        sentences: What is said of it.
        boxes: A file with its boxes, which takes the place of a detector.
    """

    path: Path
    sentences: tuple[NewSentence, ...] = ()
    boxes: Path | None = None


def gather(
    paths: Iterable[str | os.PathLike[str]],
    *,
    sentences: Iterable[str | Caption] = (),
    boxes: str | os.PathLike[str] | Mapping[str, str] | None = None,
) -> tuple[list[Source], list[Failure]]:
    """Find the videos that paths stand for.

    Args:
        paths: Video files, folders to look through, ``metadata.jsonl`` files.
        sentences: Said of the one video there is.
        boxes: File with the boxes of the one video there is, or a file per video.

    Returns:
        The videos, each once, in order; and what could not be used.

    Raises:
        LibraryError: If sentences or boxes are given for more than one video.
    """
    failures: list[Failure] = []
    found: dict[Path, Source] = {}
    for path in paths:
        for item in _expand(Path(path).expanduser().absolute()):
            if isinstance(item, Failure):
                failures.append(item)
            else:
                _merge(found, item)
    sources = [_with_files_beside(source, failures) for source in found.values()]
    return _with_given(sources, list(sentences), boxes), failures


def _expand(path: Path) -> Iterator[Source | Failure]:
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
        yield Source(path)


def _folder(folder: Path) -> Iterator[Source | Failure]:
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
        yield from (Source(video) for video in videos)
        empty = empty and not described and not videos
    if empty:
        yield Failure(
            str(folder),
            f"the folder holds no videos; looked for files ending in "
            f"{', '.join(sorted(VIDEO_SUFFIXES))} and for {METADATA_NAME}.",
        )


def _is_video(name: str) -> bool:
    return not name.startswith(".") and Path(name).suffix.lower() in VIDEO_SUFFIXES


def _described(file: Path) -> Iterator[Source | Failure]:
    for row in read_metadata(file):
        yield _source_of(row) if isinstance(row, MetadataRow) else row


def _source_of(row: MetadataRow) -> Source | Failure:
    for file in (row.path, row.boxes):
        if file is not None and not file.is_file():
            return Failure(row.place, f"it names {file}, which is not there.")
    return Source(row.path, row.sentences, row.boxes)


def _merge(found: dict[Path, Source], source: Source) -> None:
    before = found.get(source.path)
    if before is not None:
        source = Source(
            source.path, before.sentences + source.sentences, before.boxes or source.boxes
        )
    found[source.path] = source


def _with_files_beside(source: Source, failures: list[Failure]) -> Source:
    said = list(source.sentences)
    for suffix in SUBTITLE_SUFFIXES:
        file = source.path.with_suffix(suffix)
        if file.is_file():
            try:
                said += [_sentence(caption, file.name) for caption in read_captions(file)]
            except (WordsightError, OSError) as error:
                failures.append(Failure(str(file), str(error)))
    beside = (source.path.with_suffix(suffix) for suffix in BOXES_SUFFIXES)
    boxes = source.boxes or next((file for file in beside if file.is_file()), None)
    return replace(source, sentences=tuple(said), boxes=boxes)


def _sentence(caption: Caption, source: str) -> NewSentence:
    return NewSentence(" ".join(caption.text.split()), caption.start, caption.end, source)


def _with_given(
    sources: list[Source],
    sentences: list[str | Caption],
    boxes: str | os.PathLike[str] | Mapping[str, str] | None,
) -> list[Source]:
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
    said = only.sentences + tuple(_sentence(caption, "given") for caption in given)
    file = only.boxes if boxes is None else Path(boxes).expanduser().absolute()
    return [replace(only, sentences=said, boxes=file)]
