"""Errors of searching and indexing."""

from wordsight.errors import WordsightError

__all__ = ["IndexDamagedError", "RetrievalError"]


class RetrievalError(WordsightError, ValueError):
    """An invalid query, setting or collection."""


class IndexDamagedError(RetrievalError):
    """An index on disk that is incomplete or was written by a newer version."""
