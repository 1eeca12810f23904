"""Records that a library returns: small frozen dataclasses of strings, numbers and times."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any

from wordsight.errors import VideoError
from wordsight.records import Shot

if TYPE_CHECKING:
    from wordsight.video import VideoReader

__all__ = [
    "CODEBOOK",
    "DETECTIONS",
    "ORIGINAL",
    "THUMBNAIL",
    "AddReport",
    "ArtefactEntry",
    "Failure",
    "FilmPictures",
    "LibraryProblem",
    "SentenceEntry",
    "Skipped",
    "VerifyReport",
    "VideoDetails",
    "VideoEntry",
]

# The names of the kinds of artefact that the library itself makes and understands.

DETECTIONS = "detections"
"""What a detector saw in a video."""

THUMBNAIL = "thumbnail"
"""A small picture of a video."""

ORIGINAL = "original"
"""A copy of the video itself."""

CODEBOOK = "codebook"
"""The library's vocabulary of region appearances."""

_PICTURE_HEIGHT = 180  # pixels
_PICTURE_QUALITY = 60


@dataclass(frozen=True)
class VideoEntry:
    """One video of a library.

    Attributes:
        id: Its name in the library, made of the file's name and content.
        name: The file's name without its folder.
        path: Where the file is.
        sha256: Hash of the file's content.
        size: The file's size in bytes.
        duration: Seconds from its first to the end of its last frame.
        width: Pixels.
        height: Pixels.
        frame_rate: Mean frames per second.
        num_frames: How many frames were decoded.
        codec: What its pictures are packed with.
        added_at: When it came into the library, in UTC.
        num_sentences: How many sentences are said of it.
        num_shots: How many shots it has.
    """

    id: str
    name: str
    path: str
    sha256: str
    size: int
    duration: float
    width: int
    height: int
    frame_rate: float
    num_frames: int
    codec: str
    added_at: datetime
    num_sentences: int
    num_shots: int


@dataclass(frozen=True)
class SentenceEntry:
    """A sentence said of a video.

    Attributes:
        video_id: Of which video.
        start: From when on, in seconds; ``None`` if of the whole video.
        end: Until when, in seconds; ``None`` if of the whole video.
        text: The sentence.
        source: Where it came from, such as ``metadata.jsonl:3``.
        id: Its number in the library.
    """

    video_id: str
    start: float | None
    end: float | None
    text: str
    source: str
    id: int


@dataclass(frozen=True)
class ArtefactEntry:
    """A file (or folder of files) the library keeps and answers for.

    Attributes:
        id: Its number in the library.
        video_id: Of which video; ``None`` if of the whole library.
        kind: What it is: ``detections``, ``thumbnail``, ``original``, ``codebook`` and others.
        path: Where it is, relative to the library's folder.
        sha256: Hash of its content.
        size: Bytes.
        settings: What it was made with.
        created_at: When, in UTC.
    """

    id: int
    video_id: str | None
    kind: str
    path: str
    sha256: str
    size: int
    settings: dict[str, Any]
    created_at: datetime


@dataclass(frozen=True)
class VideoDetails:
    """Everything the catalogue knows of one video.

    Attributes:
        video: Its entry.
        sentences: What is said of it, by time.
        shots: Its shots in order.
        scenes: For each shot the number of its scene, counting from 0.
        artefacts: The files kept for it.
    """

    video: VideoEntry
    sentences: tuple[SentenceEntry, ...]
    shots: tuple[Shot, ...]
    scenes: tuple[int, ...]
    artefacts: tuple[ArtefactEntry, ...]


@dataclass(frozen=True)
class Failure:
    """Something that could not be added, or only partly.

    Attributes:
        path: Which file, with a line number where one line is meant.
        message: Why, and what to do.
        at: When, in UTC; ``None`` in the report of the run itself.
    """

    path: str
    message: str
    at: datetime | None = None

    def __post_init__(self) -> None:
        # File names may hold bytes that are no text, which nothing could print or store.
        for name in ("path", "message"):
            text = getattr(self, name).encode("utf-8", "backslashreplace").decode()
            object.__setattr__(self, name, text.replace("\0", "\\0"))


@dataclass(frozen=True)
class Skipped:
    """A file that was in the library already.

    Attributes:
        path: The file.
        video_id: The video it is.
        reason: ``unchanged``, ``same content`` (under another name) or ``moved`` (the library now
            knows its new place).
    """

    path: str
    video_id: str
    reason: str


@dataclass(frozen=True)
class AddReport:
    """What became of everything that was to be added.

    Attributes:
        added: Ids of new videos, and of known ones that got new detections.
        skipped: What was there already.
        failed: What could not be added; everything else was.
        warnings: Videos that were added but are damaged.
        num_sentences: How many sentences were new.
    """

    added: tuple[str, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    failed: tuple[Failure, ...] = ()
    warnings: tuple[Failure, ...] = ()
    num_sentences: int = 0

    @property
    def ok(self) -> bool:
        """Whether nothing failed."""
        return not self.failed


@dataclass(frozen=True)
class LibraryProblem:
    """Something that is not as the catalogue says.

    Attributes:
        kind: ``missing``, ``changed``, ``unreadable`` or ``catalogue``.
        path: Which file.
        video_id: Of which video, if of one.
        message: What is wrong and what to do.
    """

    kind: str
    path: str
    video_id: str | None
    message: str


@dataclass(frozen=True)
class VerifyReport:
    """Whether a library is whole.

    Attributes:
        num_videos: How many source videos were checked.
        num_artefacts: How many artefacts were checked.
        problems: What is not as the catalogue says.
        orphans: Files in the library's folder that the catalogue does not know, relative paths.
        removed: Leftovers of interrupted work that were cleared away.
    """

    num_videos: int
    num_artefacts: int
    problems: tuple[LibraryProblem, ...] = field(default=())
    orphans: tuple[str, ...] = field(default=())
    removed: tuple[str, ...] = field(default=())

    @property
    def ok(self) -> bool:
        """Whether everything the catalogue promises is there and unchanged."""
        return not self.problems

    @property
    def clean(self) -> bool:
        """Whether there is nothing beyond it either."""
        return self.ok and not self.orphans


@dataclass(frozen=True)
class FilmPictures:
    """Pictures of a film at some times, small and as JPEG, for notebooks.

    Attributes:
        path: The film; none are given where it is gone.
    """

    path: str

    def __call__(self, times: Sequence[float]) -> list[bytes]:
        """Return a picture for each time, or none at all."""
        from wordsight.video import VideoReader, encode_jpeg

        try:
            with VideoReader(self.path) as reader:
                size = _small(reader)
                frames = [reader.frame_at(time) for time in times]
                return [encode_jpeg(frame.scaled(*size), _PICTURE_QUALITY) for frame in frames]
        except VideoError:
            return []


def _small(reader: "VideoReader") -> tuple[int, int]:
    width, height = reader.info.width, reader.info.height
    scale = min(1.0, _PICTURE_HEIGHT / height)
    return max(1, round(width * scale)), max(1, round(height * scale))
