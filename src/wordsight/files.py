"""Writing files atomically, hashing them, and recognising them by their suffix."""

import ctypes
import errno
import fcntl
import glob
import hashlib
import os
import shutil
import stat
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeVar

from wordsight.errors import FormatError, WordsightError

__all__ = [
    "AUDIO_SUFFIXES",
    "BOX_SUFFIXES",
    "IMAGE_SUFFIXES",
    "SUBTITLE_SUFFIXES",
    "TEMPORARY_MARK",
    "VIDEO_SUFFIXES",
    "atomic_folder",
    "atomic_path",
    "check_plain",
    "put_folder",
    "read_limited",
    "read_present",
    "sha256_of",
    "sync_path",
    "write_text",
]

VIDEO_SUFFIXES = frozenset(
    (".3gp", ".avi", ".flv", ".m4v", ".mkv", ".mov", ".mp4", ".mpeg", ".mpg", ".webm", ".wmv")
)
"""Suffixes of the videos in a folder; a file that is named explicitly may have any suffix."""

IMAGE_SUFFIXES = (".png", ".jpg", ".jpeg")
AUDIO_SUFFIXES = (".wav", ".flac", ".ogg", ".mp3")
SUBTITLE_SUFFIXES = (".srt", ".vtt")
BOX_SUFFIXES = (".csv", ".txt", ".json", ".xml")

TEMPORARY_MARK = ".partial-"
"""Part of the name of every file not yet complete, so that leftovers of a crash can be found."""

_CHUNK_BYTES = 1 << 20
_Read = TypeVar("_Read")
_ABANDONED_SECONDS = 60.0
_HERE, _EXCHANGE = -100, 2  # AT_FDCWD and RENAME_EXCHANGE of Linux


@contextmanager
def atomic_path(path: str | os.PathLike[str], *, overwrite: bool = True) -> Iterator[Path]:
    """Give a temporary path beside ``path`` that takes its place when the block succeeds.

    The temporary name keeps the suffix of the target, because encoders choose by it. The bytes are
    on disk before the rename, and the rename is atomic; an exception removes the temporary file.
    What a killed process left of an earlier attempt at the same file is cleared away.

    Args:
        path: Where the finished file will be.
        overwrite: Whether an existing file may be replaced.

    Yields:
        The path to write to.

    Raises:
        FileExistsError: If ``overwrite`` is false and the target exists.
    """
    target = Path(path)
    if not overwrite and target.exists():
        raise FileExistsError(f"{target} exists already; choose another name or remove it first.")
    target.parent.mkdir(parents=True, exist_ok=True)
    mark = f".{target.stem[:40]}{TEMPORARY_MARK}"
    _clear_abandoned(target.parent, mark, target.suffix)
    handle, name = tempfile.mkstemp(
        prefix=f"{mark}{os.getpid()}-", suffix=target.suffix, dir=target.parent
    )
    temporary = Path(name)
    try:
        _lock(handle)  # tells others, until it is closed or we die, that it is being written
        yield temporary
        temporary.chmod(0o666 & ~_umask())
        sync_path(temporary)
        if overwrite:
            temporary.replace(target)
        else:
            os.link(
                temporary, target
            )  # unlike rename, refuses to replace a file that came meanwhile
            temporary.unlink()
        sync_path(target.parent)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    finally:
        os.close(handle)


def write_text(path: str | os.PathLike[str], text: str, *, overwrite: bool = True) -> None:
    """Write UTF-8 text with Unix line ends atomically."""
    with atomic_path(path, overwrite=overwrite) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="\n")


