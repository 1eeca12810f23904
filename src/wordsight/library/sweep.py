"""Clearing away what interrupted work left behind, without disturbing work that goes on."""

import os
import re
import time
from pathlib import Path

from wordsight.files import TEMPORARY_MARK
from wordsight.library.store import ArtefactStore, remove_path

__all__ = ["sweep_staging"]

_STALE_SECONDS = 600.0
"""A file that a living process writes is younger; its process may run on another machine."""

_WRITER = re.compile(re.escape(TEMPORARY_MARK) + r"(\d+)-")


def sweep_staging(store: ArtefactStore) -> tuple[str, ...]:
    """Delete unfinished files that nobody will finish.

    If nobody is making files, all of them; otherwise only old ones whose process is dead.

    Returns:
        Names of the files that were deleted.
    """
    removed = []
    with store.alone() as alone:
        for path in store.unfinished():
            if alone or _is_stale(path):
                remove_path(path)
                removed.append(path.name)
    return (*removed, *store.sweep())


def _is_stale(path: Path) -> bool:
    writer = _WRITER.search(path.name)
    try:
        age = time.time() - path.stat().st_mtime
    except FileNotFoundError:
        return False  # its writer has just finished
    return age > _STALE_SECONDS and writer is not None and not _is_alive(int(writer[1]))


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:  # it is someone else's, so there is one
        return True
    return True
