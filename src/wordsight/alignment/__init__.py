"""Alignment of written instructions with silent video, learned without labels."""

from wordsight.alignment.errors import AlignmentError, ConstraintError, PoorEvidenceError
from wordsight.alignment.export import write_alignment
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
from wordsight.alignment.observe import (
    DetectedThings,
    IntervalFile,
)
from wordsight.alignment.records import (
    NO_LINE,
    Aligner,
    Alignment,
    Chunk,
    Constraint,
    Dictionary,
    Instructions,
    Line,
    LineBoundary,
    LineSpan,
    Observed,
)
from wordsight.alignment.storage import load_aligner, save_aligner
from wordsight.alignment.tasks import AlignmentResult, align_together
from wordsight.alignment.text import instructions_from_text, read_instructions

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
    "AlignmentResult",
    "Chunk",
    "Constraint",
    "ConstraintError",
    "DetectedThings",
    "Dictionary",
    "DropDTW",
    "Ensemble",
    "Instructions",
    "IntervalFile",
    "LatentPerceptron",
    "LatentSVM",
    "Line",
    "LineBoundary",
    "LineSpan",
    "Observed",
    "PoorEvidenceError",
    "align_together",
    "instructions_from_text",
    "load_aligner",
    "read_instructions",
    "save_aligner",
    "write_alignment",
]
