"""Opening a video file with FFmpeg: the right stream, or one error that says what is wrong."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import av
from av.container import InputContainer
from av.stream import Disposition
from av.video.stream import VideoStream

from wordsight.errors import VideoError

__all__ = ["open_video"]

_NOT_MOVING = ("image2", "tty", "lrc")
"""Containers FFmpeg calls video that are a picture or a text; so are all ending in ``_pipe``."""


@contextmanager
def open_video(
    path: str | os.PathLike[str], *, threads: bool = True
) -> Iterator[tuple[InputContainer, VideoStream]]:
    """Open a file and its first moving-picture stream; close it when the block ends.

    Args:
        path: The video file; spaces, colons and any Unicode are fine.
        threads: Whether to decode several frames at once.

    Yields:
        The open container and the stream.

    Raises:
        VideoError: If the file is missing, empty, a folder, or has no video in it.
    """
    file = Path(path)
    _check_is_file(file)
    try:
        # "file:" keeps FFmpeg from taking a colon in a name for a network address, and the list of
        # protocols keeps a playlist inside the file from reaching out to the network.
        container = av.open(f"file:{file}", container_options={"protocol_whitelist": "file"})
    except (av.FFmpegError, OSError, UnicodeError, ValueError) as error:
        raise VideoError(_why_not_opened(file, error)) from None
    with container:
        stream = _moving_picture(container, file)
        stream.codec_context.thread_type = "AUTO" if threads else "NONE"
        yield container, stream


def _check_is_file(file: Path) -> None:
    if file.is_dir():
        raise VideoError(f"{file} is a folder, not a video; give the files inside it.")
    if not file.exists():
        raise VideoError(f"there is no file {file}; check the name and the folder.")
    if not file.is_file():
        raise VideoError(f"{file} is not an ordinary file, so it cannot be read as video.")
    if not os.access(file, os.R_OK):
        raise VideoError(f"{file} may not be read; ask its owner for permission.")
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
        raise VideoError(f"{file} is a still picture or a text ({kind}), not a video.")
    for stream in container.streams.video:
        if stream.disposition & Disposition.attached_pic:  # cover art of a music file
            continue
        if stream.codec_context is None:
            raise VideoError(
                f"{file} holds video in a coding that this FFmpeg cannot decode; convert it, for "
                "example to H.264 in MP4."
            )
        return stream
    what = "only sound" if container.streams.audio else "no video"
    raise VideoError(f"{file} has {what} in it; expected a file with moving pictures.")
