"""Shared parts of array records: frozen arrays, equality by content, saving and loading."""

import dataclasses
import io
import json
import math
import os
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from wordsight.errors import FormatError
from wordsight.files import atomic_path, check_plain
from wordsight.interrupts import interrupts_held_back

__all__ = [
    "MAX_UNPACKED_BYTES",
    "ArrayRecord",
    "check_npz",
    "frozen_array",
    "load_npz",
    "save_npz",
]


# Arrays and a little JSON in one ``.npz`` file: no pickle, same content same bytes, size checked.
#
# numpy's ``savez`` stamps the current time into the archive; this does not, so that the hash of a
# file tells whether its content changed.

MAX_UNPACKED_BYTES = 4 << 30
"""Archives that would unpack to more than this are refused before anything is unpacked."""

_HEADER = "record.json"
_EPOCH = (1980, 1, 1, 0, 0, 0)  # the earliest date a zip archive can hold
_FASTEST = 1  # zlib level: masked zeros shrink tenfold at any level, higher ones cost time only


def save_npz(
    path: str | os.PathLike[str],
    kind: str,
    version: int,
    arrays: Mapping[str, NDArray[Any]],
    values: Mapping[str, Any],
) -> None:
    """Write named arrays and JSON values atomically.

    Args:
        path: The file to write, replaced if it exists.
        kind: The name of the record, checked when loading.
        version: The version of the record's layout, checked when loading.
        arrays: Arrays of numbers, booleans or text; never of objects.
        values: Everything else, as JSON can hold it.
    """
    header = {"kind": kind, "version": version, "values": dict(values)}
    with (
        atomic_path(path) as temporary,
        zipfile.ZipFile(temporary, "w", zipfile.ZIP_DEFLATED, compresslevel=_FASTEST) as archive,
    ):
        _write(archive, _HEADER, json.dumps(header, sort_keys=True, allow_nan=False).encode())
        for name in sorted(arrays):
            buffer = io.BytesIO()
            np.lib.format.write_array(buffer, np.asarray(arrays[name]), allow_pickle=False)
            _write(archive, f"{name}.npy", buffer.getbuffer().tobytes())


def _write(archive: zipfile.ZipFile, name: str, content: bytes) -> None:
    # Ctrl-C between opening and closing an entry would leave an archive that cannot be closed,
    # and an error about that in place of the interruption.
    with interrupts_held_back():
        archive.writestr(_entry(name), content)


def load_npz(
    path: str | os.PathLike[str],
    kind: str,
    version: int,
    *,
    max_bytes: int = MAX_UNPACKED_BYTES,
) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """Read what :func:`save_npz` wrote.

    Args:
        path: The file to read.
        kind: The record expected.
        version: The newest layout the caller understands.
        max_bytes: The largest unpacked size accepted.

    Returns:
        The arrays and the values.

    Raises:
        FormatError: If the file is damaged, of another kind, from a newer version or too large.
    """
    name = Path(path).name
    try:
        check_plain(path)
        with zipfile.ZipFile(path) as archive:
            _check_size(archive, name, max_bytes)
            header = json.loads(archive.read(_HEADER))
            _check_header(header, name, kind, version)
            arrays = {
                entry.filename.removesuffix(".npy"): _read_array(archive, entry)
                for entry in archive.infolist()
                if entry.filename.endswith(".npy")
            }
    except FileNotFoundError:
        raise FormatError(f"{path} does not exist; expected a {kind} file (.npz).") from None
    except FormatError:
        raise
    except (
        zipfile.BadZipFile,
        zlib.error,
        KeyError,
        ValueError,
        OSError,
        EOFError,
        RuntimeError,
        NotImplementedError,
        MemoryError,  # an array whose header says that it is huge
    ) as error:
        raise FormatError(
            f"{name} is not a readable {kind} file ({error}); expected an .npz that Wordsight "
            "wrote. Make it again from its source, or restore it from a copy."
        ) from error
    return arrays, header["values"]


def check_npz(path: str | os.PathLike[str], max_bytes: int) -> None:
    """Refuse an archive that says it would unpack to too much, without unpacking anything.

    Raises:
        FormatError: If it is too large, or no archive.
    """
    name = Path(path).name
    try:
        check_plain(path)
        with zipfile.ZipFile(path) as archive:
            _check_size(archive, name, max_bytes)
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
        raise FormatError(f"{name} is not a readable .npz file ({error}).") from error


