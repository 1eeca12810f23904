"""Building an index from a collection of videos, and bringing it up to date: only what changed.

Videos are looked at wherever an engine works; what is found comes back in the order of the videos
and is committed here one by one, so that the index is the same whoever did the work.
"""

import os
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from wordsight.engine import Engine, Serial
from wordsight.progress import Progress
from wordsight.retrieval.errors import RetrievalError
from wordsight.retrieval.index.segments import MANIFEST, IndexPart, Manifest
from wordsight.retrieval.index.video import (
    CollectionVideo,
    CollectionVideoDetails,
    VideoJob,
    build_video,
    fingerprint_of,
    sample_video,
)
from wordsight.retrieval.index.writer import IndexWriter
from wordsight.retrieval.visual.features import FeatureScale
from wordsight.retrieval.visual.part import VISUAL, VisualPart, VisualSettings

__all__ = ["BuildReport", "Collection", "build_index"]

_SCALE_SHOTS = 200
"""Shots whose samples set the scale of a new index; a few hundred settle it to three digits."""


class Collection(Protocol):
    """What an index can be built from, such as a library."""

    def videos(self) -> Sequence[CollectionVideo]:
        """List the videos."""

    def show(self, video_id: str) -> CollectionVideoDetails:
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
    parts: Sequence[IndexPart] = (),
    settings: dict[str, Any] | None = None,
    progress: Progress | None = None,
    engine: Engine | None = None,
    device: str | None = None,
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
        engine: Who looks at the videos; this process if left out. The index is the same.
        device: Where mixtures are fitted, such as ``cuda``; the processor if left out.
    """
    videos = list(collection.videos())
    who = engine or Serial()
    chosen = _visual_settings(folder, collection, videos, visual, who)
    together = {VISUAL: chosen.to_json(), **(settings or {})}
    all_parts = (VisualPart(chosen, device=device), *parts)
    with IndexWriter(folder, all_parts, together) as writer:
        gone = sorted(writer.videos().keys() - {video.id for video in videos})
        if gone:
            writer.remove(gone)
        building = _Building(collection, writer, chosen, all_parts, progress, len(videos))
        building.run(videos, who)
    return BuildReport(
        tuple(building.added), tuple(building.unchanged), tuple(gone), tuple(building.failed)
    )


@dataclass
class _Building:
    """One run over the videos of a collection, and what has become of them so far."""

    collection: Collection
    writer: IndexWriter
    visual: VisualSettings
    parts: tuple[IndexPart, ...]
    progress: Progress | None
    total: int
    added: list[str] = field(default_factory=list)
    unchanged: list[str] = field(default_factory=list)
    failed: list[tuple[str, str]] = field(default_factory=list)

    def run(self, videos: Sequence[CollectionVideo], engine: Engine) -> None:
        jobs = self._jobs(videos)
        with closing(engine.map(build_video, jobs, ordered=True)) as outcomes:
            for outcome in outcomes:
                job, built = outcome.item, outcome.result
                if built is None:
                    self.failed.append((job.video_id, outcome.error or "it failed."))
                else:
                    self.writer.add_built(job.video_id, job.fingerprint, built)
                    self.added.append(job.video_id)
                self._tell(job.video_id)

    def _jobs(self, videos: Sequence[CollectionVideo]) -> Iterator[VideoJob]:
        known = self.writer.videos()
        for video in videos:
            details = self.collection.show(video.id)
            mark = fingerprint_of(details)
            if known.get(video.id) == mark:
                self.unchanged.append(video.id)
                self._tell(video.id)
            else:
                yield VideoJob(details, mark, self.visual, self.parts)

    def _tell(self, what: str) -> None:
        done = len(self.added) + len(self.unchanged) + len(self.failed)
        if self.progress is not None:
            self.progress(done, self.total, what)


def _visual_settings(
    folder: str | os.PathLike[str],
    collection: Collection,
    videos: Sequence[CollectionVideo],
    asked: VisualSettings | None,
    engine: Engine,
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
    if settings.scale:
        return settings
    return settings.scaled(_measured(collection, videos, settings, engine))


def _measured(
    collection: Collection,
    videos: Sequence[CollectionVideo],
    settings: VisualSettings,
    engine: Engine,
) -> FeatureScale:
    """Measure the scale on shots spread over the whole collection."""
    step = max(1, -(-len(videos) // _SCALE_SHOTS))
    per_video = max(1, _SCALE_SHOTS // max(1, len(videos[::step])))
    jobs = ((collection.show(video.id), settings, per_video) for video in videos[::step])
    with closing(engine.map(sample_video, jobs, ordered=True)) as outcomes:
        # Videos that fail are told of when they are added themselves.
        bags = [bag for outcome in outcomes for bag in outcome.result or ()]
    if not bags:
        raise RetrievalError("no video of the collection can be read; there is nothing to index.")
    return FeatureScale.of(bags, settings.features().resolution)
