"""The files of an index: segments of named arrays and JSON, and the manifest that lists them.

A segment holds some documents and is written once. Each *part* of it (``documents``, ``visual``,
``text``) has its own arrays and JSON values. Replacing the manifest commits a change.
"""

import json
import mmap
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from wordsight.errors import IndexDamagedError, RetrievalError
from wordsight.files import TEMPORARY_MARK, write_text
from wordsight.retrieval.documents import DocumentSource

__all__ = [
    "MANIFEST",
    "IndexPart",
    "LiveSegment",
    "Manifest",
    "PartData",
    "Segment",
    "SegmentEntry",
    "keep_learned",
    "write_segment",
]

Learned = TypeVar("Learned")

MANIFEST = "index.json"
_KIND, _VERSION = "Index", 1
_LARGE = 2**25  # bytes of an array that memory is worth saving for
_NAME = re.compile(r"[a-z][a-z0-9_]*")


@dataclass(frozen=True)
class PartData:
    """The data of one part of a segment.

    Attributes:
        arrays: Named arrays; memory-mapped when read.
        values: JSON values; read on first use.
    """

    arrays: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    values: Mapping[str, Any] = field(default_factory=dict)


class Segment:
    """A segment on disk, read lazily.

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

    def has(self, part: str) -> bool:
        """Return whether it has a part; segments of older versions may lack one."""
        return (self.path / f"{part}.json").exists()

    def array(self, part: str, name: str) -> NDArray[Any]:
        """Return an array of a part, memory-mapped and read-only.

        Raises:
            IndexDamagedError: If it is missing or cannot be read.
        """
        if (part, name) not in self._arrays:
            self._arrays[part, name] = _mapped(self.path / f"{part}.{name}.npy")
        return self._arrays[part, name]

    def release(self, part: str, name: str) -> None:
        """Give the memory of a large array back, which is read again where it is used again.

        A few rows at places all over an index would otherwise keep most of its pages in memory.
        """
        array = self._arrays.get((part, name))
        mapped = None if array is None else getattr(array.base, "_mmap", None)
        if array is not None and mapped is not None and array.nbytes >= _LARGE:
            with suppress(AttributeError, OSError):  # a system without such advice
                mapped.madvise(mmap.MADV_DONTNEED)

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
    """A segment and the documents of it that have not been removed.

    Attributes:
        segment: The segment.
        rows: ``(K,)`` int64, ascending: the documents that are left.
    """

    segment: Segment
    rows: NDArray[np.int64]


class IndexPart(Protocol):
    """Builds and merges one part of a segment, such as visual models or words."""

    @property
    def name(self) -> str:
        """The name of the part, a lower-case word."""

    @property
    def batched(self) -> bool:
        """Whether it is built for batches of documents, which come with their frames.

        Then its arrays are those of its documents one after another and it has no values. Other
        parts see all documents
        of a video at once, without frames.
        """

    def build(self, sources: Sequence[DocumentSource]) -> PartData:
        """Build the part for documents, in their order."""

    def merge(self, segments: Sequence[LiveSegment]) -> PartData:
        """Build the part for the documents of several segments, in their order."""


@dataclass(frozen=True)
class SegmentEntry:
    """A segment as the manifest lists it.

    Attributes:
        name: Its folder.
        count: The number of its documents.
        gone: File, beside the manifest, of the rows that were removed; empty if none were.
        num_gone: The number of removed rows.
    """

    name: str
    count: int
    gone: str = ""
    num_gone: int = 0

    @property
    def num_live(self) -> int:
        """The number of documents that are left."""
        return self.count - self.num_gone

    def rows(self, folder: Path) -> NDArray[np.int64]:
        """Return the rows that are left."""
        rows = np.arange(self.count, dtype=np.int64)
        return np.delete(rows, _removed_rows(folder / self.gone)) if self.gone else rows

    def open(self, folder: Path) -> LiveSegment:
        """Open the segment with the rows that are left."""
        return LiveSegment(Segment(folder / self.name), self.rows(folder))


@dataclass(frozen=True)
class Manifest:
    """The content of an index.

    Attributes:
        generation: Incremented by every change.
        settings: The settings of each part.
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
            IndexDamagedError: If it is damaged or was written by a newer version.
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
            raise _damaged(path, error) from error
        if version > _VERSION:
            raise IndexDamagedError(
                f"{path} was written by a newer Wordsight (version {version}, this one reads up to "
                f"{_VERSION}); update Wordsight to read it."
            )
        return cls(generation, settings, entries)

    def write(self, folder: str | os.PathLike[str]) -> None:
        """Replace the manifest of an index atomically."""
        values = {
            "kind": _KIND,
            "version": _VERSION,
            "generation": self.generation,
            "settings": dict(self.settings),
            "segments": [vars(entry) for entry in self.segments],
        }
        text = json.dumps(values, ensure_ascii=False, allow_nan=False, indent=1)
        write_text(Path(folder) / MANIFEST, text + "\n")


def keep_learned(
    path: Path | None,
    generation: int,
    key: str,
    learn: Callable[[], Any],
    parse: Callable[[Any], Learned],
) -> Learned:
    """Return a value learned from an index, kept in a file and learned again after a change.

    Args:
        path: The file, beside the manifest; None to learn each time.
        generation: The generation of the index.
        key: The name of the value in the file.
        learn: Returns the value, as JSON.
        parse: Converts the value; raises ValueError, KeyError or TypeError if it is invalid.
    """
    try:
        notes = json.loads(path.read_text(encoding="utf-8")) if path is not None else {}
        if notes.get("generation") == generation:
            return parse(notes[key])
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        pass  # learned again
    value = learn()
    if path is not None:
        with suppress(OSError):  # an index that can only be read is learned from each time
            write_text(path, json.dumps({"generation": generation, key: value}, indent=1) + "\n")
    return parse(value)


def write_segment(
    folder: str | os.PathLike[str], name: str, parts: Mapping[str, PartData]
) -> Segment:
    """Write a segment atomically.

    All files are synced to disk before the folder gets its name. A crash leaves a folder whose name
    contains :data:`wordsight.files.TEMPORARY_MARK`.

    Args:
        folder: The folder of the index.
        name: The name of the new segment.
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
            raise ValueError(f"names of parts and arrays must be lower-case words, got {name!r}.")
    for name, array in data.arrays.items():
        np.save(folder / f"{part}.{name}.npy", np.ascontiguousarray(array), allow_pickle=False)
    description = {"arrays": list(data.arrays), "values": dict(data.values)}
    text = json.dumps(description, ensure_ascii=False, allow_nan=False)
    (folder / f"{part}.json").write_text(text, encoding="utf-8")


def _mapped(path: Path) -> NDArray[Any]:
    try:
        array: NDArray[Any] = np.load(path, mmap_mode="r", allow_pickle=False)
    except ValueError as error:
        # An empty array cannot be mapped; any other failure means damage.
        try:
            array = np.load(path, allow_pickle=False)
        except (OSError, ValueError, EOFError, MemoryError):
            raise _damaged(path, error) from error
        if array.size:
            raise _damaged(path, error) from error
    except (OSError, EOFError, MemoryError, OverflowError) as error:
        raise _damaged(path, error) from error
    # A plain view: slicing numpy's memmap subclass is slow.
    return array.view(np.ndarray)


def _removed_rows(path: Path) -> NDArray[np.int64]:
    try:
        rows: NDArray[np.int64] = np.load(path, allow_pickle=False)
    except (OSError, ValueError, EOFError, MemoryError) as error:
        raise _damaged(path, error) from error
    return rows


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
