"""Reading and writing PNG and JPEG images: RGB, written atomically, with a size limit."""

import os
import struct
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from wordsight.errors import VideoError
from wordsight.files import atomic_path, read_limited

__all__ = ["MAX_PIXELS", "checked_image", "read_image", "write_image"]

MAX_PIXELS = 100_000_000
"""Larger images are rejected before decoding: a small file can state any size."""

_MAX_FILE_BYTES = 512 << 20
_PNG_FASTEST_GOOD = 6  # zlib level; higher ones save a few percent and take several times as long
_JPEG_QUALITY = 92
_PNG = b"\x89PNG\r\n\x1a\n"
_WRITABLE = {
    ".png": [cv2.IMWRITE_PNG_COMPRESSION, _PNG_FASTEST_GOOD],
    ".jpg": [cv2.IMWRITE_JPEG_QUALITY, _JPEG_QUALITY],
    ".jpeg": [cv2.IMWRITE_JPEG_QUALITY, _JPEG_QUALITY],
}


def checked_image(image: Any) -> NDArray[np.uint8]:
    """Return ``image`` if it is a non-empty ``(H, W, 3)`` uint8 array.

    Raises:
        VideoError: If it is not.
    """
    if not isinstance(image, np.ndarray) or image.dtype != np.uint8 or image.ndim != 3:
        what = f"{image.dtype} {image.shape}" if isinstance(image, np.ndarray) else type(image)
        raise VideoError(f"an image must be a uint8 array (height, width, 3), got {what}.")
    if image.shape[2] != 3 or image.size == 0:
        raise VideoError(f"an image must have shape (height, width, 3), got {image.shape}.")
    return image


def encode_jpeg(image: NDArray[np.uint8], quality: int = 95) -> bytes:
    """Return an RGB image as the bytes of a JPEG file."""
    pixels = cv2.cvtColor(checked_image(image), cv2.COLOR_RGB2BGR)
    _, data = cv2.imencode(".jpg", pixels, [cv2.IMWRITE_JPEG_QUALITY, quality])
    return data.tobytes()


def write_image(
    path: str | os.PathLike[str], image: NDArray[np.uint8], *, overwrite: bool = False
) -> None:
    """Write an RGB image atomically as PNG or JPEG, by the file name's suffix.

    Args:
        path: The file, ending in ``.png``, ``.jpg`` or ``.jpeg``.
        image: ``(H, W, 3)`` RGB.
        overwrite: Whether an existing file may be replaced.

    Raises:
        VideoError: If the image or the name is invalid, or the file exists or cannot be written.
    """
    target = Path(path)
    options = _WRITABLE.get(target.suffix.lower())
    if options is None:
        raise VideoError(f"{target.name} must end in .png, .jpg or .jpeg.")
    pixels = cv2.cvtColor(checked_image(image), cv2.COLOR_RGB2BGR)
    done, data = cv2.imencode(target.suffix.lower(), pixels, options)
    if not done:
        raise VideoError(f"{target} could not be encoded; the image has shape {image.shape}.")
    try:
        with atomic_path(target, overwrite=overwrite) as temporary:
            temporary.write_bytes(data.tobytes())
    except OSError as error:
        if isinstance(error, FileExistsError) and target.is_file():
            advice = "exists already; choose another name or pass overwrite=True."
        else:
            advice = f"cannot be written ({error}); check the folder and the disk."
        raise VideoError(f"{target} {advice}") from error


def read_image(path: str | os.PathLike[str], *, max_pixels: int = MAX_PIXELS) -> NDArray[np.uint8]:
    """Read a PNG or JPEG file as RGB; grey is converted and transparency dropped.

    Args:
        path: The file.
        max_pixels: Largest accepted width times height.

    Returns:
        ``(H, W, 3)`` RGB.

    Raises:
        VideoError: If the file is missing, too large, damaged or of another format.
    """
    source = Path(path)
    too_large = f"is larger than {_MAX_FILE_BYTES:,} bytes; shrink it first."
    data = read_limited(source, _MAX_FILE_BYTES, too_large, VideoError)
    size = _stated_size(data)
    if size is None:
        raise VideoError(f"{source} is not a PNG or JPEG image; convert it to one of them.")
    if size[0] * size[1] > max_pixels:
        raise VideoError(
            f"{source} has {size[0]} x {size[1]} pixels, more than the {max_pixels:,} allowed; "
            "shrink it first."
        )
    return _decoded(data, source)


def _decoded(data: bytes, source: Path) -> NDArray[np.uint8]:
    # For a truncated PNG the decoder sometimes returns a partial image, sometimes nothing.
    if data[:8] == _PNG and not _is_complete(data):
        raise VideoError(f"{source} is damaged: it is truncated; restore it from a copy.")
    try:
        image = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_COLOR)
    except cv2.error:
        image = None
    if image is None:
        raise VideoError(f"{source} is damaged; restore it from a copy.")
    return np.asarray(cv2.cvtColor(image, cv2.COLOR_BGR2RGB), dtype=np.uint8)


def _is_complete(png: bytes) -> bool:
    """Return whether the chunks of a PNG include the last one."""
    at = len(_PNG)
    while at + 12 <= len(png):  # length, kind, content, check sum
        if png[at + 4 : at + 8] == b"IEND":
            return True
        at += 12 + int.from_bytes(png[at : at + 4], "big")
    return False


def _stated_size(data: bytes) -> tuple[int, int] | None:
    """Return the width and height a PNG or JPEG header states, or ``None`` if it is neither."""
    if data[:8] == _PNG and len(data) >= 24:
        width, height = struct.unpack(">II", data[16:24])
        return width, height
    if data[:2] == b"\xff\xd8":
        return _stated_jpeg_size(data)
    return None


def _stated_jpeg_size(data: bytes) -> tuple[int, int] | None:
    # A segment is a marker, a length and content. The size is in the start-of-frame segment, whose
    # markers are C0 to CF without the three for tables.
    at = 2
    while at + 9 <= len(data) and data[at] == 0xFF:
        marker = data[at + 1]
        if marker == 0xFF or marker == 0x01 or 0xD0 <= marker <= 0xD8:  # padding, no content
            at += 1 if marker == 0xFF else 2
            continue
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            height, width = struct.unpack(">HH", data[at + 5 : at + 9])
            return width, height
        at += 2 + struct.unpack(">H", data[at + 2 : at + 4])[0]
    return None
