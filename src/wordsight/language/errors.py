"""Errors of lexicons and sentences."""

from collections.abc import Iterable
from difflib import get_close_matches

from wordsight.errors import FormatError, WordsightError

__all__ = ["AmbiguityError", "LanguageError", "LexiconError", "UnknownWordError", "nearest"]


class LanguageError(WordsightError, ValueError):
    """A sentence that cannot be parsed, or a meaning that cannot be expressed."""


class UnknownWordError(LanguageError):
    """A sentence with words the lexicon does not know.

    Attributes:
        words: The unknown words in order.
    """

    def __init__(self, message: str, words: tuple[str, ...]) -> None:
        super().__init__(message)
        self.words = words


class AmbiguityError(LanguageError):
    """A sentence with several readings that the rules do not decide between.

    Attributes:
        readings: Its possible meanings, each as ``person(p0) picked-up(p0,p1) ...``.
    """

    def __init__(self, message: str, readings: tuple[str, ...]) -> None:
        super().__init__(message)
        self.readings = readings


class LexiconError(FormatError):
    """A lexicon that contradicts itself, or a lexicon file that cannot be read."""


def nearest(word: str, known: Iterable[str], count: int = 3) -> list[str]:
    """Return up to ``count`` known words with the most similar spelling, the best first."""
    return get_close_matches(word, sorted(set(known)), n=count, cutoff=0.6)
