"""The errors people see: each says what was expected, what came and what to do next."""

__all__ = [
    "FormatError",
    "LibraryError",
    "RecordError",
    "VideoError",
    "VideoWarning",
    "WordsightError",
]


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


class LibraryError(WordsightError):
    """A collection that is missing, damaged, too new, read-only or out of reach."""
