"""Whether a video file is as long as its own structure says, for the containers that tell.

FFmpeg reads a file that was cut off as if it simply ended; the sizes written in MP4, AVI and
Matroska files show that it did not.
"""

import os
from pathlib import Path
from typing import BinaryIO

__all__ = ["missing_bytes"]

_EBML_HEADER = 0x1A45DFA3
_MATROSKA_SEGMENT = 0x18538067
_MP4_FIRST_BOXES = (b"ftyp", b"moov", b"mdat", b"free", b"skip", b"wide", b"styp")


def missing_bytes(path: str | os.PathLike[str]) -> int:
    """Return how many bytes a cut-off file lacks at least; 0 where nothing is known to be missing.

    Args:
        path: A video file of any kind.
    """
    size = Path(path).stat().st_size
    with Path(path).open("rb") as file:
        head = file.read(12)
        file.seek(0)
        if head[:4] == b"RIFF":
            # Recorders that were switched off leave a 0 or nothing but ones.
            promised = int.from_bytes(head[4:8], "little")
            end = promised + 8 if promised != 0xFFFFFFFF else 0
        elif int.from_bytes(head[:4], "big") == _EBML_HEADER:
            end = _end_of_segment(file)
        elif head[4:8] in _MP4_FIRST_BOXES:
            end = _end_of_boxes(file, size)
        else:
            end = 0
    return max(end - size, 0)


def _end_of_segment(file: BinaryIO) -> int:
    """Return where a Matroska file's segment shall end; 0 if it was written without knowing."""
    _read_vint(file, keep_marker=True)
    header_size = _read_vint(file)
    if header_size is None:
        return 0
    file.seek(header_size, os.SEEK_CUR)
    if _read_vint(file, keep_marker=True) != _MATROSKA_SEGMENT:
        return 0
    segment_size = _read_vint(file)
    return 0 if segment_size is None else file.tell() + segment_size


def _read_vint(file: BinaryIO, *, keep_marker: bool = False) -> int | None:
    """Read a number whose leading zero bits tell its length; None if absent or 'unknown'."""
    first = file.read(1)
    if not first or not first[0]:
        return None
    length = 9 - first[0].bit_length()
    value = int.from_bytes(first + file.read(length - 1), "big")
    if keep_marker:
        return value
    value &= (1 << 7 * length) - 1
    return None if value == (1 << 7 * length) - 1 else value


def _end_of_boxes(file: BinaryIO, size: int) -> int:
    """Walk the top-level boxes of an MP4 file and return where the last one shall end."""
    end = 0
    while end + 8 <= size:
        file.seek(end)
        head = file.read(16)
        length = int.from_bytes(head[:4], "big")
        if length == 1:  # the size did not fit and follows in eight bytes
            length = int.from_bytes(head[8:16], "big")
        if length < 8 or not head[4:8].isalnum():  # up to the end, or padding after the last box
            return 0
        end += length
    return end
