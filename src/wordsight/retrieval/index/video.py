"""The documents of one video: one per shot, with its key frame and what is said during it.

The work on a video is self-contained, so that it can run in another process or on another machine.
"""

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from wordsight.records import Shot
from wordsight.retrieval.documents import Document, DocumentSource
from wordsight.retrieval.index.reader import DocumentsPart
from wordsight.retrieval.index.segments import IndexPart, PartData
from wordsight.retrieval.visual.block_dct import SECONDS, DynamicBlockDct
from wordsight.retrieval.visual.part import VisualSettings, source_samples
from wordsight.retrieval.visual.stills import shrunk, still_times

if TYPE_CHECKING:
    from wordsight.video import Frame, VideoReader
    from wordsight.video.draw.overlay import TimedText

__all__ = [
    "BuiltVideo",
    "CollectionVideo",
    "CollectionVideoDetails",
    "IndexTarget",
    "VideoJob",
    "build_video",
    "fingerprint_of",
    "sample_video",
    "video_sources",
]

_BATCH_SHOTS = 32
_READ_THROUGH = 20.0  # seconds of a shot; in longer ones stills are sought one by one


class CollectionVideo(Protocol):
    """A video of a collection."""

    @property
    def id(self) -> str:
        """Its name in the collection."""

    @property
    def path(self) -> str:
        """Its file."""

    @property
    def sha256(self) -> str:
        """Hash of its content."""


class CollectionVideoDetails(Protocol):
    """A video of a collection with its sentences, shots and scenes."""

    @property
    def video(self) -> CollectionVideo:
        """The video."""

    @property
    def sentences(self) -> "Sequence[TimedText]":
        """Its captions and sentences; those without a start belong to the whole video."""

    @property
    def shots(self) -> Sequence[Shot]:
        """Its shots in order."""

    @property
    def scenes(self) -> Sequence[int]:
        """The scene index of each shot."""


@dataclass(frozen=True)
class VideoJob:
    """A video to be indexed.

    Attributes:
        details: The video.
        fingerprint: Changes when the documents of the video would.
        visual: Settings of the visual models.
        parts: The parts to build.
    """

    details: CollectionVideoDetails
    fingerprint: str
    visual: VisualSettings
    parts: tuple[IndexPart, ...]

    @property
    def video_id(self) -> str:
        """The id of the video."""
        return self.details.video.id


@dataclass(frozen=True)
class BuiltVideo:
    """The documents of a video, ready to be written.

    Attributes:
        parts: The parts of its segment by name.
        count: The number of documents.
    """

    parts: dict[str, PartData]
    count: int


class IndexTarget(Protocol):
    """Takes the videos that a build adds and removes."""

    def videos(self) -> dict[str, str]:
        """Return the fingerprint of each video in the index."""

    def remove(self, video_ids: str | Iterable[str]) -> None:
        """Remove videos."""

    def work(self) -> Callable[[VideoJob], Any]:
        """Return what is done with each video where the work runs; importable by name."""

    def add_built(self, video_id: str, fingerprint: str, built: Any) -> None:
        """Add or replace a video, given what that work returned."""

    def close(self) -> None:
        """Finish."""


def build_video(job: VideoJob) -> BuiltVideo:
    """Build all parts for the shots of a video.

    Shots are decoded in batches, so that memory does not grow with the length of the video.

    Raises:
        VideoError: If the video cannot be read.
    """
    batched = [part for part in job.parts if part.batched]
    others = [part for part in job.parts if not part.batched]
    batches: dict[str, list[PartData]] = {part.name: [] for part in batched}
    kept: list[DocumentSource] = []
    sources = video_sources(job.details, job.visual, stills=True)
    while batch := list(islice(sources, _BATCH_SHOTS)):
        for part in batched:
            batches[part.name].append(part.build(batch))
        kept += [replace(source, frames=(), times=(), stills=()) for source in batch]
    documents = DocumentsPart({job.video_id: job.fingerprint})
    parts = {part.name: part.build(kept) for part in (documents, *others)}
    parts |= {name: _concatenated(data) for name, data in batches.items() if data}
    return BuiltVideo(parts, len(kept))