@contextmanager
def atomic_folder(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give an empty folder beside ``path`` that takes its place when the block succeeds.

    Like :func:`atomic_path`, for a folder of files that belong together; its files should be on
    disk when the block ends. A folder that is there is replaced.

    Args:
        path: Where the finished folder will be.

    Yields:
        The folder to write into.
    """
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    mark = f".{target.name}{TEMPORARY_MARK}"
    _clear_abandoned(target.parent, mark, "")
    folder = Path(tempfile.mkdtemp(prefix=mark, dir=target.parent))
    handle = os.open(folder, os.O_RDONLY)
    try:
        _lock(handle)
        yield folder
        folder.chmod(0o777 & ~_umask())
        sync_path(folder)
        put_folder(folder, target)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    finally:
        os.close(handle)


def put_folder(folder: Path, target: Path) -> None:
    """Put a finished folder in the place of another, or of none, and delete the other.

    Unlike files, folders cannot be renamed over one another. Linux can exchange the two names in
    one step, so that a reader, even after a crash, finds the old folder or the new one;
    elsewhere the old one is moved aside first.

    Args:
        folder: The new folder, beside ``target``.
        target: Where it will be.
    """
    if not target.exists():
        folder.rename(target)
    elif _exchange(folder, target):
        shutil.rmtree(folder)
    else:
        aside = Path(tempfile.mkdtemp(prefix=f"{folder.name}-", dir=target.parent))
        target.rename(aside / target.name)
        folder.rename(target)
        shutil.rmtree(aside)
    sync_path(target.parent)


def check_plain(path: str | os.PathLike[str]) -> None:
    """Refuse a pipe, a device or a link to one: reading it might never end.

    Raises:
        OSError: If it is such a file; one that is not there is left to the reader's own message.
    """
    try:
        mode = Path(path).stat().st_mode
    except OSError:
        return
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        raise OSError(errno.EINVAL, "not a plain file but a device or a pipe", os.fspath(path))


def read_limited(
    path: str | os.PathLike[str],
    most: int,
    too_large: str,
    error: type[WordsightError] = FormatError,
) -> bytes:
    """Return the bytes of a file that people named.

    Args:
        path: The file.
        most: Largest number of bytes it may have.
        too_large: What is said of a larger one, after its name; ``{size}`` is its size.
        error: What is raised if it is missing, too large or cannot be read.
    """
    file = Path(path)
    try:
        check_plain(file)
        size = file.stat().st_size
        if size > most:
            raise error(f"{file} {too_large.format(size=f'{size:,}')}")
        return file.read_bytes()
    except FileNotFoundError:
        raise error(f"{file} does not exist; check the name.") from None
    except OSError as failure:
        raise error(f"{file} cannot be read: {failure.strerror or failure}.") from failure


def read_present(paths: Iterable[Path], read: Callable[[Path], _Read]) -> list[_Read]:
    """Read files that were listed, but for those that were removed since.

    Args:
        paths: The files.
        read: Reads one.

    Returns:
        What was read, in the order of the files.
    """
    found = []
    for path in paths:
        with suppress(FileNotFoundError, NotADirectoryError):
            found.append(read(path))
    return found


def sha256_of(path: str | os.PathLike[str]) -> str:
    """Return the SHA-256 of a file's bytes as 64 hexadecimal digits, reading it in pieces."""
    check_plain(path)
    digest = hashlib.sha256()
    with Path(path).open("rb") as file:
        while chunk := file.read(_CHUNK_BYTES):
            digest.update(chunk)
    return digest.hexdigest()


def _clear_abandoned(folder: Path, mark: str, suffix: str) -> None:
    """Delete temporary files and folders of this name that are old and that no process holds."""
    for path in folder.glob(f"{glob.escape(mark)}*{glob.escape(suffix)}"):
        try:
            if abs(time.time() - path.stat().st_mtime) < _ABANDONED_SECONDS:
                continue  # its writer may be about to lock it
            handle = os.open(path, os.O_RDONLY)
        except OSError:
            continue
        try:
            if _lock(handle) and path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            elif _lock(handle):
                path.unlink(missing_ok=True)
        finally:
            os.close(handle)


def _lock(handle: int) -> bool:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:  # someone else has it, or this file system knows no locks
        return False
    return True


def _exchange(one: Path, other: Path) -> bool:
    """Exchange two names in one step; false where the system cannot."""
    if not sys.platform.startswith("linux"):
        return False
    try:
        call = ctypes.CDLL(None, use_errno=True).renameat2
    except AttributeError:  # an old C library
        return False
    return bool(call(_HERE, os.fsencode(one), _HERE, os.fsencode(other), _EXCHANGE) == 0)


def sync_path(path: Path) -> None:
    """Have the system write a file or a folder to disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _umask() -> int:
    # The only portable way to read it is to set it; mkstemp made the file private, readers of a
    # shared library need the usual permissions.
    mask = os.umask(0)
    os.umask(mask)
    return mask
