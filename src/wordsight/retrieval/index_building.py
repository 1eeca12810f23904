"""Building an index from a collection of videos, and bringing it up to date: only what changed."""

import hashlib
import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from wordsight.errors import WordsightError
from wordsight.progress import Progress
from wordsight.records import Shot
from wordsight.retrieval.documents import Document, Source
from wordsight.retrieval.errors import RetrievalError
from wordsight.retrieval.index_writer import IndexWriter
from wordsight.retrieval.manifest import MANIFEST, Manifest
from wordsight.retrieval.segments import Part
from wordsight.retrieval.visual.dynamic import SECONDS, DynamicBlockDct
from wordsight.retrieval.visual.features import FeatureScale
from wordsight.retrieval.visual.part import VISUAL, VisualPart, source_samples
from wordsight.retrieval.visual.settings import VisualSettings

if TYPE_CHECKING:
    from wordsight.video import Frame, VideoReader

__all__ = ["BuildReport", "Collection", "build_index", "video_sources"]

_SCALE_SHOTS = 200
"""Shots whose samples set the scale of a new index; a few hundred settle it to three digits."""


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


class Collection(Protocol):
    """What an index can be built from, such as a library."""

    def videos(self) -> Sequence[Video]:
        """List the videos."""

    def show(self, video_id: str) -> Details:
        """Tell all that is known of one."""


@dataclass(frozen=True)
class BuildReport:
    """What became of the videos of a collection.

    Attributes:
        added: Ids of videos that are new in the index, or new again because they changed.
        unchanged: Ids of videos that were there as they are.
        removed: Ids of videos that the collection no longer has.
        failed: Ids of videos that could not be read, each with the reason.
    """

    added: tuple[str, ...] = ()
    unchanged: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    failed: tuple[tuple[str, str], ...] = ()


def build_index(
    folder: str | os.PathLike[str],
    collection: Collection,
    *,
    visual: VisualSettings | None = None,
    parts: Sequence[Part] = (),
    settings: dict[str, Any] | None = None,
    progress: Progress | None = None,
) -> BuildReport:
    """Make an index of a collection, or bring one up to date.

    Every video is committed by itself: an interrupted build goes on where it was. The scale of the
    visual models is measured when the index is made and stays, so that models made early and late
    can be compared.

    Args:
        folder: Where the index is or shall be.
        collection: The videos; a :class:`wordsight.library.Library` is one.
        visual: How shots are modelled, in a new index; as it was in one that exists.
        parts: What documents get besides their visual models, such as their words.
        settings: By name of those parts, how they are made.
        progress: Told after each video.
    """
    videos = list(collection.videos())
    chosen = _visual_settings(folder, collection, videos, visual)
    together = {VISUAL: chosen.to_json(), **(settings or {})}
    added, unchanged, failed = [], [], []
    with IndexWriter(folder, [VisualPart(chosen), *parts], together) as writer:
        known = writer.videos()
        gone = sorted(known.keys() - {video.id for video in videos})
        if gone:
            writer.remove(gone)
        for done, video in enumerate(videos, start=1):
            details = collection.show(video.id)
            mark = _fingerprint(details)
            if known.get(video.id) == mark:
                unchanged.append(video.id)
            else:
                try:
                    writer.add(video.id, mark, list(video_sources(details, chosen)))
                    added.append(video.id)
                except WordsightError as error:
                    failed.append((video.id, str(error)))
            if progress is not None:
                progress(done, len(videos), video.id)
    return BuildReport(tuple(added), tuple(unchanged), tuple(gone), tuple(failed))


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


def _fingerprint(details: Details) -> str:
    """Return what changes when a video's documents would."""
    told = [
        details.video.sha256,
        [[shot.start, shot.end] for shot in details.shots],
        list(details.scenes),
        [[said.start, said.end, said.text] for said in details.sentences],
    ]
    return hashlib.sha256(json.dumps(told, ensure_ascii=True).encode()).hexdigest()[:32]


def _visual_settings(
    folder: str | os.PathLike[str],
    collection: Collection,
    videos: Sequence[Video],
    asked: VisualSettings | None,
) -> VisualSettings:
    if (Path(folder) / MANIFEST).exists():
        kept = VisualSettings.from_json(Manifest.read(folder).settings.get(VISUAL, {}))
        if asked is not None and asked.scaled(kept.known_scale()).to_json() != kept.to_json():
            raise RetrievalError(
                f"the index in {folder} models shots otherwise; leave the settings out to keep "
                "them, or delete the folder to begin anew."
            )
        return kept
    settings = asked or VisualSettings()
    return settings if settings.scale else settings.scaled(_measured(collection, videos, settings))


def _measured(
    collection: Collection, videos: Sequence[Video], settings: VisualSettings
) -> FeatureScale:
    """Measure the scale on shots spread over the whole collection."""
    step = max(1, -(-len(videos) // _SCALE_SHOTS))
    per_video = max(1, _SCALE_SHOTS // max(1, len(videos[::step])))
    bags = []
    for video in videos[::step]:
        try:
            sources = video_sources(collection.show(video.id), settings)
            for _, source in zip(range(per_video), sources, strict=False):
                bags.append(source_samples(source, settings).values)
        except WordsightError:
            continue  # told when the video itself is added
    if not bags:
        raise RetrievalError("no video of the collection can be read; there is nothing to index.")
    return FeatureScale.of(bags, settings.features().resolution)
