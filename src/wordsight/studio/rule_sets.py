"""Sets of rules: those learned from labelled films, and those that were in use before others.

A set is a folder with the rules as the texts people edit, and how they came about; a learned one
also holds the model's own folder, which the command line reads. Using a set puts what was in use
among the sets first, so that nothing anybody wrote is lost.
"""

import json
import secrets
import shutil
import tempfile
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from wordsight.errors import WordsightError
from wordsight.files import write_text
from wordsight.states import StateModel
from wordsight.studio.jobs.learn_rules import LESSONS
from wordsight.studio.states import RuleBook, book_of, read_rules, write_rules

__all__ = [
    "MODEL",
    "RuleSet",
    "keep_set",
    "list_sets",
    "model_folder",
    "read_set",
    "remove_set",
    "use_set",
]

MODEL = "states-model"
"""Name of the folder of a learned model in the folder of its set."""

_FOLDER = Path("states") / "sets"
_FILE = "set.json"


@dataclass(frozen=True)
class RuleSet:
    """Rules that can be used, and where they are from.

    Attributes:
        name: Twelve hexadecimal digits.
        title: What they are, for people.
        time: When they were kept, in seconds since 1970.
        book: The rules.
        learned: How they were learned: films, share of their sequences that come out right, …;
            empty where somebody wrote them.
    """

    name: str
    title: str
    time: float
    book: RuleBook
    learned: dict[str, Any] = field(default_factory=dict)


def keep_set(
    folder: Path,
    title: str,
    book: RuleBook,
    *,
    name: str | None = None,
    learned: Mapping[str, Any] | None = None,
    model: StateModel | None = None,
    kinds: Mapping[str, str] | None = None,
) -> RuleSet:
    """Keep rules as a set.

    Args:
        folder: The studio's folder.
        title: What they are.
        book: The rules.
        name: What to call the set; made up if left out. One of that name is replaced.
        learned: How they were learned.
        model: The learned model, for those who take it away.
        kinds: The kind of each label it was learned with.
    """
    kept = RuleSet(name or secrets.token_hex(6), title, time.time(), book, dict(learned or {}))
    place = folder / _FOLDER
    place.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=place, prefix=".") as beside:
        made = Path(beside) / "set"
        made.mkdir()
        write_text(made / _FILE, json.dumps(asdict(kept), indent=2))
        if model is not None:
            model.save(made / MODEL)
            write_text(made / MODEL / "kinds.json", json.dumps(dict(kinds or {}), indent=2) + "\n")
        shutil.rmtree(place / kept.name, ignore_errors=True)
        made.rename(place / kept.name)  # there is all of it, or nothing
    return kept


def list_sets(folder: Path) -> list[RuleSet]:
    """Return all sets, the newest first."""
    found = [_read(path) for path in (folder / _FOLDER).glob(f"[0-9a-f]*/{_FILE}")]
    return sorted(found, key=lambda one: -one.time)


def read_set(folder: Path, name: str) -> RuleSet:
    """Return one set.

    Raises:
        WordsightError: If there is none of that name.
    """
    return _read(_place(folder, name) / _FILE)


def model_folder(folder: Path, name: str) -> Path:
    """Return the folder of a learned model, as the command line reads it.

    Raises:
        WordsightError: If the rules of that set were not learned.
    """
    place = _place(folder, name) / MODEL
    if not place.is_dir():
        raise WordsightError("these rules were written, not learned; there is no model of them.")
    return place


def use_set(folder: Path, name: str) -> RuleSet:
    """Infer with the rules of a set from now on; those in use until now become a set too."""
    wanted, now = read_set(folder, name), read_rules(folder)
    if now not in [one.book for one in list_sets(folder)]:
        keep_set(folder, f"In use before {wanted.title}", now)
    write_rules(folder, wanted.book)
    return wanted


def remove_set(folder: Path, name: str) -> None:
    """Forget a set, with the labels it was learned from; the rules in use stay as they are."""
    lesson = read_set(folder, name).learned.get("lesson")
    shutil.rmtree(_place(folder, name))
    if lesson:
        shutil.rmtree(folder / LESSONS / Path(lesson).name, ignore_errors=True)


def _place(folder: Path, name: str) -> Path:
    place = folder / _FOLDER / Path(name).name
    if not (place / _FILE).is_file():
        raise WordsightError(f"there is no set of rules {name}.")
    return place


def _read(path: Path) -> RuleSet:
    kept = json.loads(path.read_text(encoding="utf-8"))
    return RuleSet(**{**kept, "book": book_of(kept["book"])})
