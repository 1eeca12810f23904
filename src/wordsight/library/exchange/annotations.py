"""The annotations of a video in the form that annotation tools use."""

import json
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wordsight.errors import FormatError, LibraryError, RecordError, VideoError
from wordsight.language.captions import Caption
from wordsight.library.catalog.entries import SentenceEntry, VideoEntry
from wordsight.library.ingest.add import CODEC
from wordsight.library.library import Library
from wordsight.perception import track_detections
from wordsight.perception.formats import BoxTable
from wordsight.perception.formats.lines import write_csv
from wordsight.perception.formats.table import NO_ID
from wordsight.perception.formats.text import read_text
from wordsight.records import Detections
from wordsight.video import VideoReader

__all__ = [
    "NEW_ID",
    "AnnotatedVideo",
    "ReadSentence",
    "ReadVideo",
    "annotated",
    "parse_json",
    "write_boxes_csv",
]

NEW_ID = 1 << 30
"""From here on identities only tell things of a file apart; they get others when put back."""


@dataclass(frozen=True, eq=False)
class AnnotatedVideo:
    """A video of the library with its boxes and sentences.

    Attributes:
        entry: The video.
        times: ``(N,)`` times of all its frames in seconds.
        boxes: Its boxes by frame number.
        sentences: What is said of it.
    """

    entry: VideoEntry
    times: NDArray[np.float64]
    boxes: BoxTable
    sentences: tuple[SentenceEntry, ...]

    @property
    def file(self) -> Path | None:
        """The film, where there is one and not boxes alone."""
        here = self.entry.codec != CODEC and Path(self.entry.path).is_file()
        return Path(self.entry.path) if here else None

    @cached_property
    def after(self) -> dict[int, int]:
        """The next frame that was looked at, by each that was; the last has none."""
        assert self.boxes.covered is not None
        frames = self.boxes.covered.tolist()
        return dict(pairwise(frames))

    def frames_of(self, start: float | None, end: float | None) -> tuple[int, int]:
        """Return the first and last frame between two times; all frames without them."""
        last = max(0, len(self.times) - 1)
        if start is None or end is None:
            return 0, last
        first, behind = np.searchsorted(self.times, [start, end])
        first = min(int(first), last)
        return first, min(max(int(behind) - 1, first), last)

    def tracks(self) -> list[NDArray[np.intp]]:
        """Return the rows of each thing's boxes in order of time; untracked boxes stay alone.

        A number that occurs twice in a frame, or with two labels, is of several things.
        """
        groups: dict[tuple[int, int, int], list[int]] = {}
        seen: dict[tuple[int, int, int], int] = {}
        columns = (self.boxes.ids, self.boxes.labels, self.boxes.frames)
        rows = zip(*(column.tolist() for column in columns), strict=True)
        for row, key in enumerate(rows):
            turn = row if key[0] == NO_ID else seen.get(key, 0)
            seen[key] = seen.get(key, 0) + 1
            groups.setdefault((key[0], key[1], turn), []).append(row)
        return [np.array(rows, dtype=np.intp) for rows in groups.values()]


@dataclass(frozen=True)
class ReadSentence:
    """A sentence as a tool gives it back.

    Attributes:
        text: What is said.
        start: From when on, in seconds; ``None`` if of the whole video.
        end: Until when.
        frames: First and last frame, for tools that count frames; they win over the seconds where
            the two disagree, because people move frames.
        source: Where it came from, if the file says so.
    """

    text: str
    start: float | None = None
    end: float | None = None
    frames: tuple[int, int] | None = None
    source: str | None = None

    @classmethod
    def checked(
        cls,
        where: str,
        text: object,
        start: object = None,
        end: object = None,
        frames: tuple[int, int] | None = None,
        source: object = None,
    ) -> "ReadSentence":
        """Return a sentence of a file; what is wrong with it is said with its place."""
        if not isinstance(text, str):
            raise FormatError(f"{where}: a sentence must be text, got {text!r:.40}.")
        try:
            begin, until = (None if v in (None, "") else float(str(v)) for v in (start, end))
            said = Caption(begin, until, text)
        except (RecordError, ValueError) as error:
            raise FormatError(f"{where}: {str(error).rstrip('.')}.") from None
        words = " ".join(said.text.split())
        return cls(words, said.start, said.end, frames, str(source) if source else None)


@dataclass(frozen=True, eq=False)
class ReadVideo:
    """A video's annotations as a tool gives them back.

    Attributes:
        names: What the file calls the video: ids, names and paths, the best first.
        boxes: Its boxes by frame number, scores NaN where the file has none; ``None`` if the file
            says nothing of boxes.
        sentences: What is said of it; ``None`` if the file says nothing of sentences.
    """

    names: tuple[str, ...]
    boxes: BoxTable | None
    sentences: tuple[ReadSentence, ...] | None


def annotated(library: Library, video_id: str, *, tracks: bool = False) -> AnnotatedVideo:
    """Return a video with its boxes and sentences.

    Args:
        library: The library.
        video_id: The video.
        tracks: Whether boxes are those of things that were followed, with an identity each.
    """
    entry = library.video(library.resolve(video_id))
    seen = library.detections(entry.id)
    if tracks:
        _, seen = track_detections(seen, entry.id)
    times = _frame_times(entry, seen)
    table = BoxTable.from_detections(seen, times=times)
    return AnnotatedVideo(
        entry,
        times,
        replace(table, frame_rate=entry.frame_rate),
        tuple(library.sentences(entry.id)),
    )


def parse_json(path: Path) -> Any:
    """Return the content of a JSON file.

    Raises:
        FormatError: If it is not JSON.
    """
    try:
        return json.loads(read_text(path))
    except (ValueError, RecursionError) as error:
        raise FormatError(f"{path.name} is not JSON ({error}); it is damaged or cut off.") from None


def write_boxes_csv(path: Path, boxes: BoxTable) -> None:
    """Write the boxes of a video by frame number."""
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(write_csv(boxes))


def _frame_times(entry: VideoEntry, seen: Detections) -> NDArray[np.float64]:
    if entry.codec == CODEC:
        return seen.times
    try:
        with VideoReader(entry.path) as reader:
            return reader.times
    except VideoError as error:
        raise LibraryError(
            f"the frames of {entry.name} cannot be counted without its film: {error}"
        ) from None
