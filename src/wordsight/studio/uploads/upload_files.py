"""Files that people send: named harmlessly, written in pieces, refused where they are too large.

A name that was sent is only a name: its last part is cleaned, its ending must be a known one, and
it never says where the file goes.
"""

import re
from collections.abc import Collection
from pathlib import Path

from fastapi import UploadFile
from starlette.exceptions import HTTPException

from wordsight.errors import WordsightError
from wordsight.video import read_image

__all__ = ["FILE_BYTES", "harmless_name", "keep_file", "keep_picture", "read_upload"]


FILE_BYTES = 64 << 20
"""The largest file of boxes, labels or texts that is taken."""

_ODD = re.compile(r"[^\w.\- ]+")
_PIECE = 1 << 20


def harmless_name(name: str, endings: Collection[str], what: str = "file") -> str:
    """Return the harmless part of a name that was sent.

    Raises:
        WordsightError: If it does not end as it should.
    """
    last = Path(name.replace("\\", "/")).name
    clean = _ODD.sub("_", last).strip(" .")[-120:]
    if Path(clean).suffix.lower() not in endings:
        raise WordsightError(
            f"{clean or 'the file'} does not look like a {what}; names may end in "
            f"{', '.join(sorted(endings))}."
        )
    return clean


def keep_file(upload: UploadFile, folder: Path, endings: Collection[str], what: str) -> Path:
    """Write a file that was sent into a folder.

    Args:
        upload: What was sent.
        folder: Where to write it; made if it is not there.
        endings: How its name may end.
        what: What it should be, for people.

    Raises:
        WordsightError: If the name ends otherwise, or another file was sent under the same name.
        HTTPException: If it is too large.
    """
    path = folder / harmless_name(upload.filename or "", endings, what)
    if path.exists():
        raise WordsightError(f"two files are called {path.name}; rename one of them.")
    folder.mkdir(parents=True, exist_ok=True)
    written = 0
    with path.open("wb") as file:
        while piece := upload.file.read(_PIECE):
            written += len(piece)
            if written > FILE_BYTES:
                raise HTTPException(413, f"Too large: at most {FILE_BYTES:,} bytes are taken.")
            file.write(piece)
    return path


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
