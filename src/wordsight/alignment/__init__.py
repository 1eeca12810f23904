"""Instructions timed against silent video: which moment belongs to which line, without labels."""

from wordsight.alignment.errors import AlignmentError, ConstraintError, PoorEvidenceError
from wordsight.alignment.records import (
    NO_LINE,
    Aligner,
    Alignment,
    Boundary,
    Chunk,
    Constraint,
    Dictionary,
    Instructions,
    Line,
    Observed,
    Span,
)

__all__ = [
    "NO_LINE",
    "Aligner",
    "Alignment",
    "AlignmentError",
    "Boundary",
    "Chunk",
    "Constraint",
    "ConstraintError",
    "Dictionary",
    "Instructions",
    "Line",
    "Observed",
    "PoorEvidenceError",
    "Span",
]
