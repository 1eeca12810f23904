"""Errors and warnings of the word learner."""

from wordsight.errors import WordsightError

__all__ = ["MeaningError", "MeaningWarning"]


class MeaningError(WordsightError, ValueError):
    """Clips, sentences or settings that the word learner cannot work with."""


class MeaningWarning(UserWarning):
    """Clips or sentences that are left out of learning."""
