"""Where uploads wait until a job takes them into the library, and what becomes of forgotten ones.

Each upload is a folder of its own. Its job removes it; one that no job was ever asked for, such as
of a page that was closed half-way, is swept away when the studio starts, a week after it came.
"""

import secrets
import shutil
import time
from collections.abc import Collection
from pathlib import Path

__all__ = ["new_upload", "sweep_uploads", "upload_folder"]

_FOLDER = "uploads"
_KEPT_FOR = 7 * 86400.0  # seconds; whoever wants to try a failed job again does so within a week


def new_upload() -> str:
    """Return a name for an upload that nobody can guess."""
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
