"""Opening video files with FFmpeg, and checking whether a file is truncated."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

import av
from av.container import InputContainer
from av.stream import Disposition
from av.video.stream import VideoStream

from wordsight.errors import VideoError

__all__ = ["missing_bytes", "open_video"]


_NOT_MOVING = ("image2", "tty", "lrc")
"""Formats FFmpeg calls video that are an image or text, like all that end in ``_pipe``."""


@contextmanager
def open_video(
    path: str | os.PathLike[str], *, threads: bool = True
) -> Iterator[tuple[InputContainer, VideoStream]]:
    """Open a file and its first video stream; close it when the block ends.

    Args:
        path: The video file; its name may contain any characters.
        threads: Whether to decode with several threads.

    Yields:
        The open container and the stream.

    Raises:
        VideoError: If the file is missing, empty, a folder, or has no video stream.
    """
    file = Path(path)
    _check_is_file(file)
    try:
        # "file:" keeps FFmpeg from reading a colon in a name as a network address; the protocol
        # list keeps a playlist inside the file from accessing the network.
        container = av.open(f"file:{file}", container_options={"protocol_whitelist": "file"})
    except (av.FFmpegError, OSError, UnicodeError, ValueError) as error:
        raise VideoError(_why_not_opened(file, error)) from None
    with container:
        stream = _moving_picture(container, file)
        stream.codec_context.thread_type = "AUTO" if threads else "NONE"
        yield container, stream


def _check_is_file(file: Path) -> None:
    if file.is_dir():
        raise VideoError(f"{file} is a folder, not a video; name the files inside it.")
    if not file.exists():
        raise VideoError(f"there is no file {file}; check the name and the folder.")
    if not file.is_file():
        raise VideoError(f"{file} is not a regular file, so it cannot be read as video.")
    if not os.access(file, os.R_OK):
        raise VideoError(f"no permission to read {file}; ask its owner for access.")
    if file.stat().st_size == 0:
        raise VideoError(f"{file} is empty; copy or download it again.")


def _why_not_opened(file: Path, error: Exception) -> str:
    reason = getattr(error, "strerror", None) or str(error)
    return (
        f"{file} cannot be read as video ({reason}). Expected a video file such as MP4, WebM, AVI "
        "or MPEG; if it is one, it may have been cut off before its index was written: copy it "
        "again or convert it with another program."
    )


def _moving_picture(container: InputContainer, file: Path) -> VideoStream:
    kind = container.format.name
    if kind in _NOT_MOVING or kind.endswith("_pipe"):
        raise VideoError(f"{file} is a still image or text ({kind}), not a video.")
    for stream in container.streams.video:
        if stream.disposition & Disposition.attached_pic:  # cover art of a music file
            continue
        if stream.codec_context is None:
            raise VideoError(
                f"{file} uses a codec that this FFmpeg cannot decode; convert it, for example to "
                "H.264 in MP4."
            )
        return stream
    what = "only sound" if container.streams.audio else "no video"
    raise VideoError(f"{file} has {what} in it; expected a file with a video stream.")


# Truncation: FFmpeg reads a file that was cut off as if it ended there; the sizes stored in MP4,
# AVI and Matroska files reveal it.

_EBML_HEADER = 0x1A45DFA3
_MATROSKA_SEGMENT = 0x18538067
_MP4_FIRST_BOXES = (b"ftyp", b"moov", b"mdat", b"free", b"skip", b"wide", b"styp")


def missing_bytes(path: str | os.PathLike[str]) -> int:
    """Return the least number of bytes missing at the end of a file; 0 if it may be complete."""
    size = Path(path).stat().st_size
    with Path(path).open("rb") as file:
        head = file.read(12)
        file.seek(0)
        if head[:4] == b"RIFF":
            # Interrupted recorders leave all bits 0 or 1.
            stated = int.from_bytes(head[4:8], "little")
            end = stated + 8 if stated != 0xFFFFFFFF else 0
        elif int.from_bytes(head[:4], "big") == _EBML_HEADER:
            end = _end_of_segment(file)
        elif head[4:8] in _MP4_FIRST_BOXES:
            end = _end_of_boxes(file, size)
        else:
            end = 0
    return max(end - size, 0)


def _end_of_segment(file: BinaryIO) -> int:
    """Return the stated end of a Matroska file's segment; 0 if it is unknown."""
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
    """Read an EBML variable-length integer; None if absent or 'unknown'."""
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
    """Return the stated end of the last top-level box of an MP4 file."""
    end = 0
    while end + 8 <= size:
        file.seek(end)
        head = file.read(16)
        length = int.from_bytes(head[:4], "big")
        if length == 1:  # a 64-bit size follows
            length = int.from_bytes(head[8:16], "big")
        if length < 8 or not head[4:8].isalnum():  # extends to the end, or padding follows
            return 0
        end += length
    return end
