"""The manifest: which segments make up an index now. Replacing it is what commits a change."""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from wordsight.files import write_text
from wordsight.retrieval.errors import IndexDamagedError, RetrievalError
from wordsight.retrieval.segments import Segment, Stretch

__all__ = ["MANIFEST", "Manifest", "SegmentEntry"]

MANIFEST = "index.json"
_KIND, _VERSION = "Index", 1


@dataclass(frozen=True)
class SegmentEntry:
    """One segment of an index.

    Attributes:
        name: Its folder.
        count: How many documents it holds.
        gone: File, beside the manifest, of the rows that no longer count; empty if all do.
        num_gone: How many these are.
    """

    name: str
    count: int
    gone: str = ""
    num_gone: int = 0

    @property
    def alive(self) -> int:
        """How many of its documents count."""
        return self.count - self.num_gone

    def rows(self, folder: Path) -> NDArray[np.int64]:
        """Return the rows that count."""
        rows = np.arange(self.count, dtype=np.int64)
        return np.delete(rows, _gone_rows(folder / self.gone)) if self.gone else rows

    def stretch(self, folder: Path) -> Stretch:
        """Open the segment, with the rows that count."""
        return Stretch(Segment(folder / self.name), self.rows(folder))


@dataclass(frozen=True)
class Manifest:
    """What an index is made of.

    Attributes:
        generation: Rises with every change.
        settings: By part, how it was made.
        segments: The segments in order.
    """

    generation: int = 0
    settings: Mapping[str, Any] = field(default_factory=dict)
    segments: tuple[SegmentEntry, ...] = ()

    @classmethod
    def read(cls, folder: str | os.PathLike[str]) -> Self:
        """Read the manifest of an index.

        Raises:
            RetrievalError: If there is no index.
            IndexDamagedError: If it is damaged or newer than this program.
        """
        path = Path(folder) / MANIFEST
        try:
            values = json.loads(path.read_text(encoding="utf-8"))
            if values["kind"] != _KIND:
                raise ValueError(f"it describes {values['kind']}")
            version, generation = int(values["version"]), int(values["generation"])
            entries = tuple(SegmentEntry(**each) for each in values["segments"])
            settings = dict(values["settings"])
        except FileNotFoundError:
            raise RetrievalError(
                f"there is no index in {folder}; build one from a library first."
            ) from None
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise IndexDamagedError(
                f"{path} cannot be read ({error}); delete the folder and build the index again."
            ) from error
        if version > _VERSION:
            raise IndexDamagedError(
                f"{path} was written by a newer Wordsight (version {version}, this one reads up to "
                f"{_VERSION}); update Wordsight to read it."
            )
        return cls(generation, settings, entries)

    def write(self, folder: str | os.PathLike[str]) -> None:
        """Put this manifest in the place of the one before, atomically."""
        values = {
            "kind": _KIND,
            "version": _VERSION,
            "generation": self.generation,
            "settings": dict(self.settings),
            "segments": [vars(entry) for entry in self.segments],
        }
        text = json.dumps(values, ensure_ascii=False, allow_nan=False, indent=1)
        write_text(Path(folder) / MANIFEST, text + "\n")


def _gone_rows(path: Path) -> NDArray[np.int64]:
    try:
        rows: NDArray[np.int64] = np.load(path, allow_pickle=False)
    except (OSError, ValueError, EOFError, MemoryError) as error:
        raise IndexDamagedError(
            f"{path} cannot be read ({error}); delete the index's folder and build it again."
        ) from error
    return rows
