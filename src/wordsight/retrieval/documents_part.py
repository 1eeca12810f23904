"""`DocumentsPart`: which documents a segment holds, of which videos, in what state these were."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wordsight.retrieval.documents import Source, document_columns
from wordsight.retrieval.segments import PartData, Segment, Stretch

__all__ = ["DOCUMENTS", "DocumentsPart", "videos_of"]

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

    def build(self, sources: Sequence[Source]) -> PartData:
        """Put the documents into columns."""
        documents = [source.document for source in sources]
        texts = [" ".join(source.text) for source in sources]
        names = [document.video_id for document in documents]
        return PartData(document_columns(documents, texts), {"videos": self._runs(names)})

    def merge(self, stretches: Sequence[Stretch]) -> PartData:
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


def _names(stretch: Stretch) -> list[str]:
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
