"""The files of a library in a bucket: written here, sent there, and read from a local copy.

Names of artefacts tell their content, so a copy is never out of date; the oldest copies go when
they take more room than they should. What needs memory mapping, or a real path, gets the copy.
"""

import hashlib
import os
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from wordsight.errors import LibraryError
from wordsight.files import TEMPORARY_MARK
from wordsight.library.files.bucket import Bucket, shown_url
from wordsight.library.files.store import (
    PLACES,
    ArtefactStore,
    StagedArtefact,
    digest_of,
    folder_digest,
    is_our_path,
    remove_path,
)

__all__ = ["CACHE_SETTING", "RemoteStore", "cache_folder", "store_at"]

CACHE_SETTING = "WORDSIGHT_CACHE_GB"
"""Name of the environment variable that says how many gigabytes of copies may be kept."""

_CACHE_GB = 20.0
_CACHE, _STAGING = "cache", "staging"
_TRIM_SECONDS = 60.0  # how often the room that copies take is counted, at most
_STALE_SECONDS = 86_400.0  # what has waited so long in the bucket's staging is abandoned


def store_at(folder: Path, url: str | None) -> ArtefactStore:
    """Return the store of a library's files: a folder, or a bucket with a folder for copies."""
    return ArtefactStore(folder) if url is None else RemoteStore(folder, url)


def cache_folder(key: str) -> Path:
    """Return where this user keeps copies of a library that has no folder of its own."""
    home = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    name = hashlib.sha256(key.encode()).hexdigest()[:16]
    return Path(home).expanduser() / "wordsight" / name


class RemoteStore(ArtefactStore):
    """Files in a bucket, with copies in a local folder.

    Args:
        folder: Where to write before sending, and where copies are kept.
        url: The bucket's address.
    """

    def __init__(self, folder: Path, url: str) -> None:
        super().__init__(folder)
        self.bucket = Bucket(url)
        self.url: str | None = url
        self._trimmed = 0.0

    def _sent(self, artefact: StagedArtefact) -> StagedArtefact:
        """Send a staged artefact to the bucket's own staging."""
        local = Path(artefact.staged)
        waiting = f"{_STAGING}/{local.name}"
        try:
            for name, file in _files_of(local, waiting):
                self.bucket.send(file, name)
            self._keep_copy(local, artefact.path)
        except BaseException:
            remove_path(local)
            self.bucket.remove(waiting)
            raise
        return replace(artefact, staged=waiting)

    def place(self, artefact: StagedArtefact) -> None:
        """Put a staged artefact in its place in the bucket."""
        self._check(artefact.path)
        there = set(self.bucket.names(artefact.path))
        for waiting in self.bucket.names(artefact.staged):
            name = artefact.path + waiting.removeprefix(artefact.staged)
            if name not in there:  # the same content was placed before, or partly
                self.bucket.move(waiting, name)

    def discard(self, artefact: StagedArtefact) -> None:
        """Throw away what is left of a staged artefact."""
        self.bucket.remove(artefact.staged)

    def path_of(self, relative: str) -> Path:
        """Return a local copy of an artefact, fetching it if need be.

        Raises:
            LibraryError: If it is missing, damaged or out of reach.
        """
        copy = self.local_path(relative)
        if copy.exists():
            os.utime(copy)  # so that the copies used last are kept
        else:
            self._fetch(relative, copy)
        return copy

    def local_path(self, relative: str) -> Path:
        """Return where the copy of an artefact is, or would be."""
        self._check(relative)
        return self.folder / _CACHE / relative

    def remove(self, relative: str) -> None:
        """Delete an artefact, there and here."""
        self._check(relative)
        self.bucket.remove(relative)
        remove_path(self.local_path(relative))

    def ours(self) -> Iterator[str]:
        """Yield the path of everything in the bucket that has the name of an artefact."""
        seen = set()
        for name in self.bucket.names():
            found = is_our_path(name)
            if found is not None and found not in seen:
                seen.add(found)
                yield found

    def digest(self, relative: str, *, hashes: bool = True) -> tuple[str | None, int] | None:
        """Return hash and size of what is in the bucket; ``None`` if nothing is."""
        names = self.bucket.names(relative)
        if not names:
            return None
        if names == [relative]:
            sha256 = self.bucket.sha256(relative) if hashes else None
            return sha256, self.bucket.size(relative)
        size = sum(self.bucket.size(name) for name in names)
        names.sort(key=lambda name: name.split("/"))  # as paths are sorted
        parts = [(self.bucket.sha256(n), n.removeprefix(f"{relative}/")) for n in names]
        return folder_digest(parts), size

    def shown(self, relative: str) -> str:
        """Return where an artefact is, for people."""
        return f"{shown_url(self.bucket.url)}/{relative}"

    def sweep(self) -> tuple[str, ...]:
        """Delete what has waited in the bucket so long that it is abandoned."""
        old = [
            name
            for name in self.bucket.names(_STAGING)
            if (self.bucket.age(name) or 0.0) > _STALE_SECONDS
        ]
        for name in old:
            self.bucket.remove(name)
        return tuple(old)

    def _check(self, relative: str) -> None:
        super().path_of(relative)

    def _keep_copy(self, local: Path, relative: str) -> None:
        copy = self.local_path(relative)
        if copy.exists():
            remove_path(local)
            return
        copy.parent.mkdir(parents=True, exist_ok=True)
        local.replace(copy)
        self._trim()

    def _fetch(self, relative: str, copy: Path) -> None:
        names = self.bucket.names(relative)
        if not names:
            raise LibraryError(
                f"{self.shown(relative)} is missing; run verify to see what else is, and make it "
                "again."
            )
        copy.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(
            prefix=f"fetch{TEMPORARY_MARK}{os.getpid()}-", dir=self._staging()
        ) as home:
            fetched = Path(home) / copy.name
            for name in names:
                target = Path(f"{fetched}{name.removeprefix(relative)}")
                target.parent.mkdir(parents=True, exist_ok=True)
                self.bucket.fetch(name, target)
            if digest_of(fetched)[0][:12] != Path(copy.stem).name[-12:]:
                raise LibraryError(
                    f"{self.shown(relative)} is not what it was when it was entered; run verify."
                )
            if not copy.exists():  # another process may have been faster
                fetched.replace(copy)
        self._trim()

    def _trim(self) -> None:
        """Let the copies that were not used for longest go, if all take too much room."""
        if time.monotonic() - self._trimmed < _TRIM_SECONDS:
            return
        self._trimmed = time.monotonic()
        most = _cache_bytes()
        copies = [
            (
                copy.stat().st_mtime,
                sum(file.stat().st_size for _, file in _files_of(copy, "")),
                copy,
            )
            for pattern in PLACES
            for copy in (self.folder / _CACHE).glob(pattern)
        ]
        total = sum(size for _, size, _ in copies)
        for _, size, copy in sorted(copies)[:-1]:  # never the one that was just asked for
            if total <= most:
                break
            remove_path(copy)  # a process that has it open keeps it
            total -= size


def _cache_bytes() -> float:
    value = os.environ.get(CACHE_SETTING, str(_CACHE_GB))
    try:
        return float(value) * 1e9
    except ValueError:
        raise LibraryError(
            f"{CACHE_SETTING} must be a number of gigabytes, got {value!r}."
        ) from None


def _files_of(path: Path, name: str) -> Iterator[tuple[str, Path]]:
    """Yield the files of an artefact, each with its name in the bucket."""
    if not path.is_dir():
        yield name, path
        return
    for file in sorted(p for p in path.rglob("*") if p.is_file()):
        yield f"{name}/{file.relative_to(path).as_posix()}", file
