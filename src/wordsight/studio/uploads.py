"""Files that people send: their names are cleaned, their sizes limited, and jobs pick them up.

Only the last part of a name that was sent is kept, its suffix must be a known one, and it never
decides where the file goes. Each upload is a folder of its own. Its job removes it; one without a
job, such as of a page that was closed half-way, is removed when the studio starts, a week later.
"""

import re
import secrets
import shutil
import time
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING

from starlette.exceptions import HTTPException

from wordsight.errors import FormatError, WordsightError
from wordsight.records.arrays import check_npz
from wordsight.video import read_image

if TYPE_CHECKING:
    from fastapi import UploadFile

__all__ = [
    "FILE_BYTES",
    "harmless_name",
    "keep_file",
    "keep_picture",
    "new_upload",
    "read_upload",
    "sweep_uploads",
    "upload_folder",
]


FILE_BYTES = 64 << 20
"""The largest file of boxes, labels or texts that is taken."""

_UNPACKED = 512 << 20  # bytes a packed file may unpack to: boxes of some hours

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


def keep_file(upload: "UploadFile", folder: Path, endings: Collection[str], what: str) -> Path:
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
    if path.suffix.lower() == ".npz":
        try:
            check_npz(path, _UNPACKED)
        except FormatError:
            path.unlink()
            raise
    return path


_MOST_BYTES = 16 << 20


def read_upload(upload: "UploadFile") -> bytes:
    """Return what was sent, or answer that it is too large."""
    data = upload.file.read(_MOST_BYTES + 1)
    if len(data) > _MOST_BYTES:
        raise HTTPException(413, f"Too large: at most {_MOST_BYTES:,} bytes are taken.")
    return data


def keep_picture(image: "UploadFile", stem: Path) -> Path:
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


_FOLDER = "uploads"

_KEPT_FOR = 7 * 86400.0  # seconds; a failed job can be tried again within a week


def new_upload() -> str:
    """Return a name for an upload that cannot be guessed."""
    return secrets.token_hex(8)


def upload_folder(folder: Path, upload: str) -> Path:
    """Return the folder of an upload; whatever its name says, it is none outside."""
    return folder / _FOLDER / (Path(upload).name.strip(".") or "-")


def sweep_uploads(folder: Path, wanted: Collection[str]) -> int:
    """Remove uploads that came more than a week ago, and say how many.

    Args:
        folder: The studio's folder.
        wanted: Names of those that jobs still have to look at: they stay, however old.
    """
    before = time.time() - _KEPT_FOR
    others = [path for path in (folder / _FOLDER).glob("*") if path.name not in wanted]
    old = [path for path in others if _unchanged_since(before, path)]
    for path in old:
        shutil.rmtree(path, ignore_errors=True)
    return len(old)


def _unchanged_since(before: float, path: Path) -> bool:
    try:
        return max(one.stat().st_mtime for one in (path, *path.rglob("*"))) < before
    except FileNotFoundError:
        return False  # a job of another studio has just taken it
