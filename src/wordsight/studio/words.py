"""The words the studio knows: its own lexicon, loaded once and again when it changes."""

from pathlib import Path
from threading import Lock

from wordsight.errors import WordsightError
from wordsight.meaning import LearnedLexicon
from wordsight.studio.jobs.learn import LEXICON
from wordsight.studio.studio import Studio

__all__ = ["learned_words", "words_folder", "words_stamp"]

_lock = Lock()
_loaded: dict[tuple[Path, int], LearnedLexicon] = {}


def words_folder(studio: Studio) -> Path:
    """Return where the studio's lexicon is kept, whether or not there is one yet."""
    return studio.folder / LEXICON


def words_stamp(studio: Studio) -> str:
    """Return what changes when the lexicon does; an empty text where there is none."""
    try:
        return str((words_folder(studio) / "model.json").stat().st_mtime_ns)
    except FileNotFoundError:
        return ""


def learned_words(studio: Studio) -> LearnedLexicon:
    """Return the studio's lexicon.

    Raises:
        WordsightError: If nothing was learned yet.
    """
    folder = words_folder(studio)
    try:
        stamp = (folder / "model.json").stat().st_mtime_ns
    except FileNotFoundError:
        raise WordsightError(
            "no words were learned yet; learn some on the Lexicon page first."
        ) from None
    with _lock:
        key = (folder, stamp)
        if key not in _loaded:
            _loaded.clear()  # an older lexicon is of no use any more
            _loaded[key] = LearnedLexicon.load(folder)
        return _loaded[key]
