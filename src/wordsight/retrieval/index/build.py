"""Building an index from a collection of videos, and updating it with the videos that changed.

Videos are processed by an engine in any order; the results are committed here in the order of the
videos, so that the index does not depend on where the work ran. A change writes new segments and
lists of removed rows, and then replaces the manifest. A process killed before that leaves the old
index and some unreferenced files, which the next writer deletes. Small segments are merged.
"""

import fcntl
import os
import shutil
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from wordsight.closing import Closing
from wordsight.engine import Engine, Serial
from wordsight.errors import IndexBusyError, RetrievalError
from wordsight.files import TEMPORARY_MARK, atomic_path
from wordsight.progress import Progress
from wordsight.retrieval.documents import DocumentSource
from wordsight.retrieval.index.reader import DocumentsPart, videos_of
from wordsight.retrieval.index.segments import (
    MANIFEST,
    IndexPart,
    LiveSegment,
    Manifest,
    PartData,
    Segment,
    SegmentEntry,
    write_segment,
)
from wordsight.retrieval.index.video import (
    BuiltVideo,
    CollectionVideo,
    CollectionVideoDetails,
    IndexTarget,
    VideoJob,
    build_video,
    fingerprint_of,
    sample_video,
)
from wordsight.retrieval.visual.features import FeatureScale
from wordsight.retrieval.visual.part import VISUAL, VisualPart, VisualSettings, choose_components
from wordsight.retrieval.visual.scoring import evenly_spread
from wordsight.retrieval.visual.stills import StillsPart

__all__ = ["SCALE_SHOTS", "BuildReport", "Collection", "IndexWriter", "build_index", "lock_index"]


MERGE_FACTOR = 8
"""Number of neighbouring segments of similar size that are merged into one."""

SHARD_DOCUMENTS = 100_000
"""Maximum documents of a merged segment (about 200 MB): shards of bounded size can be searched in
parallel and are not copied again."""

GRACE_SECONDS = 600.0
"""How long unreferenced files are kept for readers that opened the index before a change."""

_LOCK = "lock"
_BIC_SHOTS = 40  # that the number of components is chosen on


