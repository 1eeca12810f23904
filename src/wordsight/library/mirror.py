"""A folder that several machines share through a bucket, such as a search index.

Most of its files are written once under names of their own and never change; a few *heads* say
which of them count. So files are sent before the heads that name them, and fetched likewise: what
a head names is there. Whoever writes last is right; what others added meanwhile is made again.
"""

import hashlib
import tempfile
from collections.abc import Sequence
from pathlib import Path

from wordsight.files import TEMPORARY_MARK, write_text
from wordsight.library.bucket import Bucket

__all__ = ["Mirror"]

_SEEN = "mirrored.txt"  # the heads as the bucket had them when we last looked


class Mirror:
    """A local folder and its likeness in a bucket.

    Args:
        bucket: The bucket.
        name: The folder's name there.
        folder: The local folder.
        heads: Names of the files that change.
        leave: Names of local files that are nobody else's business.
    """

    def __init__(
        self,
        bucket: Bucket,
        name: str,
        folder: Path,
        heads: Sequence[str],
        leave: Sequence[str] = (),
    ) -> None:
        self._bucket, self._name, self._folder = bucket, name, folder
        self._heads, self._leave = tuple(heads), {*leave, _SEEN}

    def pull(self) -> bool:
        """Fetch what others have sent since; return whether there was anything."""
        heads = {head: self._bucket.read(f"{self._name}/{head}") for head in self._heads}
        mark = _mark(heads)
        if mark == self._seen() or not any(heads.values()):
            return False
        self._folder.mkdir(parents=True, exist_ok=True)
        for name in self._there():
            if name not in self._heads and not (self._folder / name).exists():
                self._fetch(name)
        for head, content in heads.items():
            if content is not None:
                write_text(self._folder / head, content.decode("utf-8"))
        write_text(self._folder / _SEEN, mark)
        return True

    def push(self) -> None:
        """Send what is new here, then the heads, and delete what they no longer name."""
        here, there = self._here(), set(self._there())
        for name in here:
            if name not in self._heads and name not in there:
                self._bucket.send(self._folder / name, f"{self._name}/{name}")
        for head in self._heads:
            if head in here:
                self._bucket.send(self._folder / head, f"{self._name}/{head}")
        for name in there - set(here):
            self._bucket.remove(f"{self._name}/{name}")
        contents = {
            head: (self._folder / head).read_bytes() if head in here else None
            for head in self._heads
        }
        write_text(self._folder / _SEEN, _mark(contents))

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

    def _seen(self) -> str | None:
        try:
            return (self._folder / _SEEN).read_text(encoding="utf-8")
        except OSError:
            return None


def _files_below(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def _mark(heads: dict[str, bytes | None]) -> str:
    digest = hashlib.sha256()
    for name in sorted(heads):
        digest.update(f"{name} {hashlib.sha256(heads[name] or b'').hexdigest()}\n".encode())
    return digest.hexdigest() + "\n"
