"""What this room refuses, and what it warns of."""

from wordsight.errors import WordsightError

__all__ = ["SoundError", "SoundWarning", "TeachingError"]


class TeachingError(WordsightError, ValueError):
    """Pictures and words from which nothing can be learned, or settings that make no sense."""


class SoundError(WordsightError):
    """A recording that cannot be read, written or used."""


class SoundWarning(UserWarning):
    """A recording that is usable but poor."""
