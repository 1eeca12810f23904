"""What goes wrong when searching and indexing."""

from wordsight.errors import WordsightError

__all__ = ["IndexDamagedError", "RetrievalError"]


class RetrievalError(WordsightError, ValueError):
    """A query or a collection that cannot be searched, with what to do about it."""


class IndexDamagedError(RetrievalError):
    """An index on disk that is not whole, or newer than this program."""
