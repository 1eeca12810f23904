"""`Index`: an index opened for searching; its files are mapped, so that opening is immediate."""

import os
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from wordsight.retrieval.documents import (
    DocumentSource,
    DocumentTable,
    document_columns,
    merge_columns,
)
from wordsight.retrieval.errors import RetrievalError
from wordsight.retrieval.index.segments import LiveSegment, Manifest, PartData, Segment
from wordsight.retrieval.visual.index import VisualIndex
from wordsight.retrieval.visual.part import VISUAL, VisualSettings

__all__ = ["DOCUMENTS", "DocumentsPart", "Index", "videos_of"]

DOCUMENTS = "documents"


class DocumentsPart:
    """The part that every segment has: its documents and videos.

    Args:
        fingerprints: The fingerprint of each video, which changes with its documents.
    """

    name = DOCUMENTS
    batched = False

    def __init__(self, fingerprints: dict[str, str]) -> None:
        self.fingerprints = fingerprints

    def build(self, sources: Sequence[DocumentSource]) -> PartData:
        """Convert the documents to columns."""
        documents = [source.document for source in sources]
        texts = [" ".join(source.text) for source in sources]
        names = [document.video_id for document in documents]
        return PartData(document_columns(documents, texts), {"videos": self._runs(names)})

    def merge(self, segments: Sequence[LiveSegment]) -> PartData:
        """Copy the columns of the documents that are left."""
        tables = [each.segment.arrays(DOCUMENTS) for each in segments]
        columns = merge_columns(tables, [each.rows for each in segments])
        names = [name for each in segments for name in _video_ids(each)]
        return PartData(columns, {"videos": self._runs(names)})

    def _runs(self, names: Sequence[str]) -> list[list[Any]]:
        """Return per video its id, fingerprint, first row and number of rows."""
        runs: list[list[Any]] = []
        for row, name in enumerate(names):
            if runs and runs[-1][0] == name:
                runs[-1][3] += 1
            else:
                runs.append([name, self.fingerprints.get(name, ""), row, 1])
        return runs


def videos_of(segment: Segment) -> list[tuple[str, str, int, int]]:
    """Return per video of a segment its id, fingerprint, first row and number of rows."""
    return [
        (str(v[0]), str(v[1]), int(v[2]), int(v[3])) for v in segment.values(DOCUMENTS)["videos"]
    ]


def _video_ids(live: LiveSegment) -> list[str]:
    rows = set(live.rows.tolist())
    return [
        name
        for name, _, first, count in videos_of(live.segment)
        for row in range(first, first + count)
        if row in rows
    ]


class Index:
    """A snapshot of an index on disk; later changes are seen only after opening it again.

    Args:
        folder: The folder of the index.
        device: Device that scores pictures, such as ``cuda``; None for the CPU.
        manifest: The manifest, to open only some of the segments; read from the folder by default.

    Attributes:
        folder: The folder of the index.
        manifest: The manifest.
        segments: The segments with their remaining documents, in order.
        documents: All remaining documents, in that order.

    Raises:
        RetrievalError: If there is no index.
        IndexDamagedError: If it is damaged or was written by a newer version.
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        *,
        device: str | None = None,
        manifest: Manifest | None = None,
    ) -> None:
        self.folder = Path(folder)
        self.device = device
        self.manifest = manifest or Manifest.read(self.folder)
        self.segments: tuple[LiveSegment, ...] = tuple(
            entry.open(self.folder) for entry in self.manifest.segments
        )

    def __len__(self) -> int:
        return sum(len(live.rows) for live in self.segments)

    @property
    def generation(self) -> int:
        """Incremented by every change of the index."""
        return self.manifest.generation

    @property
    def changed(self) -> bool:
        """Whether the index on disk has changed since it was opened."""
        return Manifest.read(self.folder).generation != self.generation

    @cached_property
    def documents(self) -> DocumentTable:
        """The documents, in the order of all scores."""
        tables = [live.segment.arrays(DOCUMENTS) for live in self.segments]
        return DocumentTable(tables, [live.rows for live in self.segments])

    def settings(self, part: str) -> dict[str, Any]:
        """Return the settings of a part.

        Raises:
            RetrievalError: If the index has no such part.
        """
        if part not in self.manifest.settings:
            raise RetrievalError(
                f"the index in {self.folder} has no {part} part, only "
                f"{', '.join(sorted(self.manifest.settings)) or 'none'}; build it again with it."
            )
        return dict(self.manifest.settings[part])

    @cached_property
    def visual(self) -> VisualIndex:
        """The visual models of the documents."""
        settings = VisualSettings.from_json(self.settings(VISUAL))
        return VisualIndex(self.segments, self.documents, settings, device=self.device)

    def videos(self) -> dict[str, str]:
        """Return the fingerprint of each video that has documents."""
        fingerprints: dict[str, str] = {}
        for live in self.segments:
            rows = set(live.rows.tolist())
            for name, fingerprint, first, _ in videos_of(live.segment):
                if first in rows:  # the documents of a video are added and removed together
                    fingerprints[name] = fingerprint
        return fingerprints

    def __repr__(self) -> str:
        return f"Index({str(self.folder)!r}, {len(self)} documents)"
