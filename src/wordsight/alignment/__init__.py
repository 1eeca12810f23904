"""Instructions timed against silent video: which moment belongs to which line, without labels."""

from wordsight.alignment.errors import AlignmentError, ConstraintError, PoorEvidenceError
from wordsight.alignment.models import (
    HMM1,
    HMM2,
    HSMM,
    LCRF,
    LHMM1,
    LHMM2,
    DropDTW,
    Ensemble,
    LatentPerceptron,
    LatentSVM,
)
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
from wordsight.alignment.storage import load_aligner, save_aligner

__all__ = [
    "HMM1",
    "HMM2",
    "HSMM",
    "LCRF",
    "LHMM1",
    "LHMM2",
    "NO_LINE",
    "Aligner",
    "Alignment",
    "AlignmentError",
    "Boundary",
    "Chunk",
    "Constraint",
    "ConstraintError",
    "Dictionary",
    "DropDTW",
    "Ensemble",
    "Instructions",
    "LatentPerceptron",
    "LatentSVM",
    "Line",
    "Observed",
    "PoorEvidenceError",
    "Span",
    "load_aligner",
    "save_aligner",
]
