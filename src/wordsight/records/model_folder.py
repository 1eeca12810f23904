"""Learned models on disk: a folder of ``model.json``, ``arrays.npz`` and texts; no pickle.

The folder is written beside its place and renamed when complete, so that a crash leaves the old one
or the new one.
"""

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from wordsight.errors import FormatError
from wordsight.files import atomic_folder, sha256_of, write_text
from wordsight.records.arrays import load_npz, save_npz

__all__ = ["ModelFolder"]

_MODEL, _ARRAYS, _HASH = "model.json", "arrays.npz", "arrays_sha256"
_TRIES = 5  # at a folder that is replaced again and again


@dataclass(frozen=True)
class ModelFolder:
    """How one kind of model is kept.

    Attributes:
        kind: Its name in the files.
        version: The newest layout that can be read.
        what: What people call it: ``a learned lexicon``.
        remedy: What to do where one is damaged: ``restore it or learn again``.
    """

    kind: str
    version: int
    what: str
    remedy: str

    def write(
        self,
        path: str | os.PathLike[str],
        model: Mapping[str, Any],
        *,
        arrays: Mapping[str, NDArray[Any]] | None = None,
        texts: Mapping[str, str],
        overwrite: bool = False,
    ) -> None:
        """Write a model, whole or not at all.

        Args:
            path: The folder to make.
            model: What goes into ``model.json``.
            arrays: What goes into ``arrays.npz``; no such file if left out.
            texts: Further files by name: ``card.md``.
            overwrite: Whether a model of this kind that is there may be replaced; anything else
                never is.

        Raises:
            FileExistsError: If something is there that may not be replaced.
        """
        target = Path(path)
        if target.exists() and not (overwrite and self._is_there(target)):
            raise FileExistsError(
                f"{target} exists already; choose another name, remove it, or allow overwriting."
            )
        values = {"kind": self.kind, "version": self.version, **model}
        with atomic_folder(target) as folder:
            if arrays is not None:
                save_npz(folder / _ARRAYS, self.kind, self.version, arrays, {})
                values[_HASH] = sha256_of(folder / _ARRAYS)
            text = json.dumps(values, indent=1, ensure_ascii=False, allow_nan=False)
            write_text(folder / _MODEL, text + "\n")
            for name, content in texts.items():
                write_text(folder / name, content)

    def read(self, path: str | os.PathLike[str]) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Read what :meth:`write` wrote: the model's values, and its arrays if it has any.

        A model that is replaced while it is being read is read again.

        Raises:
            FormatError: If the folder is missing, damaged, of another kind or from a newer version.
        """
        folder = Path(path)
        for _ in range(_TRIES):
            before = _identity(folder)
            try:
                return self._read(folder)
            except FormatError:
                if _identity(folder) == before:
                    raise
        return self._read(folder)

    def _read(self, folder: Path) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        values = self._values(folder)
        if _HASH not in values:
            return values, {}
        arrays, _ = load_npz(folder / _ARRAYS, self.kind, self.version)
        if sha256_of(folder / _ARRAYS) != values[_HASH]:
            raise FormatError(
                f"{folder}: {_ARRAYS} and {_MODEL} do not belong together; {self.remedy}."
            )
        return values, arrays

    @contextmanager
    def restoring(self, path: str | os.PathLike[str]) -> Iterator[None]:
        """Put whatever goes wrong while values become a model again into words."""
        try:
            yield
        except FormatError:
            raise
        except (KeyError, TypeError, ValueError, IndexError, AttributeError, OSError) as error:
            raise FormatError(f"{path} is damaged ({error}); {self.remedy}.") from error

    def _values(self, folder: Path) -> dict[str, Any]:
        path = folder / _MODEL
        try:
            values = json.loads(path.read_text(encoding="utf-8"))
        except (FileNotFoundError, NotADirectoryError):
            raise FormatError(
                f"{folder} is not {self.what}: it holds no {_MODEL}. Expected a folder that "
                "Wordsight wrote."
            ) from None
        except (OSError, ValueError, RecursionError) as error:
            raise FormatError(f"{path} cannot be read ({error}); {self.remedy}.") from error
        if not isinstance(values, dict) or values.get("kind") != self.kind:
            raise FormatError(f"{path} does not describe {self.what}.")
        version = values.get("version")
        if not isinstance(version, int) or version > self.version:
            raise FormatError(
                f"{folder} was written by a newer Wordsight (version {version}, this one reads up "
                f"to {self.version}); update Wordsight to read it."
            )
        return values

    def _is_there(self, target: Path) -> bool:
        try:
            self._values(target)
        except FormatError:
            return False
        return True


def _identity(folder: Path) -> int | None:
    """Return what differs between a folder and another that took its place."""
    try:
        return folder.stat().st_ino
    except OSError:
        return None
