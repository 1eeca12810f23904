"""Scanning a video: what is to be done, and everything that a single pass finds out.

Decoding with shot finding, detecting, and measuring flow run in a thread each, one ahead of the
other, so that more than one core works on a video.
"""

import os
import re
import threading
import time
import unicodedata
from collections.abc import Generator, Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from queue import Empty, Full, Queue
from typing import Any, TypeVar

import numpy as np
import sqlalchemy as sa
from numpy.typing import NDArray

from wordsight.engine import send_note
from wordsight.errors import LibraryError, VideoError
from wordsight.files import sha256_of
from wordsight.library.catalog import schema
from wordsight.library.catalog.database import Database
from wordsight.library.catalog.entries import DETECTIONS, ORIGINAL, THUMBNAIL
from wordsight.library.files.store import ArtefactStore, slot_of
from wordsight.library.ingest.sources import VideoSource
from wordsight.perception import Detector, load_detector, watch
from wordsight.perception.detectors.observe import explain_nothing
from wordsight.records import Detections, FrameDetections, Scene, Shot
from wordsight.video import Frame, Sampler, ShotFinder, VideoInfo, VideoReader, group_scenes

__all__ = [
    "THUMBNAIL_SIDE",
    "Done",
    "IngestJob",
    "IngestSettings",
    "Planner",
    "ScanResult",
    "ahead",
    "scan",
    "slug_of",
]

_SLUG_LENGTH = 40


@dataclass(frozen=True)
class IngestSettings:
    """What is to be made for a video.

    Attributes:
        detector: Name of the detector.
        options: Its options.
        rate: Frames a second it looks at; ``None`` for all.
        settings: For each kind of artefact what it is made with, as JSON can hold it.
        has_pictures: Whether there is a video to decode, and not a file of boxes alone.
    """

    detector: str
    options: Mapping[str, Any]
    rate: float | None
    settings: Mapping[str, Mapping[str, Any]]
    has_pictures: bool = True


@dataclass(frozen=True)
class IngestJob:
    """The work on one video, complete in itself so that it can be sent to another process.

    Attributes:
        path: The file, absolute.
        video_id: The id it has or will have.
        sha256: Hash of its content.
        size: Its size in bytes when it was hashed.
        modified_ns: When it was last changed, as the file system has it.
        folder: The library's folder.
        bucket: The address its files go to; ``None`` if into the folder.
        plan: What is to be made.
        kinds: Which kinds of artefact are wanted.
        again: Whether they take the place of those that are there.
    """

    path: str
    video_id: str
    sha256: str
    size: int
    modified_ns: int
    folder: str
    bucket: str | None
    plan: IngestSettings
    kinds: tuple[str, ...]
    again: bool


@dataclass(frozen=True)
class Done:
    """A video for which there is nothing to do.

    Attributes:
        video_id: Its id.
        known_as: The path the library knows it by.
        modified_ns: When the file at hand was last changed, as the file system has it.
    """

    video_id: str
    known_as: str
    modified_ns: int


