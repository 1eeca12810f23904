"""Pictures that people send: read up to a size, kept under a name of ours, and looked into."""

from pathlib import Path

from fastapi import UploadFile
from starlette.exceptions import HTTPException

from wordsight.errors import WordsightError
from wordsight.video import read_image

__all__ = ["keep_picture", "read_upload"]

_MOST_BYTES = 16 << 20


def read_upload(upload: UploadFile) -> bytes:
    """Return what was sent, or answer that it is too large."""
    data = upload.file.read(_MOST_BYTES + 1)
    if len(data) > _MOST_BYTES:
        raise HTTPException(413, f"Too large: at most {_MOST_BYTES:,} bytes are taken.")
    return data


def keep_picture(image: UploadFile, stem: Path) -> Path:
    """Write an uploaded picture under a name of ours and make sure that it is one.

    Args:
        image: What was sent.
        stem: Where to write it, without the ending.

    Raises:
        WordsightError: If it is no picture.
    """
    data = read_upload(image)
    suffix = ".png" if data[:4] == b"\x89PNG" else ".jpg"
    path = stem.with_name(stem.name + suffix)
    path.write_bytes(data)
    try:
        read_image(path)
    except WordsightError:
        path.unlink()
        raise WordsightError("this is not a PNG or JPEG picture that can be read.") from None
    return path
