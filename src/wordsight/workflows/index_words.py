"""How an index splits texts into words: as it was made to, or as a language asks for."""

from pathlib import Path
from typing import TYPE_CHECKING

from wordsight.errors import WordsightError

if TYPE_CHECKING:
    from wordsight.retrieval.text import Analyser

__all__ = ["index_analyser"]


def index_analyser(folder: Path, language: str | None) -> "Analyser":
    """Return the analyser of an index, or of a new one in some language.

    Raises:
        WordsightError: If the index was made for another language.
    """
    from wordsight.retrieval.index.segments import MANIFEST, Manifest
    from wordsight.retrieval.text import TEXT, Analyser

    if (folder / MANIFEST).exists():
        kept = Analyser.from_json(Manifest.read(folder).settings[TEXT])
        asked = kept if language is None else _of_language(language)
        if asked != kept:
            raise WordsightError(
                f"the index in {folder} was made for {kept.language or 'no'} word endings; leave "
                "--language out, or delete the folder to begin anew."
            )
        return kept
    return _of_language(language or "english")


def _of_language(language: str) -> "Analyser":
    from wordsight.retrieval.text import STOP_WORDS, Analyser

    stop = language if language in STOP_WORDS else None
    return Analyser(None if language == "none" else language, stop)
