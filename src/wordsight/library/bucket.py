"""A place for files that is no local folder: a bucket, or whatever else fsspec can reach.

Everything is named relative to the place. What the packages behind it raise comes out as a
:class:`LibraryError` that says what to do.
"""

import hashlib
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

from wordsight.errors import LibraryError

__all__ = ["Bucket", "is_url", "shown_url"]

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
        """Put a local file here; whoever finds it under its name finds all of it.

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
