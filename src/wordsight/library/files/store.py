"""The files of a library: written to temporary names, hashed, then renamed into place.

An artefact's name says what it was made with and what it contains, so no file is ever replaced by
a different one: interrupted or repeated work leaves the catalogue true.
"""

import fcntl
import hashlib
import json
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wordsight.errors import LibraryError
from wordsight.files import TEMPORARY_MARK, put_folder, sha256_of, sync_path

__all__ = [
    "PLACES",
    "ArtefactStore",
    "StagedArtefact",
    "digest_of",
    "folder_digest",
    "is_our_path",
    "remove_path",
    "settings_hash",
    "slot_of",
]

_STAGING = "staging"
_LOCK = "lock"
_OF_VIDEOS, _OF_LIBRARY = "videos", "shared"
PLACES = (f"{_OF_VIDEOS}/*/*", f"{_OF_LIBRARY}/*")
"""Where artefacts are, relative to the library's folder."""
# What we put into the library's folder, and so all that we call ours there.
_OUR_NAME = re.compile(r"[a-z][a-z0-9_]*-[0-9a-f]{8}-[0-9a-f]{12}(\.\w+)?")


@dataclass(frozen=True)
class StagedArtefact:
    """A finished artefact that waits to be put in its place.

    Attributes:
        kind: What it is.
        video_id: Of which video; ``None`` if of the library.
        settings: What it was made with, as JSON can hold it.
        staged: Where it waits.
        path: Where it will be, relative to the library's folder.
        sha256: Hash of its content.
        size: Bytes.
    """

    kind: str
    video_id: str | None
    settings: dict[str, Any]
    staged: str
    path: str
    sha256: str
    size: int

    @property
    def slot(self) -> str:
        """The place in the catalogue that only one artefact can have."""
        return slot_of(self.kind, self.settings, self.video_id)


