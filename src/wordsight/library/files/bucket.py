"""Storage in a bucket, or at any other address that fsspec can reach.

Everything is named relative to the place. What the packages behind it raise comes out as a
:class:`LibraryError` that says what to do.
"""

import hashlib
import json
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

from wordsight.errors import LibraryError
from wordsight.files import TEMPORARY_MARK, write_text

__all__ = ["Bucket", "ChangedMeanwhileError", "Mirror", "is_url", "shown_url"]


_CHUNK_BYTES = 1 << 20


def is_url(place: str) -> bool:
    """Say whether a place is an address such as ``s3://bucket/folder`` and no local folder."""
    return "://" in place and not place.startswith(("file://", "local://"))


def shown_url(url: str) -> str:
    """Return an address without the user and password it may hold."""
    scheme, _, rest = url.partition("://")
    host, slash, path = rest.partition("/")
    return f"{scheme}://{host.rpartition('@')[2]}{slash}{path}"


class Bucket:
    """Files at an address.

    Args:
        url: The address, such as ``s3://bucket/folder`` or ``memory://folder``.

    Raises:
        LibraryError: If there is no such protocol, its package is missing, or it does not answer.
    """

    def __init__(self, url: str) -> None:
        self.url = url.rstrip("/")
        try:
            from fsspec.core import url_to_fs

            self._files, self._root = url_to_fs(self.url)
        except ImportError as error:
            scheme = url.partition("://")[0]
            raise LibraryError(
                f"files at {scheme}:// need a package that is not installed: {error}."
            ) from error
        except Exception as error:  # each protocol has errors of its own
            raise LibraryError(
                f"{shown_url(url)} is no place for files: {error}; expected a folder or an "
                "address such as s3://bucket/folder."
            ) from error
        self._root = self._root.rstrip("/")

    def send(self, local: Path, name: str) -> None:
        """Put a local file here; under its name there is all of it, or nothing.

        Raises:
            LibraryError: If it cannot be written.
        """
        with self._errors_told(name):
            self._make_home(name)
            self._files.put_file(str(local), self._at(name))
            self._forget()
            if self._files.size(self._at(name)) != local.stat().st_size:
                raise OSError("it arrived incomplete")

    def fetch(self, name: str, local: Path) -> None:
        """Copy a file from here to a local path."""
        with self._errors_told(name):
            self._files.get_file(self._at(name), str(local))

    def read(self, name: str) -> bytes | None:
        """Return the content of a small file, ``None`` if there is none."""
        with self._errors_told(name):
            self._forget()
            try:
                content: bytes = self._files.cat_file(self._at(name))
            except FileNotFoundError:
                return None
            return content

    def move(self, old: str, new: str) -> None:
        """Give a file another name."""
        with self._errors_told(new):
            self._make_home(new)
            self._files.mv(self._at(old), self._at(new))
            self._forget()

    def remove(self, name: str) -> None:
        """Delete a file, or all files below a name; none is no error."""
        with self._errors_told(name):
            self._forget()
            if self._files.exists(self._at(name)):
                self._files.rm(self._at(name), recursive=True)
            self._forget()

    def names(self, below: str = "") -> list[str]:
        """Return the names of all files below a name, sorted; of the file itself if it is one."""
        with self._errors_told(below):
            self._forget()
            try:
                found = self._files.find(self._at(below) if below else self._root)
            except FileNotFoundError:
                return []
        start = len(self._root) + 1
        return sorted(name[start:] for name in found)

    def size(self, name: str) -> int:
        """Return the size of a file in bytes."""
        with self._errors_told(name):
            return int(self._files.size(self._at(name)) or 0)

    def sha256(self, name: str) -> str:
        """Return the SHA-256 of a file, reading it in pieces."""
        digest = hashlib.sha256()
        with self._errors_told(name), self._files.open(self._at(name), "rb") as file:
            while chunk := file.read(_CHUNK_BYTES):
                digest.update(chunk)
        return digest.hexdigest()

    def age(self, name: str) -> float | None:
        """Return how many seconds ago a file was written, ``None`` if that is not known."""
        try:
            when: datetime = self._files.modified(self._at(name))
        except (NotImplementedError, OSError, KeyError):
            return None
        return time.time() - when.timestamp()

    def _at(self, name: str) -> str:
        return f"{self._root}/{name}"

    def _make_home(self, name: str) -> None:
        self._files.makedirs(self._at(name).rpartition("/")[0], exist_ok=True)

    def _forget(self) -> None:
        # Listings are kept by some file systems, but others write here too.
        self._files.invalidate_cache()

    @contextmanager
    def _errors_told(self, name: str) -> Iterator[None]:
        try:
            yield
        except LibraryError:
            raise
        except Exception as error:  # each protocol has errors of its own
            said = str(error) or type(error).__name__
            raise LibraryError(
                f"{shown_url(self.url)}/{name}: {said}. Check that the place can be reached and "
                "that you have the right to write there; nothing is lost."
            ) from error

    def __repr__(self) -> str:
        return f"Bucket({shown_url(self.url)!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return Bucket, (self.url,)


# A folder that several machines share through a bucket, such as a search index.
#
# Most of its files are written once under names of their own and never change; a few *heads* say
# which of them count. So files are sent before the heads that name them, and fetched likewise: what
# a head names is there. Nothing is put over what others sent since we looked: who comes second is
# notified, fetches, does the work again on top of theirs, and sends that.