class Planner:
    """Decides for one video after the other.

    Args:
        database: The catalogue.
        store: The library's files.
        detector: Name of the detector for videos without boxes.
        options: Its options.
        rate: Frames a second it looks at; ``None`` for all.
        copy: Whether videos are to be copied.
        force: Whether to do again what is done.
        fps: Frames per second of boxes without a video; by default those in the file.
        size: Width and height of boxes without a video; by default those in the file.
    """

    def __init__(
        self,
        database: Database,
        store: ArtefactStore,
        *,
        detector: str,
        options: Mapping[str, Any],
        rate: float | None,
        copy: bool,
        force: bool,
        fps: float | None = None,
        size: tuple[int, int] | None = None,
    ):
        if rate is not None and not 0 < rate < float("inf"):
            raise LibraryError(f"rate must be above 0 frames per second, got {rate}.")
        self._database, self._store, self._force, self._copy = database, store, force, copy
        self._fps, self._size = fps, size
        found = load_detector(detector, **options)
        seen_with = {"detector": detector, "options": found.settings(), "rate": rate}
        self._plan = self._planned(detector, options, rate, seen_with)

    def decide(self, source: VideoSource) -> IngestJob | Done:
        """Say what is to be done for a video.

        Raises:
            VideoError: If the file cannot be read at all.
        """
        path = str(source.path)
        plan = self._plan_of(source)
        status = _status(source.path)
        known = None if self._force else self._find(schema.videos.c.path == path)
        if known is None or (known.size, known.modified_ns) != (status.st_size, status.st_mtime_ns):
            sha256 = _hash(source.path)
            known = self._find(schema.videos.c.sha256 == sha256)
        else:  # unchanged by all appearances, as `make` and `rsync` would say; verify() reads it
            sha256 = known.sha256
        video_id = known.id if known else f"{slug_of(source.path.stem)}-{sha256[:8]}"
        kinds = tuple(plan.settings)
        if known and not self._force:
            kinds = self._missing(video_id, plan)
        if known and not kinds:
            return Done(video_id, known.path, status.st_mtime_ns)
        return IngestJob(
            path=path,
            video_id=video_id,
            sha256=sha256,
            size=status.st_size,
            modified_ns=status.st_mtime_ns,
            folder=str(self._store.folder),
            bucket=self._store.url,
            plan=plan,
            kinds=kinds,
            again=self._force,
        )

    def _planned(
        self,
        detector: str,
        options: Mapping[str, Any],
        rate: float | None,
        seen_with: Mapping[str, Any],
    ) -> IngestSettings:
        settings: dict[str, Mapping[str, Any]] = {DETECTIONS: seen_with, THUMBNAIL: {}}
        if self._copy:
            settings[ORIGINAL] = {}
        return IngestSettings(detector, options, rate, settings)

    def _plan_of(self, source: VideoSource) -> IngestSettings:
        if not source.has_pictures:
            options = {"sha256": _hash(source.path), "fps": self._fps, "size": self._size}
            seen_with = {"detector": "boxes", "options": options, "rate": None}
            given = {"fps": self._fps, "size": self._size}
            return replace(self._planned("boxes", given, None, seen_with), has_pictures=False)
        return self._plan if source.boxes is None else self._plan_with(source.boxes)

    def _plan_with(self, boxes: Path) -> IngestSettings:
        # Known by its content: the same boxes from another place are still the same boxes.
        seen_with = {"detector": "boxes", "options": {"sha256": _hash(boxes)}, "rate": None}
        return self._planned("boxes", {"path": str(boxes)}, None, seen_with)

    def _find(self, wanted: sa.ColumnElement[bool]) -> Any:
        with self._database.read() as connection:
            return connection.execute(sa.select(schema.videos).where(wanted).limit(1)).first()

    def _missing(self, video_id: str, plan: IngestSettings) -> tuple[str, ...]:
        column = schema.artefacts.c.slot
        slots = {kind: slot_of(kind, made, video_id) for kind, made in plan.settings.items()}
        with self._database.read() as connection:
            query = sa.select(column).where(column.in_(list(slots.values())))
            there = set(connection.scalars(query))
        return tuple(kind for kind, slot in slots.items() if slot not in there)


def slug_of(name: str) -> str:
    """Make a name plain: lower-case letters, digits and single hyphens.

    Examples:
        >>> slug_of("Café Nº 3 (final)")
        'cafe-no-3-final'
    """
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    slug = re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:_SLUG_LENGTH].rstrip("-")
    return slug or "video"


def _status(path: Path) -> os.stat_result:
    try:
        str(path).encode("utf-8")
        status = path.stat()
    except UnicodeEncodeError:
        raise VideoError(
            f"the name {os.fsencode(path)!r} is not valid UTF-8; rename the file."
        ) from None
    except OSError as error:
        raise VideoError(f"{path} cannot be read: {error.strerror}.") from error
    if status.st_size == 0:
        raise VideoError(f"{path} is empty; copy or record it again.")
    return status


def _hash(path: Path) -> str:
    try:
        return sha256_of(path)
    except OSError as error:
        raise VideoError(f"{path} cannot be read: {error.strerror}.") from error


# Doing the next piece of work in a thread while the last one is being used.

Item = TypeVar("Item")

_CHECK_SECONDS = 0.1


class _End:
    """Comes last, with what went wrong if anything did."""

    def __init__(self, error: BaseException | None = None):
        self.error = error


def ahead(items: Iterator[Item], depth: int) -> Generator[Item, None, None]:
    """Yield the items of an iterator that runs in its own thread, up to ``depth`` items ahead.

    An exception of the iterator comes out here, after the items before it. The thread has ended
    and the iterator is closed when this one ends, is closed or fails.

    Args:
        items: A generator; only the thread touches it from now on.
        depth: How many items may wait.
    """
    queue: Queue[Item | _End] = Queue(maxsize=depth)
    stop = threading.Event()
    thread = threading.Thread(target=_fill, args=(items, queue, stop), daemon=True)
    thread.start()
    try:
        while not isinstance(item := queue.get(), _End):
            yield item
        if item.error is not None:
            raise item.error
    finally:
        stop.set()
        _empty(queue)
        thread.join()


