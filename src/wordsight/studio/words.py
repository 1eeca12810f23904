"""The lexicon of the studio."""

from pathlib import Path

from wordsight.errors import WordsightError
from wordsight.meaning import LearnedLexicon
from wordsight.studio.jobs.learn import LEXICON
from wordsight.studio.studio import Studio
from wordsight.workflows.lexicon import load_lexicon

__all__ = ["known_words", "learned_words", "words_folder", "words_stamp"]


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
    return load_lexicon(known_words(studio))


def known_words(studio: Studio) -> Path:
    """Return the folder of the studio's lexicon.

    Raises:
        WordsightError: If nothing was learned yet.
    """
    folder = words_folder(studio)
    if not (folder / "model.json").exists():
        raise WordsightError("no words were learned yet; learn some on the Lexicon page first.")
    return folder