_SEEN = "mirrored.txt"  # the heads as the bucket had them when we last looked
_TRIES = 5  # to fetch what others replace at the same time


class ChangedMeanwhileError(LibraryError):
    """Another process changed the folder in the bucket since it was looked at."""


class Mirror:
    """A local folder and its likeness in a bucket.

    Args:
        bucket: The bucket.
        name: The folder's name there.
        folder: The local folder.
        heads: Names of the files that change.
        leave: Names of local files that are not shared.
        chosen: Those of the heads that people decide on, and nothing else can make again: one that
            was changed here since we looked stays, also if it was changed there.
    """

    def __init__(
        self,
        bucket: Bucket,
        name: str,
        folder: Path,
        heads: Sequence[str],
        leave: Sequence[str] = (),
        chosen: Sequence[str] = (),
    ) -> None:
        self._bucket, self._name, self._folder = bucket, name, folder
        self._heads, self._leave = tuple(heads), {*leave, _SEEN}
        self._chosen = set(chosen)
        self._known: set[str] = set()

    def pull(self) -> bool:
        """Fetch what others have sent since; return whether there was anything.

        Raises:
            LibraryError: If the bucket does not answer, or changes all the time.
        """
        for attempt in range(_TRIES):
            heads = self._heads_there()
            try:
                return self._pull(heads)
            except LibraryError:
                # A file that has gone since was perhaps replaced by others, heads and all.
                if attempt == _TRIES - 1 or self._heads_there() == heads:
                    raise
        raise AssertionError("the last attempt returns or raises")

    def push(self) -> None:
        """Send what is new here, then the heads, and delete what they no longer name.

        Raises:
            ChangedMeanwhileError: If others have sent something since :meth:`pull`, or do so at
                the same moment; nothing of theirs is deleted.
        """
        here, there = self._here(), set(self._there())
        for name in here:
            if name not in self._heads and name not in there:
                self._bucket.send(self._folder / name, f"{self._name}/{name}")
        if _marks(self._heads_there()) != (self._seen() or {}):
            raise self._changed()
        for head in self._heads:
            if head in here:
                self._bucket.send(self._folder / head, f"{self._name}/{head}")
            elif head in there:
                self._bucket.remove(f"{self._name}/{head}")
        sent = _marks({head: self._local(head) for head in self._heads})
        # A bucket cannot be locked. Of two that send at once, at least the later one sees it here.
        if _marks(self._heads_there()) != sent:
            raise self._changed()
        for name in self._known - set(here) - set(self._heads):
            self._bucket.remove(f"{self._name}/{name}")
        self._note(sent)

    def _pull(self, heads: dict[str, bytes | None]) -> bool:
        marks, seen = _marks(heads), self._seen()
        self._known = set(self._there())
        if marks == (seen or {}):
            return False
        if not marks:  # the bucket was emptied; what is here goes there again
            self._note(marks)
            return False
        self._folder.mkdir(parents=True, exist_ok=True)
        for name in self._known:
            if name not in self._heads and not (self._folder / name).exists():
                self._fetch(name)
        for head, content in heads.items():
            if content is not None and not self._is_ours(head, seen):
                write_text(self._folder / head, content.decode("utf-8"))
        self._note(marks)
        return True

    def _is_ours(self, head: str, seen: dict[str, str] | None) -> bool:
        """Tell whether a head was decided on here since we last looked."""
        mine = _marks({head: self._local(head)}).get(head)
        return head in self._chosen and mine != (seen or {}).get(head)

    def _changed(self) -> ChangedMeanwhileError:
        return ChangedMeanwhileError(
            f"{self._name} at {shown_url(self._bucket.url)} was changed by another process at the "
            "same time; run the same command again to continue from theirs."
        )

    def _heads_there(self) -> dict[str, bytes | None]:
        return {head: self._bucket.read(f"{self._name}/{head}") for head in self._heads}

    def _local(self, head: str) -> bytes | None:
        path = self._folder / head
        return path.read_bytes() if path.is_file() else None

    def _fetch(self, name: str) -> None:
        target = self._folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=f"fetch{TEMPORARY_MARK}", dir=self._folder) as home:
            fetched = Path(home) / target.name
            self._bucket.fetch(f"{self._name}/{name}", fetched)
            fetched.replace(target)

    def _here(self) -> list[str]:
        names = (p.relative_to(self._folder).as_posix() for p in _files_below(self._folder))
        return [n for n in names if n not in self._leave and TEMPORARY_MARK not in n]

    def _there(self) -> list[str]:
        start = len(self._name) + 1
        return [name[start:] for name in self._bucket.names(self._name)]

    def _seen(self) -> dict[str, str] | None:
        try:
            marks = json.loads((self._folder / _SEEN).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None  # never looked, or by an older release: as if never
        return marks if isinstance(marks, dict) else None

    def _note(self, marks: dict[str, str]) -> None:
        self._folder.mkdir(parents=True, exist_ok=True)
        write_text(self._folder / _SEEN, json.dumps(marks) + "\n")


def _files_below(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def _marks(heads: dict[str, bytes | None]) -> dict[str, str]:
    """Return what tells one content from another, of the heads that are there."""
    return {
        head: hashlib.sha256(content).hexdigest()
        for head, content in heads.items()
        if content is not None
    }