def _concatenated(batches: list[PartData]) -> PartData:
    names = batches[0].arrays
    return PartData({name: np.concatenate([b.arrays[name] for b in batches]) for name in names})


def sample_video(job: tuple[CollectionVideoDetails, VisualSettings, int]) -> list[NDArray[Any]]:
    """Return the samples ``(N, n)`` of the first shots of a video; the job gives their number."""
    details, settings, most = job
    sources = islice(video_sources(details, settings), most)
    return [np.asarray(source_samples(source, settings).values) for source in sources]


def video_sources(
    details: CollectionVideoDetails, visual: VisualSettings, *, stills: bool = False
) -> Iterator[DocumentSource]:
    """Yield one document per shot: its middle frame and the sentences that overlap it.

    A video without shots is one document. Sentences without times are added to every shot. With
    ``stills``, documents also have small frames from all over the shot.
    """
    from wordsight.video import VideoReader  # here: it imports decoders

    whole = tuple(sentence.text for sentence in details.sentences if sentence.start is None)
    features = visual.features()
    with VideoReader(details.video.path) as reader:
        shots = list(zip(details.shots, details.scenes, strict=True)) or [
            (_whole_video(details.video.id, reader), 0)
        ]
        for number, (shot, scene) in enumerate(shots):
            middle = (shot.start + shot.end) / 2
            if isinstance(features, DynamicBlockDct):
                frames = _frames_around(reader, shot, middle, features.num_frames)
            else:
                frames = [reader.frame_at(middle)]
            document = Document(
                f"{'_'.join(details.video.id.split())}:{number:04d}",
                details.video.id,
                shot.start,
                shot.end,
                frames[len(frames) // 2].time,
                scene,
            )
            yield DocumentSource(
                document,
                tuple(each.text for each in details.sentences if _overlaps(each, shot)),
                whole,
                tuple(frame.image for frame in frames),
                tuple(frame.time for frame in frames),
                tuple(_stills(reader, shot)) if stills else (),
            )


def _frames_around(
    reader: "VideoReader", shot: Shot, middle: float, count: int
) -> "Sequence[Frame]":
    start, end = max(shot.start, middle - SECONDS / 2), min(shot.end, middle + SECONDS / 2)
    return list(reader.frames(start, end, rate=count / SECONDS)) or [reader.frame_at(middle)]


def _stills(reader: "VideoReader", shot: Shot) -> "Iterator[NDArray[np.uint8]]":
    """Yield small frames at even steps over a shot."""
    times = still_times(shot.start, shot.end)
    if shot.end - shot.start > _READ_THROUGH:
        yield from (shrunk(reader.frame_at(time).image) for time in times)
        return
    last = None
    for frame in reader.frames(shot.start, shot.end):
        while times and frame.time > times[0]:
            times.pop(0)
            yield shrunk((last or frame).image)
        last = frame
    rest = last or reader.frame_at(shot.start)
    yield from (shrunk(rest.image) for _ in times)


def _overlaps(sentence: "TimedText", shot: Shot) -> bool:
    if sentence.start is None:
        return False
    end = sentence.start if sentence.end is None else sentence.end
    return sentence.start < shot.end and (end > shot.start or sentence.start >= shot.start)


def _whole_video(video_id: str, reader: "VideoReader") -> Shot:
    start = reader.info.start_time
    return Shot(video_id, start, start + reader.info.duration, 1.0, 0, reader.info.num_frames)


def fingerprint_of(details: CollectionVideoDetails) -> str:
    """Return a hash that changes when the documents of a video would."""
    content = [
        "stills",  # what documents have since the first version
        details.video.sha256,
        [[shot.start, shot.end] for shot in details.shots],
        list(details.scenes),
        [[each.start, each.end, each.text] for each in details.sentences],
    ]
    return hashlib.sha256(json.dumps(content, ensure_ascii=True).encode()).hexdigest()[:32]
