"""Errors and warnings of learning attributes."""

from wordsight.errors import WordsightError

__all__ = ["SoundError", "SoundWarning", "TeachingError"]


class TeachingError(WordsightError, ValueError):
    """Lessons from which nothing can be learned, or invalid settings."""


class SoundError(WordsightError):
    """A recording that cannot be read, written or used."""


class SoundWarning(UserWarning):
    """A recording of poor quality."""
