"""What the learner of meanings refuses, and what it warns of."""

from wordsight.errors import WordsightError

__all__ = ["MeaningError", "MeaningWarning"]


class MeaningError(WordsightError, ValueError):
    """Clips, sentences or settings from which no meaning can be learned or read."""


class MeaningWarning(UserWarning):
    """Clips or sentences that are left out of learning; people are told."""
