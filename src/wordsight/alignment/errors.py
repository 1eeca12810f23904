"""Errors of the alignment package; each message says what to do next."""

from wordsight.errors import WordsightError

__all__ = ["AlignmentError", "ConstraintError", "PoorEvidenceError"]


class AlignmentError(WordsightError, ValueError):
    """Instructions and observations that cannot be aligned, or a model that is not fitted."""


class ConstraintError(AlignmentError):
    """User constraints that contradict each other or the video."""


class PoorEvidenceError(AlignmentError):
    """Too little was observed to align the video."""
