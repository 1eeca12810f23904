"""What the learner of meanings refuses."""

from wordsight.errors import WordsightError

__all__ = ["MeaningError"]


class MeaningError(WordsightError, ValueError):
    """Clips, sentences or settings from which no meaning can be learned or read."""
