"""What alignment refuses to do, and says when it does: each error names the way out."""

from wordsight.errors import WordsightError

__all__ = ["AlignmentError", "ConstraintError", "PoorEvidenceError"]


class AlignmentError(WordsightError, ValueError):
    """Instructions and observations that cannot be aligned, or a model that is not fitted."""


class ConstraintError(AlignmentError):
    """Constraints by the user that contradict each other or the video."""


class PoorEvidenceError(AlignmentError):
    """Too little was seen to say which moment belongs to which line."""
