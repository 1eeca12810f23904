"""The course of a learning: its objective, written down as it grows for the page to draw."""

import json
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from wordsight.errors import WordsightError
from wordsight.files import write_text
from wordsight.meaning.training.checkpoint import read_training_history
from wordsight.progress import Progress

__all__ = ["LearningCurve", "read_curve", "watched", "write_curve"]

_FILE = "lexicon-history.json"
_EVERY = 0.3  # seconds between two looks; nobody sees more


@dataclass(frozen=True)
class LearningCurve:
    """The objective so far.

    Attributes:
        restarts: Per restart the objective after every iteration.
        sharpened: The objective after every epoch of training against false sentences.
    """

    restarts: Sequence[Sequence[float]] = ()
    sharpened: Sequence[float] = ()


def write_curve(folder: Path, course: LearningCurve) -> None:
    """Keep a course in the studio's folder."""
    told = {
        "restarts": [[float(value) for value in run] for run in course.restarts],
        "sharpened": [float(value) for value in course.sharpened],
    }
    write_text(folder / _FILE, json.dumps(told))


def read_curve(folder: Path) -> LearningCurve:
    """Return the course that was kept last; an empty one if there is none."""
    try:
        kept = json.loads((folder / _FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return LearningCurve()
    if isinstance(kept, list):  # as versions before this one wrote it
        return LearningCurve(kept)
    return LearningCurve(kept["restarts"], kept["sharpened"])


def watched(progress: Progress, checkpoint: Path, folder: Path) -> Progress:
    """Pass progress on, and keep what the checkpoint beside it holds of the objective."""
    last = time.monotonic()

    def look() -> None:
        with suppress(WordsightError):  # who only watches must not stop the work
            write_curve(folder, LearningCurve(*read_training_history(checkpoint)))

    def told(done: float, total: float | None, what: str) -> None:
        nonlocal last
        if time.monotonic() - last >= _EVERY:
            last = time.monotonic()
            look()
        progress(done, total, what)

    look()  # the course of an earlier learning is over

    return told
