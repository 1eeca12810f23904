"""Arrays and a little JSON in one ``.npz`` file: no pickle, same content same bytes, size checked.

numpy's own ``savez`` stamps the time of day into the archive; ours does not, so that a file's hash
says whether its content changed.
"""

import io
import json
import os
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wordsight.errors import FormatError
from wordsight.files import atomic_path
from wordsight.interrupts import interrupts_held_back

__all__ = ["MAX_UNPACKED_BYTES", "load_npz", "save_npz"]

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
    array: NDArray[Any] = np.lib.format.read_array(
        io.BytesIO(archive.read(entry)), allow_pickle=False
    )
    return array
