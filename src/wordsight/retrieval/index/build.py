"""Building an index from a collection of videos, and updating it with the videos that changed.

Videos are processed by an engine in any order; the results are committed here in the order of the
videos, so that the index does not depend on where the work ran.
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
"""Shots on which the scale of a new index is measured; enough for three digits."""


class Collection(Protocol):
    """A source of videos, such as a library."""

    def videos(self) -> Sequence[CollectionVideo]:
        """List the videos."""

    def show(self, video_id: str) -> CollectionVideoDetails:
        """Return a video with its sentences, shots and scenes."""


@dataclass(frozen=True)
class BuildReport:
    """The result of a build.

    Attributes:
        added: Ids of new and changed videos.
        unchanged: Ids of videos that were up to date.
        removed: Ids of videos that are no longer in the collection.
        failed: Ids of videos that could not be read, with the reasons.
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
    """Build an index of a collection, or update an existing one.

    Each video is committed separately: an interrupted build continues where it stopped. The scale
    of the visual models is measured once, when the index is created, so that all models are
    comparable.

    Args:
        folder: The folder of the index.
        collection: The videos; a :class:`wordsight.library.Library` is one.
        visual: Settings of the visual models of a new index; an existing one keeps its own.
        parts: Further parts to build, such as the words.
        settings: The settings of those parts by name.
        progress: Called after each video.
        engine: Runs the work on the videos; this process by default. The index is the same.
        device: Device that fits mixtures, such as ``cuda``; None for the CPU.
    """
    videos = list(collection.videos())
    engine = engine or Serial()
    chosen = _visual_settings(folder, collection, videos, visual, engine)
    all_settings = {VISUAL: chosen.to_json(), **(settings or {})}
    all_parts = (VisualPart(chosen, device=device), *parts)
    with IndexWriter(folder, all_parts, all_settings) as writer:
        removed = sorted(writer.videos().keys() - {video.id for video in videos})
        if removed:
            writer.remove(removed)
        build = _Build(collection, writer, chosen, all_parts, progress, len(videos))
        build.run(videos, engine)
    return BuildReport(
        tuple(build.added), tuple(build.unchanged), tuple(removed), tuple(build.failed)
    )


@dataclass
class _Build:
    """The state of a build."""

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
        with closing(engine.map(build_video, self._jobs(videos), ordered=True)) as outcomes:
            for outcome in outcomes:
                job, built = outcome.item, outcome.result
                if built is None:
                    self.failed.append((job.video_id, outcome.error or "it failed."))
                else:
                    self.writer.add_built(job.video_id, job.fingerprint, built)
                    self.added.append(job.video_id)
                self._report(job.video_id)

    def _jobs(self, videos: Sequence[CollectionVideo]) -> Iterator[VideoJob]:
        indexed = self.writer.videos()
        for video in videos:
            details = self.collection.show(video.id)
            fingerprint = fingerprint_of(details)
            if indexed.get(video.id) == fingerprint:
                self.unchanged.append(video.id)
                self._report(video.id)
            else:
                yield VideoJob(details, fingerprint, self.visual, self.parts)

    def _report(self, video_id: str) -> None:
        done = len(self.added) + len(self.unchanged) + len(self.failed)
        if self.progress is not None:
            self.progress(done, self.total, video_id)


def _visual_settings(
    folder: str | os.PathLike[str],
    collection: Collection,
    videos: Sequence[CollectionVideo],
    requested: VisualSettings | None,
    engine: Engine,
) -> VisualSettings:
    if (Path(folder) / MANIFEST).exists():
        kept = VisualSettings.from_json(Manifest.read(folder).settings.get(VISUAL, {}))
        scale = kept.require_scale()
        if requested is not None and requested.with_scale(scale).to_json() != kept.to_json():
            raise RetrievalError(
                f"the index in {folder} was built with other visual settings; omit the settings "
                "to keep them, or delete the folder to start over."
            )
        return kept
    settings = requested or VisualSettings()
    if settings.scale:
        return settings
    return settings.with_scale(_measure_scale(collection, videos, settings, engine))


def _measure_scale(
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
        # Videos that fail here are reported when they are added.
        bags = [bag for outcome in outcomes for bag in outcome.result or ()]
    if not bags:
        raise RetrievalError("no video of the collection can be read; there is nothing to index.")
    return FeatureScale.measure(bags, settings.features().resolution)
