"""`IndexWriter`: adds, replaces and removes videos; every change is whole or did not happen.

A change writes new segments and lists of rows that no longer count, and then replaces the manifest.
A process killed before that leaves the old index and some files nobody refers to, which the next
writer sweeps away. Small segments are merged as they gather, so that there are never many.
"""

import fcntl
import os
import shutil
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from wordsight.closing import Closing
from wordsight.files import TEMPORARY_MARK, atomic_path
from wordsight.retrieval.documents import DocumentSource
from wordsight.retrieval.errors import RetrievalError
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
from wordsight.retrieval.index.video import BuiltVideo

__all__ = ["IndexWriter"]

MERGE_FACTOR = 8
"""So many neighbouring segments of about one size become one: few segments, little copying."""

SHARD_DOCUMENTS = 100_000
"""Segments are not merged beyond so many documents (about 200 MB): shards of bounded size, which
several workers can search at once and which merging need not copy again."""

GRACE_SECONDS = 600.0
"""Files no longer referred to are kept this long for readers that opened the index before."""

_LOCK = "lock"


class IndexWriter(Closing):
    """Changes an index; one at a time, and readers are not disturbed.

    Args:
        folder: Where the index is; made if need be.
        parts: What every document gets besides its place in time; the same for all of an index.
        settings: By part, how it is made; kept in the index.
        grace_seconds: How long files that are no longer used are kept for readers.
        shard_documents: How many documents a merged segment may have; a video stays whole.

    Raises:
        RetrievalError: If another process is writing, or the index was made otherwise.
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
        self._grace, self._most = grace_seconds, shard_documents
        self._lock = _locked(self.folder / _LOCK)
        try:
            self._manifest = self._opened(dict(settings))
            self._segments: dict[str, Segment] = {}
            self._fingerprints: dict[str, str] = {}
            self._places: dict[str, tuple[str, int, int]] = {}
            self._look()
            self._sweep()
        except BaseException:
            self.close()
            raise

    def videos(self) -> dict[str, str]:
        """Return the fingerprint of each video in the index."""
        return dict(self._fingerprints)

    def add(self, video_id: str, fingerprint: str, sources: Sequence[DocumentSource]) -> None:
        """Add a video's documents, in the place of those it had.

        Args:
            video_id: Which video.
            fingerprint: What tells later whether it changed.
            sources: Its documents; all of this video.
        """
        if any(source.document.video_id != video_id for source in sources):
            raise RetrievalError(f"all documents added together must belong to {video_id}.")
        self._change({video_id: (fingerprint, sources)}, [video_id])

    def add_built(self, video_id: str, fingerprint: str, built: BuiltVideo) -> None:
        """Add a video whose parts were made elsewhere, in the place of what it had."""
        entries = self._without({video_id})
        if built.count:
            self._fingerprints[video_id] = fingerprint
            entries.append(self._written(built.parts, built.count))
        self._commit(self._merged(entries))

    def add_many(self, videos: Mapping[str, tuple[str, Sequence[DocumentSource]]]) -> None:
        """Add several videos at once: all of them, or none if it fails."""
        self._change(videos, videos)

    def remove(self, video_ids: str | Iterable[str]) -> None:
        """Take videos out of the index; those that are not in it are passed over."""
        self._change({}, [video_ids] if isinstance(video_ids, str) else video_ids)

    def close(self) -> None:
        """Let others write."""
        os.close(self._lock)

    def _change(
        self, videos: Mapping[str, tuple[str, Sequence[DocumentSource]]], gone: Iterable[str]
    ) -> None:
        entries = self._without(set(gone))
        sources = [source for _, some in videos.values() for source in some]
        if sources:
            self._fingerprints |= {name: mark for name, (mark, _) in videos.items()}
            parts = (DocumentsPart(self._fingerprints), *self._parts)
            built = {part.name: part.build(sources) for part in parts}
            entries.append(self._written(built, len(sources)))
        self._commit(self._merged(entries))

    def _without(self, gone: set[str]) -> list[SegmentEntry]:
        """Mark the rows of videos as gone; leave out segments that have no others."""
        rows: dict[str, list[int]] = {}
        for name in gone & self._places.keys():
            segment, first, count = self._places[name]
            rows.setdefault(segment, []).extend(range(first, first + count))
        entries = []
        for entry in self._manifest.segments:
            if entry.name in rows:
                entry = self._shortened(entry, rows[entry.name])
            if entry.alive:
                entries.append(entry)
        return entries

    def _shortened(self, entry: SegmentEntry, rows: Sequence[int]) -> SegmentEntry:
        alive = self._stretch(entry).rows
        before = np.setdiff1d(np.arange(entry.count), alive, assume_unique=True)
        gone = np.union1d(before, rows).astype(np.int64)
        # Others may mark other rows at the same time, elsewhere, for a bucket we share.
        name = f"{entry.name}.gone-{self._manifest.generation + 1}-{os.urandom(4).hex()}.npy"
        with atomic_path(self.folder / name) as temporary:
            np.save(temporary, gone, allow_pickle=False)
        return SegmentEntry(entry.name, entry.count, name, len(gone))

    def _merged(self, entries: list[SegmentEntry]) -> list[SegmentEntry]:
        """Merge what has gathered at the end, and rewrite segments that are mostly gone."""
        entries = [
            self._joined([entry]) if entry.num_gone > entry.alive else entry for entry in entries
        ]
        limit = MERGE_FACTOR
        while limit <= MERGE_FACTOR * max((entry.alive for entry in entries), default=0):
            first, together = len(entries), 0
            while first and entries[first - 1].alive < limit:
                together += entries[first - 1].alive
                if together > self._most:
                    break
                first -= 1
            if len(entries) - first >= MERGE_FACTOR:
                entries = [*entries[:first], self._joined(entries[first:])]
            limit *= MERGE_FACTOR
        return entries

    def _joined(self, entries: Sequence[SegmentEntry]) -> SegmentEntry:
        stretches = [self._stretch(entry) for entry in entries]
        parts = (DocumentsPart(self._fingerprints), *self._parts)
        merged = {part.name: part.merge(stretches) for part in parts}
        return self._written(merged, sum(len(stretch.rows) for stretch in stretches))

    def _written(self, parts: Mapping[str, PartData], count: int) -> SegmentEntry:
        name = f"segment-{self._manifest.generation + 1:08d}-{os.urandom(4).hex()}"
        write_segment(self.folder, name, parts)
        return SegmentEntry(name, count)

    def _commit(self, entries: Sequence[SegmentEntry]) -> None:
        before = self._manifest
        kept = {entry.name for entry in entries}
        for entry in before.segments:
            if entry.name not in kept:  # the clock of its grace starts now
                os.utime(self.folder / entry.name)
        self._manifest = Manifest(before.generation + 1, before.settings, tuple(entries))
        self._manifest.write(self.folder)
        self._segments = {name: self._segments[name] for name in kept & self._segments.keys()}
        self._look()
        self._sweep()

    def _opened(self, settings: dict[str, Any]) -> Manifest:
        if (self.folder / MANIFEST).exists():
            manifest = Manifest.read(self.folder)
            if dict(manifest.settings) != settings:
                raise RetrievalError(
                    f"the index in {self.folder} was made with other settings; build another one "
                    "elsewhere, or delete the folder first."
                )
            return manifest
        manifest = Manifest(0, settings)
        manifest.write(self.folder)
        return manifest

    def _look(self) -> None:
        """Note where the documents of each video are."""
        self._fingerprints, self._places = {}, {}
        for entry in self._manifest.segments:
            stretch = self._stretch(entry)
            alive = np.zeros(entry.count, dtype=bool)
            alive[stretch.rows] = True
            for name, fingerprint, first, count in videos_of(stretch.segment):
                if alive[first]:
                    self._fingerprints[name] = fingerprint
                    self._places[name] = (entry.name, first, count)

    def _stretch(self, entry: SegmentEntry) -> LiveSegment:
        """Open a segment, keeping what was read of it before: a segment never changes."""
        segment = self._segments.setdefault(entry.name, Segment(self.folder / entry.name))
        return LiveSegment(segment, entry.rows(self.folder))

    def _sweep(self) -> None:
        """Delete what no manifest refers to any more, once readers have had time to let go."""
        used = {entry.name for entry in self._manifest.segments}
        used |= {entry.gone for entry in self._manifest.segments} | {MANIFEST, _LOCK}
        for path in self.folder.iterdir():
            ours = path.name.startswith("segment-") or TEMPORARY_MARK in path.name
            if path.name in used or not ours:
                continue
            if TEMPORARY_MARK in path.name or time.time() - path.stat().st_mtime > self._grace:
                shutil.rmtree(path) if path.is_dir() else path.unlink()


def _locked(path: Path) -> int:
    """Take the lock of an index; the system gives it back however the process ends."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        raise RetrievalError(
            f"another process is changing the index in {path.parent}; wait until it is done."
        ) from None
    return descriptor
