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
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from wordsight.files import TEMPORARY_MARK
from wordsight.retrieval.documents import Source
from wordsight.retrieval.errors import IndexDamagedError

__all__ = ["Part", "PartData", "Segment", "Stretch", "write_segment"]

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
class Stretch:
    """A segment and which of its documents are still wanted.

    Attributes:
        segment: The segment.
        rows: ``(K,)`` int64, rising: the documents that count, of those in the segment.
    """

    segment: Segment
    rows: NDArray[np.int64]


class Part(Protocol):
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

    def build(self, sources: Sequence[Source]) -> PartData:
        """Make the part for some documents, in their order."""

    def merge(self, stretches: Sequence[Stretch]) -> PartData:
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
