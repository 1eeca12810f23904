"""`Index`: a collection ready to be searched, opened in milliseconds whatever its size."""

import os
from functools import cached_property
from pathlib import Path
from typing import Any

from wordsight.retrieval.documents import DocumentTable
from wordsight.retrieval.documents_part import DOCUMENTS, videos_of
from wordsight.retrieval.errors import RetrievalError
from wordsight.retrieval.manifest import Manifest
from wordsight.retrieval.segments import Stretch
from wordsight.retrieval.visual.index import VisualIndex
from wordsight.retrieval.visual.part import VISUAL
from wordsight.retrieval.visual.settings import VisualSettings

__all__ = ["Index"]


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
        self.stretches: tuple[Stretch, ...] = tuple(
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
