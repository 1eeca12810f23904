"""From what a collection knows of a video to its documents: one per shot, each with a picture."""

import hashlib
import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Protocol

from wordsight.records import Shot
from wordsight.retrieval.documents import Document, Source
from wordsight.retrieval.visual.dynamic import SECONDS, DynamicBlockDct
from wordsight.retrieval.visual.settings import VisualSettings

if TYPE_CHECKING:
    from wordsight.video import Frame, VideoReader

__all__ = ["Details", "Said", "Video", "fingerprint_of", "video_sources"]


class Video(Protocol):
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


class Said(Protocol):
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


class Details(Protocol):
    """What a collection knows of one video."""

    @property
    def video(self) -> Video:
        """The video."""

    @property
    def sentences(self) -> Sequence[Said]:
        """What is said of it."""

    @property
    def shots(self) -> Sequence[Shot]:
        """Its shots in order."""

    @property
    def scenes(self) -> Sequence[int]:
        """For each shot the number of its scene."""


def video_sources(details: Details, visual: VisualSettings) -> Iterator[Source]:
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
            yield Source(
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


def _during(said: Said, shot: Shot) -> bool:
    if said.start is None:
        return False
    end = said.start if said.end is None else said.end
    return said.start < shot.end and (end > shot.start or said.start >= shot.start)


def _whole(video_id: str, reader: "VideoReader") -> Shot:
    start = reader.info.start_time
    return Shot(video_id, start, start + reader.info.duration, 1.0, 0, reader.info.num_frames)


def fingerprint_of(details: Details) -> str:
    """Return what changes when a video's documents would."""
    told = [
        details.video.sha256,
        [[shot.start, shot.end] for shot in details.shots],
        list(details.scenes),
        [[said.start, said.end, said.text] for said in details.sentences],
    ]
    return hashlib.sha256(json.dumps(told, ensure_ascii=True).encode()).hexdigest()[:32]