def settings_hash(settings: Mapping[str, Any]) -> str:
    """Return eight hexadecimal digits that tell settings apart, in whatever order they come."""
    text = json.dumps(settings, sort_keys=True, allow_nan=False, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def slot_of(kind: str, settings: Mapping[str, Any], video_id: str | None) -> str:
    """Return the catalogue's key for the artefact of one kind made with these settings."""
    return f"{video_id or ''}/{kind}/{settings_hash(settings)}"


def digest_of(path: Path) -> tuple[str, int]:
    """Return hash and size of a file, or of a folder by the names and hashes of its files."""
    if not path.is_dir():
        return sha256_of(path), path.stat().st_size
    files = sorted(p for p in path.rglob("*") if p.is_file())
    parts = [(sha256_of(file), file.relative_to(path).as_posix()) for file in files]
    return folder_digest(parts), sum(file.stat().st_size for file in files)


def folder_digest(parts: Iterable[tuple[str, str]]) -> str:
    """Return the hash of a folder from the hashes and names of its files."""
    digest = hashlib.sha256()
    for sha256, name in parts:
        digest.update(f"{sha256}  {name}\n".encode())
    return digest.hexdigest()


def is_our_path(path: str) -> str | None:
    """Return the artefact that a path is, or is a file of; ``None`` if it is not ours."""
    parts = path.split("/")
    depth = {_OF_VIDEOS: 3, _OF_LIBRARY: 2}.get(parts[0], 0)
    if not depth or len(parts) < depth or not _OUR_NAME.fullmatch(parts[depth - 1]):
        return None
    return "/".join(parts[:depth])


class ArtefactStore:
    """The folder of a library and what is in it.

    Args:
        folder: The library's folder.

    Attributes:
        url: The address of the bucket the files are in; ``None`` if they are in the folder.
    """

    def __init__(self, folder: Path):
        self.folder = folder
        self.url: str | None = None

    def stage(
        self,
        kind: str,
        write: Callable[[Path], None],
        *,
        suffix: str,
        settings: Mapping[str, Any],
        video_id: str | None = None,
    ) -> StagedArtefact:
        """Write an artefact aside and hash it.

        Args:
            kind: A lower-case word, the beginning of the file's name.
            write: Called with the path to write to, a file or a folder that does not exist yet.
            suffix: Suffix of the path, ``""`` for a folder.
            settings: What it is made with, as JSON can hold it.
            video_id: Of which video; ``None`` for one of the library.

        Returns:
            The artefact, to be handed to :meth:`place` or :meth:`discard`.
        """
        staging = self._staging()
        handle, name = tempfile.mkstemp(
            prefix=f"{kind}{TEMPORARY_MARK}{os.getpid()}-", suffix=suffix, dir=staging
        )
        os.close(handle)
        staged = Path(name)
        try:
            staged.unlink()
            write(staged)
            sync_path(staged)
            sha256, size = digest_of(staged)
        except BaseException:
            remove_path(staged)
            raise
        home = f"{_OF_VIDEOS}/{video_id}" if video_id else _OF_LIBRARY
        path = f"{home}/{kind}-{settings_hash(settings)}-{sha256[:12]}{suffix}"
        return self._sent(StagedArtefact(kind, video_id, dict(settings), name, path, sha256, size))

    def _sent(self, artefact: StagedArtefact) -> StagedArtefact:
        """Send a staged artefact to where it waits for its place, if that is elsewhere."""
        return artefact

    def place(self, artefact: StagedArtefact) -> None:
        """Put a staged artefact in its place; its bytes are on disk when this returns."""
        target = self.path_of(artefact.path)
        target.parent.mkdir(parents=True, exist_ok=True)
        if target.is_dir():  # the same content, entered already or left by interrupted work
            put_folder(Path(artefact.staged), target)
        else:
            Path(artefact.staged).replace(target)
        sync_path(target.parent)
        sync_path(target.parent.parent)

    def discard(self, artefact: StagedArtefact) -> None:
        """Throw away a staged artefact that was not needed."""
        remove_path(Path(artefact.staged))

    def path_of(self, relative: str) -> Path:
        """Return where an artefact is.

        Raises:
            LibraryError: If the path leads out of the library's folder.
        """
        path = self.folder / relative
        if not self.holds(path):
            raise LibraryError(f"the catalogue names {relative!r}, which is outside the library.")
        return path

    def local_path(self, relative: str) -> Path:
        """Return where an artefact is or would be on this machine, fetching nothing."""
        return self.path_of(relative)

    def digest(self, relative: str, *, hashes: bool = True) -> tuple[str | None, int] | None:
        """Return hash and size of an artefact as it is now; ``None`` if it is missing.

        Args:
            relative: Its path.
            hashes: Whether to read a file; otherwise its hash is ``None``.
        """
        path = self.path_of(relative)
        if not path.exists():
            return None
        if not hashes and not path.is_dir():
            return None, path.stat().st_size
        return digest_of(path)

    def shown(self, relative: str) -> str:
        """Return where an artefact is, for people."""
        return str(self.folder / relative)

    def sweep(self) -> tuple[str, ...]:
        """Delete what was left unfinished outside the folder, and return which."""
        return ()

    def holds(self, path: Path) -> bool:
        """Say whether a path is below the library's folder."""
        below = path.is_relative_to(self.folder)
        return below and ".." not in path.relative_to(self.folder).parts

    def remove(self, relative: str) -> None:
        """Delete an artefact, and the folder of its video if that is now empty."""
        path = self.path_of(relative)
        remove_path(path)
        if path.parent.parent == self.folder / _OF_VIDEOS:
            try:
                path.parent.rmdir()
            except OSError:
                return  # other files are in it, or it is gone already

    def ours(self) -> Iterator[str]:
        """Yield the relative path of everything in the folder that has the name of an artefact."""
        for pattern in PLACES:
            for path in sorted(self.folder.glob(pattern)):
                if _OUR_NAME.fullmatch(path.name):
                    yield path.relative_to(self.folder).as_posix()

    def unfinished(self) -> Iterator[Path]:
        """Yield everything that waits in staging or was left there."""
        for path in sorted((self.folder / _STAGING).glob("*")):
            if TEMPORARY_MARK in path.name:
                yield path

    @contextmanager
    def working(self) -> Iterator[None]:
        """Let others know that files are being made, until the block ends or the process dies."""
        with self._lock_file() as descriptor:
            _try_lock(descriptor, fcntl.LOCK_SH)
            yield

    @contextmanager
    def alone(self) -> Iterator[bool]:
        """Give true if no process is making files, and keep it so until the block ends."""
        with self._lock_file() as descriptor:
            yield _try_lock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)

    @contextmanager
    def _lock_file(self) -> Iterator[int]:
        staging = self._staging()
        try:
            descriptor = os.open(staging / _LOCK, os.O_RDWR | os.O_CREAT, 0o666)
        except OSError as error:
            raise self._not_writable(error) from error
        try:
            yield descriptor
        finally:
            os.close(descriptor)

    def _staging(self) -> Path:
        staging = self.folder / _STAGING
        try:
            staging.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise self._not_writable(error) from error
        return staging

    def _not_writable(self, error: OSError) -> LibraryError:
        return LibraryError(
            f"cannot write to the library's folder {self.folder}: {error.strerror}; ask its owner "
            "for the right, or copy the library to another place."
        )


def _try_lock(descriptor: int, operation: int) -> bool:
    try:
        fcntl.flock(descriptor, operation)
    except OSError:  # someone else has it, or this file system knows no locks
        return False
    return True


def remove_path(path: Path) -> None:
    """Delete a file or a folder with all that is in it; one that is gone already is no error."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
