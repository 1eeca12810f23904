"""Segments: folders of named arrays and JSON, written once, whole or not at all, mapped when read.

A segment holds some documents. Each *part* of it (``documents``, ``visual``, ``text``, …) brings
its own arrays and its own JSON values; the segment does not know what they mean. A part can build
itself from sources and merge itself from older segments, which is all the index asks of it.
"""

import json
import os
import re
import shutil
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from wordsight.files import TEMPORARY_MARK, write_text
from wordsight.retrieval.documents import DocumentSource
from wordsight.retrieval.errors import IndexDamagedError, RetrievalError

__all__ = [
    "MANIFEST",
    "IndexPart",
    "LiveSegment",
    "Manifest",
    "PartData",
    "Segment",
    "SegmentEntry",
    "write_segment",
]


_NAME = re.compile(r"[a-z][a-z0-9_]*")


@dataclass(frozen=True)
class PartData:
    """One part of a segment.

    Attributes:
        arrays: Named arrays of numbers; mapped into memory when read.
        values: Whatever JSON can hold; read when first asked for.
    """

    arrays: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    values: Mapping[str, Any] = field(default_factory=dict)


class Segment:
    """A segment on disk; nothing is read before it is asked for.

    Args:
        path: Its folder.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self._arrays: dict[tuple[str, str], NDArray[Any]] = {}
        self._values: dict[str, dict[str, Any]] = {}

    @property
    def name(self) -> str:
        """The name of its folder."""
        return self.path.name

    def array(self, part: str, name: str) -> NDArray[Any]:
        """Return an array of a part, mapped into memory, read-only.

        Raises:
            IndexDamagedError: If it is missing or cannot be read.
        """
        if (part, name) not in self._arrays:
            self._arrays[part, name] = _mapped(self.path / f"{part}.{name}.npy")
        return self._arrays[part, name]

    def arrays(self, part: str) -> dict[str, NDArray[Any]]:
        """Return all arrays of a part by name."""
        return {name: self.array(part, name) for name in self._description(part)["arrays"]}

    def values(self, part: str) -> dict[str, Any]:
        """Return the JSON values of a part."""
        values: dict[str, Any] = self._description(part)["values"]
        return values

    def _description(self, part: str) -> dict[str, Any]:
        if part not in self._values:
            path = self.path / f"{part}.json"
            try:
                self._values[part] = json.loads(path.read_text(encoding="utf-8"))
            except (OSError, ValueError) as error:
                raise _damaged(path, error) from error
        return self._values[part]

    def __repr__(self) -> str:
        return f"Segment({str(self.path)!r})"


@dataclass(frozen=True)
class LiveSegment:
    """A segment and which of its documents are still wanted.

    Attributes:
        segment: The segment.
        rows: ``(K,)`` int64, rising: the documents that count, of those in the segment.
    """

    segment: Segment
    rows: NDArray[np.int64]


class IndexPart(Protocol):
    """What knows how to make one part of a segment: the visual models, the words."""

    @property
    def name(self) -> str:
        """The part's name, a lower-case word."""

    @property
    def piecewise(self) -> bool:
        """Whether it can be built for some documents of a video after the other.

        Then all its arrays have a row per document, it has no values, and its sources come with
        their pictures; others see the documents of a whole video, without pictures.
        """

    def build(self, sources: Sequence[DocumentSource]) -> PartData:
        """Make the part for some documents, in their order."""

    def merge(self, stretches: Sequence[LiveSegment]) -> PartData:
        """Make the part for the wanted documents of several segments, in their order."""


def write_segment(
    folder: str | os.PathLike[str], name: str, parts: Mapping[str, PartData]
) -> Segment:
    """Write a segment so that it exists whole or not at all.

    Everything is on disk before the folder gets its name; a crash leaves a folder with a temporary
    name, which :data:`wordsight.files.TEMPORARY_MARK` tells.

    Args:
        folder: Where segments are.
        name: The name of the new one.
        parts: Its parts by name.
    """
    home = Path(folder)
    temporary = Path(tempfile.mkdtemp(prefix=f".{name}{TEMPORARY_MARK}", dir=home))
    try:
        for part, data in parts.items():
            _write_part(temporary, part, data)
        temporary.chmod(0o755)
        _sync_all([*temporary.iterdir(), temporary])
        temporary.rename(home / name)
        _sync_all([home])
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise
    return Segment(home / name)


def _write_part(folder: Path, part: str, data: PartData) -> None:
    for name in (part, *data.arrays):
        if not _NAME.fullmatch(name):
            raise ValueError(f"parts and arrays have lower-case names, got {name!r}.")
    for name, array in data.arrays.items():
        np.save(folder / f"{part}.{name}.npy", np.ascontiguousarray(array), allow_pickle=False)
    description = {"arrays": list(data.arrays), "values": dict(data.values)}
    text = json.dumps(description, ensure_ascii=False, allow_nan=False)
    (folder / f"{part}.json").write_text(text, encoding="utf-8")


def _mapped(path: Path) -> NDArray[Any]:
    try:
        array: NDArray[Any] = np.load(path, mmap_mode="r", allow_pickle=False)
    except ValueError as error:
        # An empty array cannot be mapped; everything else is damage.
        try:
            array = np.load(path, allow_pickle=False)
        except (OSError, ValueError, EOFError, MemoryError):
            raise _damaged(path, error) from error
        if array.size:
            raise _damaged(path, error) from error
    except (OSError, EOFError, MemoryError, OverflowError) as error:
        raise _damaged(path, error) from error
    # A plain view of the map: the subclass numpy gives costs time at every slice.
    return array.view(np.ndarray)


def _damaged(path: Path, error: Exception) -> IndexDamagedError:
    return IndexDamagedError(
        f"{path} cannot be read ({error}); the index is damaged. Delete its folder and build it "
        "again, or restore it from a copy."
    )


def _sync_all(paths: Iterable[Path]) -> None:
    for path in paths:
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


# The manifest: which segments make up an index now. Replacing it is what commits a change.


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

    def stretch(self, folder: Path) -> LiveSegment:
        """Open the segment, with the rows that count."""
        return LiveSegment(Segment(folder / self.name), self.rows(folder))


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