class IndexWriter(Closing):
    """Writes to an index. Only one writer is open at a time; readers are not affected.

    Args:
        folder: The folder of the index; created if missing.
        parts: The parts of every segment; the same for all segments of an index.
        settings: The settings of each part; stored in the index.
        grace_seconds: How long unreferenced files are kept for readers.
        shard_documents: Maximum documents of a merged segment; a video is never split.

    Raises:
        RetrievalError: If another process is writing, or the index has other settings.
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        parts: Sequence[IndexPart],
        settings: Mapping[str, Any],
        *,
        grace_seconds: float = GRACE_SECONDS,
        shard_documents: int = SHARD_DOCUMENTS,
    ) -> None:
        self.folder = Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self._parts = tuple(parts)
        self._grace, self._max_documents = grace_seconds, shard_documents
        self._lock = lock_index(self.folder)
        try:
            self._manifest = self._open(dict(settings))
            self._segments: dict[str, Segment] = {}
            self._fingerprints: dict[str, str] = {}
            self._places: dict[str, tuple[str, int, int]] = {}
            self._locate_videos()
            self._clean_up()
        except BaseException:
            self.close()
            raise

    def videos(self) -> dict[str, str]:
        """Return the fingerprint of each video in the index."""
        return dict(self._fingerprints)

    def add(self, video_id: str, fingerprint: str, sources: Sequence[DocumentSource]) -> None:
        """Add or replace the documents of a video.

        Args:
            video_id: The video.
            fingerprint: Changes when the documents would.
            sources: Its documents.
        """
        if any(source.document.video_id != video_id for source in sources):
            raise RetrievalError(f"all documents added together must belong to {video_id}.")
        self._change({video_id: (fingerprint, sources)}, [video_id])

    def work(self) -> Callable[[VideoJob], BuiltVideo]:
        """Return what builds the parts of a video."""
        return build_video

    def add_built(self, video_id: str, fingerprint: str, built: BuiltVideo) -> None:
        """Add or replace a video whose parts are already built."""
        entries = self._remove_rows({video_id})
        if built.count:
            self._fingerprints[video_id] = fingerprint
            entries.append(self._write(built.parts, built.count))
        self._commit(self._merge(entries))

    def add_many(self, videos: Mapping[str, tuple[str, Sequence[DocumentSource]]]) -> None:
        """Add or replace several videos in one change."""
        self._change(videos, videos)

    def remove(self, video_ids: str | Iterable[str]) -> None:
        """Remove videos; ids that are not in the index are ignored."""
        self._change({}, [video_ids] if isinstance(video_ids, str) else video_ids)

    def close(self) -> None:
        """Release the lock."""
        os.close(self._lock)

    def _change(
        self, videos: Mapping[str, tuple[str, Sequence[DocumentSource]]], removed: Iterable[str]
    ) -> None:
        entries = self._remove_rows(set(removed))
        sources = [source for _, of_video in videos.values() for source in of_video]
        if sources:
            self._fingerprints |= {name: mark for name, (mark, _) in videos.items()}
            parts = (DocumentsPart(self._fingerprints), *self._parts)
            built = {part.name: part.build(sources) for part in parts}
            entries.append(self._write(built, len(sources)))
        self._commit(self._merge(entries))

    def _remove_rows(self, video_ids: set[str]) -> list[SegmentEntry]:
        """Mark the rows of videos as removed; drop segments that become empty."""
        rows: dict[str, list[int]] = {}
        for name in video_ids & self._places.keys():
            segment, first, count = self._places[name]
            rows.setdefault(segment, []).extend(range(first, first + count))
        entries = []
        for entry in self._manifest.segments:
            if entry.name in rows:
                entry = self._mark_removed(entry, rows[entry.name])
            if entry.num_live:
                entries.append(entry)
        return entries

    def _mark_removed(self, entry: SegmentEntry, rows: Sequence[int]) -> SegmentEntry:
        live = self._live(entry).rows
        before = np.setdiff1d(np.arange(entry.count), live, assume_unique=True)
        gone = np.union1d(before, rows).astype(np.int64)
        # A random name: another machine may mark other rows for the same bucket meanwhile.
        name = f"{entry.name}.gone-{self._manifest.generation + 1}-{os.urandom(4).hex()}.npy"
        with atomic_path(self.folder / name) as temporary:
            np.save(temporary, gone, allow_pickle=False)
        return SegmentEntry(entry.name, entry.count, name, len(gone))

    def _merge(self, entries: list[SegmentEntry]) -> list[SegmentEntry]:
        """Merge small segments at the end, and rewrite segments that are mostly removed."""
        entries = [
            self._rewrite([entry]) if entry.num_gone > entry.num_live else entry
            for entry in entries
        ]
        limit = MERGE_FACTOR
        while limit <= MERGE_FACTOR * max((entry.num_live for entry in entries), default=0):
            first, total = len(entries), 0
            while first and entries[first - 1].num_live < limit:
                total += entries[first - 1].num_live
                if total > self._max_documents:
                    break
                first -= 1
            if len(entries) - first >= MERGE_FACTOR:
                entries = [*entries[:first], self._rewrite(entries[first:])]
            limit *= MERGE_FACTOR
        return entries

    def _rewrite(self, entries: Sequence[SegmentEntry]) -> SegmentEntry:
        segments = [self._live(entry) for entry in entries]
        parts = (DocumentsPart(self._fingerprints), *self._parts)
        merged = {part.name: part.merge(segments) for part in parts}
        return self._write(merged, sum(len(live.rows) for live in segments))

    def _write(self, parts: Mapping[str, PartData], count: int) -> SegmentEntry:
        name = f"segment-{self._manifest.generation + 1:08d}-{os.urandom(4).hex()}"
        write_segment(self.folder, name, parts)
        return SegmentEntry(name, count)

    def _commit(self, entries: Sequence[SegmentEntry]) -> None:
        before = self._manifest
        kept = {entry.name for entry in entries}
        for entry in before.segments:
            if entry.name not in kept:  # its grace period starts now
                os.utime(self.folder / entry.name)
        self._manifest = Manifest(before.generation + 1, before.settings, tuple(entries))
        self._manifest.write(self.folder)
        self._segments = {name: self._segments[name] for name in kept & self._segments.keys()}
        self._locate_videos()
        self._clean_up()

    def _open(self, settings: dict[str, Any]) -> Manifest:
        if (self.folder / MANIFEST).exists():
            manifest = Manifest.read(self.folder)
            if dict(manifest.settings) != settings:
                raise RetrievalError(
                    f"the index in {self.folder} was built with other settings; build another one "
                    "elsewhere, or delete the folder first."
                )
            return manifest
        manifest = Manifest(0, settings)
        manifest.write(self.folder)
        return manifest

    def _locate_videos(self) -> None:
        """Record the fingerprint and the rows of each video."""
        self._fingerprints, self._places = {}, {}
        for entry in self._manifest.segments:
            live = self._live(entry)
            left = np.zeros(entry.count, dtype=bool)
            left[live.rows] = True
            for name, fingerprint, first, count in videos_of(live.segment):
                if left[first]:
                    self._fingerprints[name] = fingerprint
                    self._places[name] = (entry.name, first, count)

    def _live(self, entry: SegmentEntry) -> LiveSegment:
        """Open a segment once: segments never change."""
        segment = self._segments.setdefault(entry.name, Segment(self.folder / entry.name))
        return LiveSegment(segment, entry.rows(self.folder))

    def _clean_up(self) -> None:
        """Delete unreferenced files whose grace period has passed."""
        used = {entry.name for entry in self._manifest.segments}
        used |= {entry.gone for entry in self._manifest.segments} | {MANIFEST, _LOCK}
        for path in self.folder.iterdir():
            ours = path.name.startswith("segment-") or TEMPORARY_MARK in path.name
            if path.name in used or not ours:
                continue
            # Readers keep what they learn here too: their temporary files go while we look.
            with suppress(FileNotFoundError):
                if TEMPORARY_MARK in path.name or time.time() - path.stat().st_mtime > self._grace:
                    shutil.rmtree(path) if path.is_dir() else path.unlink()


def lock_index(folder: Path) -> int:
    """Lock an index; the system releases the lock when the process ends, even if it is killed."""
    descriptor = os.open(folder / _LOCK, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        raise IndexBusyError(
            f"another process is changing the index in {folder}; wait until it is done."
        ) from None
    return descriptor


SCALE_SHOTS = 200
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
    writer: Callable[[Any, Sequence[IndexPart], Mapping[str, Any]], IndexTarget] = IndexWriter,
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
        writer: Opens the index for writing, given its folder, parts and settings.
    """
    videos = list(collection.videos())
    engine = engine or Serial()
    chosen = _visual_settings(folder, collection, videos, visual, engine)
    all_settings = {VISUAL: chosen.to_json(), **(settings or {})}
    all_parts: tuple[IndexPart, ...] = (VisualPart(chosen, device=device), StillsPart(), *parts)
    with closing(writer(folder, all_parts, all_settings)) as opened:
        removed = sorted(opened.videos().keys() - {video.id for video in videos})
        if removed:
            opened.remove(removed)
        build = _Build(collection, opened, chosen, all_parts, progress, len(videos))
        build.run(videos, engine)
    return BuildReport(
        tuple(build.added), tuple(build.unchanged), tuple(removed), tuple(build.failed)
    )


