"""Earlier versions of the studio's lexicon: whatever replaces it keeps it first, and it can return.

A version is a copy of the lexicon's folder under a number that only rises, with a note of why it
was kept. Going back keeps what was there too, so that nothing anybody did is ever lost.
"""

import json
import shutil
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from wordsight.errors import WordsightError
from wordsight.files import write_text
from wordsight.meaning import LearnedLexicon
from wordsight.studio.jobs.learn import LEXICON
from wordsight.workflows.annotator import load_annotator, save_lexicon

__all__ = ["Version", "keep_version", "list_versions", "load_version", "restore_version"]

_FOLDER = "lexicon-versions"
_NOTE = "version.json"
_MOST = 100  # of the latest versions are kept


@dataclass(frozen=True)
class Version:
    """A lexicon as it was.

    Attributes:
        number: Of the version; later ones have higher numbers.
        time: When it was kept, in seconds since 1970.
        note: Why it was kept.
    """

    number: int
    time: float
    note: str


def keep_version(folder: Path, note: str) -> Version | None:
    """Keep the lexicon as it is now.

    Args:
        folder: The studio's folder.
        note: What is about to happen to it.

    Returns:
        The version, or ``None`` where there is no lexicon yet.
    """
    if not (folder / LEXICON / "model.json").is_file():
        return None
    place = folder / _FOLDER
    place.mkdir(parents=True, exist_ok=True)
    number = max((one.number for one in list_versions(folder)), default=0) + 1
    version = Version(number, time.time(), note)
    with tempfile.TemporaryDirectory(dir=place, prefix=".") as beside:
        copy = Path(beside) / "copy"
        shutil.copytree(folder / LEXICON, copy / LEXICON)
        write_text(copy / _NOTE, json.dumps(vars(version)))
        copy.rename(place / f"{number:06d}")  # there is all of it, or nothing
    for old in list_versions(folder)[_MOST:]:
        shutil.rmtree(place / f"{old.number:06d}", ignore_errors=True)
    return version


def list_versions(folder: Path) -> list[Version]:
    """Return the versions that are kept, the latest first."""
    found = []
    for path in sorted((folder / _FOLDER).glob(f"[0-9]*/{_NOTE}"), reverse=True):
        found.append(Version(**json.loads(path.read_text(encoding="utf-8"))))
    return found


def load_version(folder: Path, number: int) -> LearnedLexicon:
    """Read an earlier lexicon.

    Raises:
        WordsightError: If there is none of that number.
    """
    place = _place(folder, number)
    if not place.is_dir():
        raise WordsightError(f"there is no version {number} of the lexicon.")
    return LearnedLexicon.load(place)


def _place(folder: Path, number: int) -> Path:
    return folder / _FOLDER / f"{number:06d}" / LEXICON


def restore_version(folder: Path, number: int) -> LearnedLexicon:
    """Go back to an earlier lexicon; the one that is there becomes a version too.

    Raises:
        WordsightError: If there is none of that number.
    """
    earlier = load_version(folder, number)
    keep_version(folder, f"before going back to version {number}")
    namer = load_annotator(_place(folder, number))
    save_lexicon(earlier, folder / LEXICON, namer, overwrite=True)
    return earlier
