"""Described moments of films, and a few boxes that were marked by hand to judge what is drawn.

``films.csv`` beside this file marks things in three of Intel's sample videos (CC BY 4.0): one box a
row, several rows of one thing and time where more than one box is right: a hand alone or with its
arm, either of two bottles that are lifted at once. ``of`` says which of several things of a name is
meant: the car of sentences with the word ``away``.
"""

import csv
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from wordsight.errors import WordsightError

__all__ = ["Mark", "Moment", "films_of", "load_marks", "load_moments", "words_of"]


@dataclass(frozen=True)
class Moment:
    """A part of a film, and a sentence that is true of it."""

    file_name: str
    start: float
    end: float
    text: str

    def overlaps(self, other: "Moment") -> bool:
        """Whether two moments share at least half of the shorter one."""
        shared = min(self.end, other.end) - max(self.start, other.start)
        shorter = min(self.end - self.start, other.end - other.start)
        return self.file_name == other.file_name and shared >= shorter / 2


@dataclass(frozen=True)
class Mark:
    """A thing at a time: ``(B, 4)`` boxes of which each is right."""

    file_name: str
    time: float
    thing: str
    of: str
    boxes: NDArray[np.float64]

    def is_for(self, moment: Moment) -> bool:
        """Whether it lies within a moment, and marks what its sentence speaks of."""
        inside = self.file_name == moment.file_name and moment.start <= self.time <= moment.end
        return inside and (not self.of or self.of in words_of(moment.text))


def words_of(text: str) -> list[str]:
    """Return the words of a sentence in lower case."""
    return re.findall(r"[\w-]+", text.lower())


def load_moments(path: Path) -> list[Moment]:
    """Read ``file_name``, ``start``, ``end`` and ``text`` of every line.

    Raises:
        WordsightError: If the file is missing, or a line has not all of them.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise WordsightError(f"cannot read {path}: {error}") from error
    found = []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
            one = Moment(
                str(row["file_name"]), float(row["start"]), float(row["end"]), str(row["text"])
            )
        except (ValueError, KeyError, TypeError) as error:
            raise WordsightError(
                f"{path}:{number}: expected a JSON object with file_name, start, end and text, "
                f"got {line[:80]!r}."
            ) from error
        if not one.start < one.end:
            raise WordsightError(f"{path}:{number}: the moment ends before it begins.")
        found.append(one)
    if not found:
        raise WordsightError(f"{path} has no moments.")
    return found


def films_of(data: Path, moments: Sequence[Moment]) -> list[Path]:
    """Return the films of some moments, each once.

    Raises:
        WordsightError: If one is missing.
    """
    films = [data / name for name in dict.fromkeys(one.file_name for one in moments)]
    missing = [str(film) for film in films if not film.is_file()]
    if missing:
        raise WordsightError(f"these films are missing: {', '.join(missing)}.")
    return films


def load_marks() -> list[Mark]:
    """Read the boxes that were marked by hand."""
    path = Path(__file__).with_suffix(".csv")
    grouped: dict[tuple[str, float, str, str], list[list[float]]] = {}
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            key = (row["film"], float(row["time"]), row["thing"], row["of"])
            grouped.setdefault(key, []).append(
                [float(row[side]) for side in ("x1", "y1", "x2", "y2")]
            )
    return [Mark(*key, np.array(boxes)) for key, boxes in grouped.items()]