def _entry(name: str) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name, date_time=_EPOCH)
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.external_attr = 0o644 << 16
    return entry


def _check_size(archive: zipfile.ZipFile, name: str, max_bytes: int) -> None:
    size = sum(entry.file_size for entry in archive.infolist())
    if size > max_bytes:
        raise FormatError(
            f"{name} would unpack to {size:,} bytes, more than the {max_bytes:,} allowed; "
            "it is damaged or not made by Wordsight."
        )


def _check_header(header: Any, name: str, kind: str, version: int) -> None:
    if not isinstance(header, dict) or header.get("kind") != kind:
        found = header.get("kind") if isinstance(header, dict) else None
        raise FormatError(f"{name} holds {found or 'something else'}, but a {kind} was expected.")
    if not isinstance(header.get("version"), int) or not isinstance(header.get("values"), dict):
        raise FormatError(f"{name} has a damaged header; make it again from its source.")
    if header["version"] > version:
        raise FormatError(
            f"{name} was written by a newer Wordsight (layout {header['version']}, this one reads "
            f"up to {version}); update Wordsight to read it."
        )


def _read_array(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> NDArray[Any]:
    with archive.open(entry) as file:
        _check_declared(file, entry)
    with archive.open(entry) as file:  # in pieces: the bytes and the array are never both there
        array: NDArray[Any] = np.lib.format.read_array(file, allow_pickle=False)
    return array


def _check_declared(file: IO[bytes], entry: zipfile.ZipInfo) -> None:
    """Compare how large an array says it is with how large its entry is, before making room."""
    version = np.lib.format.read_magic(file)
    readers = {
        (1, 0): np.lib.format.read_array_header_1_0,
        (2, 0): np.lib.format.read_array_header_2_0,
    }
    if version not in readers:
        raise ValueError(f"{entry.filename} has an array header of version {version}")
    shape, _, dtype = readers[version](file)
    size = math.prod(shape) * dtype.itemsize
    if not dtype.hasobject and size > entry.file_size:
        raise ValueError(f"{entry.filename} says that it holds {size:,} bytes, and does not")


def frozen_array(values: Any, dtype: Any) -> NDArray[Any]:
    """Return a read-only, contiguous copy of ``values``."""
    array = np.array(values, dtype=dtype, order="C", copy=True)
    array.setflags(write=False)
    return array


@dataclasses.dataclass(frozen=True, eq=False)
class ArrayRecord:
    """Base of the frozen dataclasses that hold numpy arrays.

    A subclass declares fields that are arrays, ``None``, or values JSON can hold, and validates
    them in ``__post_init__``. Two records are equal when all their fields are.
    """

    layout_version: ClassVar[int] = 1

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the record atomically to an ``.npz`` file without pickle."""
        self._write(path, *self.parts())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a record that :meth:`save` wrote; the result equals the original."""
        return cls.from_parts(cls._read(path), path)

    def parts(self) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """Take the record apart into its arrays and its other values, leaving out ``None``."""
        fields = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        arrays = {name: v for name, v in fields.items() if isinstance(v, np.ndarray)}
        values = {name: v for name, v in fields.items() if name not in arrays and v is not None}
        return arrays, values

    @classmethod
    def from_parts(cls, parts: dict[str, Any], source: str | os.PathLike[str]) -> Self:
        """Put a record together from named parts; ``source`` is named if one is missing."""
        known = {field.name for field in dataclasses.fields(cls)}
        try:
            return cls(**{name: value for name, value in parts.items() if name in known})
        except TypeError as error:
            raise FormatError(f"{source} lacks a part of {cls.__name__}: {error}") from error

    @classmethod
    def _read(cls, path: str | os.PathLike[str]) -> dict[str, Any]:
        arrays, values = load_npz(path, cls.__name__, cls.layout_version)
        return {**values, **arrays}

    def _write(
        self, path: str | os.PathLike[str], arrays: dict[str, NDArray[Any]], values: dict[str, Any]
    ) -> None:
        save_npz(path, type(self).__name__, self.layout_version, arrays, values)

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return all(
            _same(getattr(self, field.name), getattr(other, field.name))
            for field in dataclasses.fields(self)
        )

    __hash__ = None  # type: ignore[assignment]  # compared by content, too large to hash


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        return (
            isinstance(one, np.ndarray)
            and isinstance(other, np.ndarray)
            and one.dtype == other.dtype
            and np.array_equal(one, other)
        )
    return bool(one == other)
