"""The errors people see: each says what was expected, what came and what to do next."""

from collections.abc import Iterable
from difflib import SequenceMatcher, get_close_matches

__all__ = [
    "AlignmentError",
    "AmbiguityError",
    "CatalogWarning",
    "ConstraintError",
    "FormatError",
    "IndexBusyError",
    "IndexDamagedError",
    "LanguageError",
    "LexiconError",
    "LibraryError",
    "MeaningError",
    "MeaningWarning",
    "PoorEvidenceError",
    "RecordError",
    "RetrievalError",
    "RuleError",
    "SoundError",
    "SoundWarning",
    "StateError",
    "TeachingError",
    "UnknownWordError",
    "VideoError",
    "VideoWarning",
    "WordsightError",
    "likeness",
    "nearest",
    "pointing_at",
]


_MOST_SHOWN = 160  # characters of a line


class WordsightError(Exception):
    """Anything Wordsight refuses or fails to do, with a message meant for the user.

    The command line prints the message without a traceback and exits with 1.
    """


class RecordError(WordsightError, ValueError):
    """Values that cannot form a record: wrong shapes, times out of order, boxes inside out."""


class FormatError(WordsightError, ValueError):
    """A file that is not in the format it was taken for."""


class VideoError(WordsightError):
    """A file that cannot be read or written as video."""


class VideoWarning(UserWarning):
    """A video that is damaged but partly readable."""


class CatalogWarning(UserWarning):
    """A catalogue of networks, of another package, that cannot be read."""


class LibraryError(WordsightError):
    """A collection that is missing, damaged, too new, read-only or out of reach."""


class AlignmentError(WordsightError, ValueError):
    """Instructions and observations that cannot be aligned, or a model that is not fitted."""


class ConstraintError(AlignmentError):
    """User constraints that contradict each other or the video."""


class PoorEvidenceError(AlignmentError):
    """Too little was observed to align the video."""


class TeachingError(WordsightError, ValueError):
    """Lessons from which nothing can be learned, or invalid settings."""


class SoundError(WordsightError):
    """A recording that cannot be read, written or used."""


class SoundWarning(UserWarning):
    """A recording of poor quality."""


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


def likeness(word: str, known: str) -> float:
    """Return how similar two spellings are, from 0 to 1."""
    return SequenceMatcher(None, known, word).ratio()


class MeaningError(WordsightError, ValueError):
    """Clips, sentences or settings that the word learner cannot work with."""


class MeaningWarning(UserWarning):
    """Clips or sentences that are left out of learning."""


class RetrievalError(WordsightError, ValueError):
    """An invalid query, setting or collection."""


class IndexBusyError(RetrievalError):
    """An index on disk that another process is changing."""


class IndexDamagedError(RetrievalError):
    """An index on disk that is incomplete or was written by a newer version."""


class StateError(WordsightError, ValueError):
    """Tracks, labels, rules or settings from which no states can be learned or inferred."""


class RuleError(StateError):
    """Rule text that cannot be parsed; the message shows the line and points at the column.

    Attributes:
        line: Number of the line, counted from 1.
        column: Number of the character in it, counted from 1.
    """

    def __init__(self, problem: str, text: str, line: int, column: int):
        self.line, self.column = line, column
        shown = pointing_at(text, column - 1, column)
        super().__init__(f"line {line}, column {column}: {problem}\n{shown}")


def pointing_at(text: str, start: int, end: int) -> str:
    """Return a line with carets under the characters ``start`` to ``end``; of a long one, a part.

    Args:
        text: The line; line ends and tabs in it are shown as spaces.
        start: The first character to point at, from 0.
        end: The character after the last.
    """
    line = text.replace("\n", " ").replace("\t", " ")
    if len(line) > _MOST_SHOWN:
        first = max(0, min(start - _MOST_SHOWN // 2, len(line) - _MOST_SHOWN))
        before, after = "…" * (first > 0), "…" * (first + _MOST_SHOWN < len(line))
        line = before + line[first : first + _MOST_SHOWN] + after
        start, end = (min(place - first, _MOST_SHOWN) + len(before) for place in (start, end))
    return f"  {line}\n  {' ' * start}{'^' * max(1, end - start)}"