@dataclass
class _Build:
    """The state of a build."""

    collection: Collection
    writer: IndexTarget
    visual: VisualSettings
    parts: tuple[IndexPart, ...]
    progress: Progress | None
    total: int
    added: list[str] = field(default_factory=list)
    unchanged: list[str] = field(default_factory=list)
    failed: list[tuple[str, str]] = field(default_factory=list)

    def run(self, videos: Sequence[CollectionVideo], engine: Engine) -> None:
        done = engine.map(self.writer.work(), self._jobs(videos), ordered=True)
        with closing(done) as outcomes:
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
        if requested is not None and not requested.num_components:
            requested = replace(requested, num_components=kept.num_components)
        if requested is not None and requested.with_scale(scale).to_json() != kept.to_json():
            raise RetrievalError(
                f"the index in {folder} was built with other visual settings; omit the settings "
                "to keep them, or delete the folder to start over."
            )
        return kept
    settings = requested or VisualSettings()
    if settings.scale:
        return settings
    bags = _sample_bags(collection, videos, settings, engine)
    scale = FeatureScale.measure(bags, settings.features().resolution)
    if not settings.num_components:
        few = [bags[at] for at in evenly_spread(len(bags), _BIC_SHOTS)]
        settings = replace(settings, num_components=choose_components(few, scale, settings))
    return settings.with_scale(scale)


def _sample_bags(
    collection: Collection,
    videos: Sequence[CollectionVideo],
    settings: VisualSettings,
    engine: Engine,
) -> list[NDArray[np.float64]]:
    """Return samples of shots spread over the whole collection."""
    step = max(1, -(-len(videos) // SCALE_SHOTS))
    per_video = max(1, SCALE_SHOTS // max(1, len(videos[::step])))
    jobs = ((collection.show(video.id), settings, per_video) for video in videos[::step])
    with closing(engine.map(sample_video, jobs, ordered=True)) as outcomes:
        # Videos that fail here are reported when they are added.
        bags = [bag for outcome in outcomes for bag in outcome.result or ()]
    if not bags:
        raise RetrievalError("no video of the collection can be read; there is nothing to index.")
    return bags