def _fill(items: Iterator[Item], queue: "Queue[Item | _End]", stop: threading.Event) -> None:
    end = _End()
    try:
        for item in items:
            if not _put(queue, item, stop):
                break
    except BaseException as error:
        end = _End(error)
    finally:
        close = getattr(items, "close", None)
        if close is not None:
            close()
    _put(queue, end, stop)


def _put(queue: "Queue[Item | _End]", item: Item | _End, stop: threading.Event) -> bool:
    while not stop.is_set():
        try:
            queue.put(item, timeout=_CHECK_SECONDS)
        except Full:
            continue
        return True
    return False


def _empty(queue: "Queue[Item | _End]") -> None:
    try:
        while True:
            queue.get_nowait()
    except Empty:
        return


_FRAMES_AHEAD = 8  # enough to even out slow frames; each holds one uncompressed picture
THUMBNAIL_SIDE = 320
"""Pixels of the longer side of a thumbnail."""

_THUMBNAIL_AT = 1 / 3  # of the duration; the very beginning is often black or a title
_TELL_SECONDS = 0.2


@dataclass(frozen=True)
class ScanResult:
    """What a pass over a video found.

    Attributes:
        info: What the video is like.
        num_frames: How many frames could be decoded.
        detections: What the detector saw, with optical flow.
        shots: Its shots.
        scenes: Its scenes.
        thumbnail: ``(H, W, 3)`` a small RGB picture of it.
    """

    info: VideoInfo
    num_frames: int
    detections: Detections
    shots: tuple[Shot, ...]
    scenes: tuple[Scene, ...]
    thumbnail: NDArray[np.uint8]


def scan(
    video: VideoReader, detector: Detector, *, rate: float | None, video_id: str
) -> ScanResult:
    """Decode a video once and find everything.

    Args:
        video: The video.
        detector: Looks at the chosen frames.
        rate: Choose at most so many frames a second; ``None`` for all.
        video_id: Given to the shots.
    """
    decoding = _Decoding(video, Sampler(rate), video_id)
    with closing(ahead(decoding.frames(), _FRAMES_AHEAD)) as frames:
        size = (video.info.width, video.info.height)
        detections = watch(frames, _Ahead(detector, video.info), size)
    end = video.info.start_time + video.info.duration
    shots = decoding.shots.finish(end)
    return ScanResult(
        info=video.info,
        num_frames=decoding.num_frames,
        detections=detections,
        shots=tuple(shots),
        scenes=tuple(group_scenes(shots, decoding.shots.descriptors)),
        thumbnail=decoding.thumbnail,
    )


class _Decoding:
    """Reads all frames, finds shots and a thumbnail, and hands on the chosen frames."""

    def __init__(self, video: VideoReader, sampler: Sampler, video_id: str):
        self._video, self._sampler = video, sampler
        self.shots = ShotFinder(video_id)
        self.num_frames = 0
        self.thumbnail = np.zeros((1, 1, 3), np.uint8)

    def frames(self) -> Iterator[Frame]:
        info = self._video.info
        scale = min(1.0, THUMBNAIL_SIDE / max(info.width, info.height))
        size = max(1, round(info.width * scale)), max(1, round(info.height * scale))
        middle = info.start_time + info.duration * _THUMBNAIL_AT
        wanted = -np.inf  # the first frame, then a better one if the video reaches that far
        for frame in self._video.frames():
            self.num_frames += 1
            self.shots.push(frame)
            if frame.time >= wanted:
                self.thumbnail = frame.scaled(*size)
                wanted = np.inf if frame.time >= middle else middle
            if self._sampler.takes(frame.time):
                yield frame


class _Ahead:
    """A detector that works in its own thread, and tells how far it has come."""

    def __init__(self, detector: Detector, info: VideoInfo):
        self._detector, self._info = detector, info
        self.name, self.label_names = detector.name, detector.label_names

    def settings(self) -> dict[str, Any]:
        return self._detector.settings()

    def explain_nothing(self) -> str:
        return explain_nothing(self._detector)

    def detect(self, frames: Iterable[Frame]) -> Iterator[FrameDetections]:
        reported = time.monotonic()
        with closing(ahead(self._detector.detect(frames), _FRAMES_AHEAD)) as results:
            for found in results:
                yield found
                now = time.monotonic()
                if now - reported > _TELL_SECONDS and self._info.duration > 0:
                    reported = now
                    send_note(min(1.0, (found.time - self._info.start_time) / self._info.duration))
