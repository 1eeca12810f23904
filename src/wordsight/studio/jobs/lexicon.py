"""Learning words from the library, comparing a changed word, finding examples of one."""

import json
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wordsight.errors import WordsightError
from wordsight.files import write_text
from wordsight.meaning.training.checkpoint import read_training_history
from wordsight.progress import Progress
from wordsight.studio.jobs.attributes import TAUGHT
from wordsight.studio.jobs.task import JobContext
from wordsight.workflows.learn import LearnRequest, LearnSettings, learn
from wordsight.workflows.lexicon import LEXICON, lexicon_folder
from wordsight.workflows.settings import make_request
from wordsight.workflows.workflow import open_library

if TYPE_CHECKING:
    from wordsight.library import Library

__all__ = [
    "STREET",
    "LearningCurve",
    "compare_word",
    "learn_words",
    "read_curve",
    "require_words",
    "show_examples",
    "watched",
    "write_curve",
]


STREET = "street"
"""Name of the grammar that ships with Wordsight."""


def learn_words(arguments: Mapping[str, Any], context: JobContext) -> dict[str, Any]:
    """Learn from all videos with sentences and replace the library's lexicon, keeping the old one.

    Args:
        arguments: Settings as :class:`LearnSettings` has them; ``attributes``, whether words taught
            by pictures become adjectives; ``grammar``, the text of a lexicon file, or ``street``;
            ``states``, the set of rules whose facts words may look at.
        context: Where to work.
    """
    from wordsight.workflows.annotator import save_lexicon
    from wordsight.workflows.word_edits import keep_version

    request = _request(arguments, context.folder)
    assert request.checkpoint is not None
    progress = watched(context.progress, request.checkpoint, context.folder)
    with open_library(context.library) as library:
        library.check_writable()
        result = learn(library, request, progress=progress)
        words = lexicon_folder(library, None)
    keep_version(words, "before words were learned again")
    save_lexicon(result.lexicon, words, result.annotator, overwrite=True)
    write_curve(context.folder, LearningCurve(result.histories, result.sharpened))
    return {
        "clips": result.num_clips,
        "words": sorted(result.lexicon.words),
        "lost": result.lost_mass,
        "notes": list(result.warnings),
        "quality": result.quality.to_json(),
    }


def _request(arguments: Mapping[str, Any], folder: Path) -> LearnRequest:
    from wordsight.workflows.rule_sets import model_folder

    settings = {name: arguments[name] for name in LearnSettings.model_fields if name in arguments}
    grammar, states = arguments.get("grammar"), arguments.get("states")
    if grammar is not None and grammar != STREET:
        path = folder / f"{LEXICON}.grammar.txt"
        path.write_text(grammar, encoding="utf-8")
        grammar = str(path)
    if arguments.get("attributes") and not (folder / TAUGHT).exists():
        raise WordsightError("no words were taught yet; do so on the Attributes page first.")
    return make_request(
        LearnRequest,
        settings
        | {
            "save": False,
            "checkpoint": folder / f"{LEXICON}.learning.npz",
            "grammar": grammar,
            "attributes": folder / TAUGHT if arguments.get("attributes") else None,
            "states": model_folder(folder, states) if states else None,
        },
    )


def require_words(library: "Library") -> Path:
    """Return the folder of a library's lexicon.

    Raises:
        WordsightError: If nothing was learned yet.
    """
    folder = lexicon_folder(library, None)
    if not (folder / "model.json").exists():
        raise WordsightError("no words were learned yet; learn some on the Words page first.")
    return folder


_FILE = "lexicon-history.json"

_EVERY = 0.3  # seconds between two looks; more would not be seen


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
    curve = {
        "restarts": [[float(value) for value in run] for run in course.restarts],
        "sharpened": [float(value) for value in course.sharpened],
    }
    write_text(folder / _FILE, json.dumps(curve))


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

    def report(done: float, total: float | None, what: str) -> None:
        nonlocal last
        if time.monotonic() - last >= _EVERY:
            last = time.monotonic()
            look()
        progress(done, total, what)

    look()  # the course of an earlier learning is over

    return report


def compare_word(arguments: Mapping[str, Any], context: JobContext) -> dict[str, Any]:
    """Score sentences with a word as it was and as it is to be.

    Args:
        arguments: ``entry``; ``edits`` of the lexicon as it is now; ``version``, the number of the
            lexicon it is compared with, the one of now if ``None``.
        context: Where to work.
    """
    from wordsight.meaning import LearnedLexicon
    from wordsight.workflows.word_edits import compare_words, edited, load_version

    entry, version = arguments["entry"], arguments.get("version")
    with open_library(context.library) as library:
        words = require_words(library)
        now = LearnedLexicon.load(words)
        before = now if version is None else load_version(words, int(version))
        after = edited(now, entry, arguments.get("edits", ()))
        return compare_words(library, words, entry, before, after, context.progress)


def show_examples(arguments: Mapping[str, Any], context: JobContext) -> dict[str, Any]:
    """Find where a word that is said of a video fits best and worst.

    Args:
        arguments: ``entry``, ``top``; ``stamp`` only distinguishes lexicons.
        context: Where to work.
    """
    from wordsight.workflows.word_edits import find_examples

    entry, top = arguments["entry"], int(arguments["top"])
    with open_library(context.library) as library:
        return find_examples(library, require_words(library), entry, top, context.progress)
