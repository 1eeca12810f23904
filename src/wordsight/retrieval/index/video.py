"""From what a collection knows of a video to its documents: one per shot, each with a picture."""

import hashlib
import json
from collections.abc import Iterator, Sequence
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

if TYPE_CHECKING:
    from wordsight.video import Frame, VideoReader

__all__ = [
    "BuiltVideo",
    "CollectionVideo",
    "CollectionVideoDetails",
    "TimedSentence",
    "VideoJob",
    "build_video",
    "fingerprint_of",
    "sample_video",
    "video_sources",
]


class CollectionVideo(Protocol):
    """A video of a collection."""

    @property
    def id(self) -> str:
        """Its name in the collection."""

    @property
    def path(self) -> str:
        """Where its file is."""

    @property
    def sha256(self) -> str:
        """Hash of its content."""


class TimedSentence(Protocol):
    """A sentence or caption of a video."""

    @property
    def start(self) -> float | None:
        """From when on, in seconds; ``None`` if of the whole video."""

    @property
    def end(self) -> float | None:
        """Until when."""

    @property
    def text(self) -> str:
        """The words."""


class CollectionVideoDetails(Protocol):
    """What a collection knows of one video."""

    @property
    def video(self) -> CollectionVideo:
        """The video."""

    @property
    def sentences(self) -> Sequence[TimedSentence]:
        """What is said of it."""

    @property
    def shots(self) -> Sequence[Shot]:
        """Its shots in order."""

    @property
    def scenes(self) -> Sequence[int]:
        """For each shot the number of its scene."""


def video_sources(
    details: CollectionVideoDetails, visual: VisualSettings
) -> Iterator[DocumentSource]:
    """Yield one document per shot: its key frame from the middle, and what is said meanwhile.

    A video without shots is one document; what is said of the whole video goes with every shot.
    """
    from wordsight.video import VideoReader  # here: it brings decoders along

    whole = tuple(said.text for said in details.sentences if said.start is None)
    features = visual.features()
    with VideoReader(details.video.path) as reader:
        shots = list(zip(details.shots, details.scenes, strict=True)) or [
            (_whole(details.video.id, reader), 0)
        ]
        for number, (shot, scene) in enumerate(shots):
            middle = (shot.start + shot.end) / 2
            if isinstance(features, DynamicBlockDct):
                frames = list(_second_around(reader, shot, middle, features.num_frames))
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
                tuple(said.text for said in details.sentences if _during(said, shot)),
                whole,
                tuple(frame.image for frame in frames),
                tuple(frame.time for frame in frames),
            )


def _second_around(
    reader: "VideoReader", shot: Shot, middle: float, count: int
) -> "Iterator[Frame]":
    start, end = max(shot.start, middle - SECONDS / 2), min(shot.end, middle + SECONDS / 2)
    found = list(reader.frames(start, end, rate=count / SECONDS))
    yield from found or [reader.frame_at(middle)]


def _during(said: TimedSentence, shot: Shot) -> bool:
    if said.start is None:
        return False
    end = said.start if said.end is None else said.end
    return said.start < shot.end and (end > shot.start or said.start >= shot.start)


def _whole(video_id: str, reader: "VideoReader") -> Shot:
    start = reader.info.start_time
    return Shot(video_id, start, start + reader.info.duration, 1.0, 0, reader.info.num_frames)


def fingerprint_of(details: CollectionVideoDetails) -> str:
    """Return what changes when a video's documents would."""
    told = [
        details.video.sha256,
        [[shot.start, shot.end] for shot in details.shots],
        list(details.scenes),
        [[said.start, said.end, said.text] for said in details.sentences],
    ]
    return hashlib.sha256(json.dumps(told, ensure_ascii=True).encode()).hexdigest()[:32]


# The work on one video of an index, complete in itself so that it can be done anywhere.


_SHOTS_AT_ONCE = 32


@dataclass(frozen=True)
class VideoJob:
    """What is to be done for one video.

    Attributes:
        details: What the collection knows of it.
        fingerprint: What tells later whether it changed.
        visual: How its shots are modelled.
        parts: What its documents get.
    """

    details: CollectionVideoDetails
    fingerprint: str
    visual: VisualSettings
    parts: tuple[IndexPart, ...]

    @property
    def video_id(self) -> str:
        """Which video it is."""
        return self.details.video.id


@dataclass(frozen=True)
class BuiltVideo:
    """The documents of a video, ready to be written.

    Attributes:
        parts: By name, the parts of its segment.
        count: How many documents there are.
    """

    parts: dict[str, PartData]
    count: int


def build_video(job: VideoJob) -> BuiltVideo:
    """Look at the shots of a video and make all parts of their documents.

    Pictures of a few dozen shots at a time are in memory, however long the video is.

    Raises:
        VideoError: If it cannot be read.
    """
    documents = DocumentsPart({job.video_id: job.fingerprint})
    seeing = [part for part in job.parts if part.piecewise]
    pieces: dict[str, list[PartData]] = {part.name: [] for part in seeing}
    kept: list[DocumentSource] = []
    sources = video_sources(job.details, job.visual)
    while some := list(islice(sources, _SHOTS_AT_ONCE)):
        for part in seeing:
            pieces[part.name].append(part.build(some))
        kept += [replace(source, frames=(), times=()) for source in some]
    others = (documents, *(part for part in job.parts if not part.piecewise))
    made = {part.name: part.build(kept) for part in others}
    made |= {name: _joined(each) for name, each in pieces.items() if each}
    return BuiltVideo(made, len(kept))


def _joined(pieces: list[PartData]) -> PartData:
    names = pieces[0].arrays
    return PartData({name: np.concatenate([p.arrays[name] for p in pieces]) for name in names})


def sample_video(job: tuple[CollectionVideoDetails, VisualSettings, int]) -> list[NDArray[Any]]:
    """Return the samples ``(N, n)`` of the first shots of a video, so many at most."""
    details, settings, most = job
    sources = islice(video_sources(details, settings), most)
    return [np.asarray(source_samples(source, settings).values) for source in sources]
