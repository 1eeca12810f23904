"""`Index`: a collection ready to be searched, opened in milliseconds whatever its size."""

import os
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wordsight.retrieval.documents import DocumentSource, DocumentTable, document_columns
from wordsight.retrieval.errors import RetrievalError
from wordsight.retrieval.index.segments import LiveSegment, Manifest, PartData, Segment
from wordsight.retrieval.visual.index import VisualIndex
from wordsight.retrieval.visual.part import VISUAL, VisualSettings

__all__ = ["DOCUMENTS", "DocumentsPart", "Index", "videos_of"]


# `DocumentsPart`: which documents a segment holds, of which videos, in what state these were.


DOCUMENTS = "documents"
_STRINGS = ("id", "video", "text")


class DocumentsPart:
    """Makes the part every segment has.

    Args:
        fingerprints: By video, what tells whether it changed.
    """

    name = DOCUMENTS
    piecewise = False

    def __init__(self, fingerprints: dict[str, str]) -> None:
        self.fingerprints = fingerprints

    def build(self, sources: Sequence[DocumentSource]) -> PartData:
        """Put the documents into columns."""
        documents = [source.document for source in sources]
        texts = [" ".join(source.text) for source in sources]
        names = [document.video_id for document in documents]
        return PartData(document_columns(documents, texts), {"videos": self._runs(names)})

    def merge(self, stretches: Sequence[LiveSegment]) -> PartData:
        """Copy the columns of the documents that are still wanted."""
        tables = [_taken(s.segment.arrays(DOCUMENTS), s.rows) for s in stretches]
        columns = {
            name: np.concatenate([table[name] for table in tables])
            for name in ("times", "scenes", *(f"{each}_bytes" for each in _STRINGS))
        }
        for each in _STRINGS:
            lengths = np.concatenate([np.diff(table[f"{each}_offsets"]) for table in tables])
            columns[f"{each}_offsets"] = np.concatenate([[0], np.cumsum(lengths)])
        names = [name for s in stretches for name in _names(s)]
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


def _names(stretch: LiveSegment) -> list[str]:
    wanted = set(stretch.rows.tolist())
    return [
        name
        for name, _, first, count in videos_of(stretch.segment)
        for row in range(first, first + count)
        if row in wanted
    ]


def _taken(columns: dict[str, NDArray[Any]], rows: NDArray[np.int64]) -> dict[str, NDArray[Any]]:
    taken = {name: columns[name][rows] for name in ("times", "scenes")}
    for each in _STRINGS:
        offsets = columns[f"{each}_offsets"]
        starts, lengths = offsets[:-1][rows], np.diff(offsets)[rows]
        ends = np.concatenate([[0], np.cumsum(lengths)])
        # Where every byte comes from: its place in the new column, moved to the old one.
        places = np.arange(ends[-1]) + np.repeat(starts - ends[:-1], lengths)
        taken[f"{each}_bytes"] = columns[f"{each}_bytes"][places]
        taken[f"{each}_offsets"] = ends
    return taken


class Index:
    """An index on disk as it was when opened; later changes need another opening.

    Args:
        folder: Where it is.
        device: Where pictures are looked for, such as ``cuda``; the processor if left out.
        manifest: What it is made of, if that is known already: some of its segments, perhaps.

    Attributes:
        folder: Where it is.
        manifest: What it is made of.
        stretches: Its segments, each with the documents that count, in order.
        documents: All documents that count, in that order.

    Raises:
        RetrievalError: If there is no index.
        IndexDamagedError: If it is damaged or newer than this program.
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
        self.stretches: tuple[LiveSegment, ...] = tuple(
            entry.stretch(self.folder) for entry in self.manifest.segments
        )

    def __len__(self) -> int:
        return sum(len(stretch.rows) for stretch in self.stretches)

    @property
    def generation(self) -> int:
        """Rises with every change of the index."""
        return self.manifest.generation

    @property
    def changed(self) -> bool:
        """Whether the index on disk is no longer the one that was opened."""
        return Manifest.read(self.folder).generation != self.generation

    @cached_property
    def documents(self) -> DocumentTable:
        """The documents that count, in the order of all scores."""
        tables = [stretch.segment.arrays(DOCUMENTS) for stretch in self.stretches]
        return DocumentTable(tables, [stretch.rows for stretch in self.stretches])

    def settings(self, part: str) -> dict[str, Any]:
        """Return how a part of the index was made.

        Raises:
            RetrievalError: If it has no such part.
        """
        if part not in self.manifest.settings:
            raise RetrievalError(
                f"the index in {self.folder} has no {part} part, only "
                f"{', '.join(sorted(self.manifest.settings)) or 'none'}; build it again with it."
            )
        return dict(self.manifest.settings[part])

    @cached_property
    def visual(self) -> VisualIndex:
        """The models of what the documents look like."""
        settings = VisualSettings.from_json(self.settings(VISUAL))
        return VisualIndex(self.stretches, self.documents, settings, device=self.device)

    def videos(self) -> dict[str, str]:
        """Return the fingerprint of each video that has documents."""
        found: dict[str, str] = {}
        for stretch in self.stretches:
            wanted = set(stretch.rows.tolist())
            for name, fingerprint, first, _ in videos_of(stretch.segment):
                if first in wanted:  # a video's documents come and go together
                    found[name] = fingerprint
        return found

    def __repr__(self) -> str:
        return f"Index({str(self.folder)!r}, {len(self)} documents)"
