"""Instructions timed against silent video: which moment belongs to which line, without labels."""

from wordsight.alignment.errors import AlignmentError, ConstraintError, PoorEvidenceError
from wordsight.alignment.exports import write_alignment
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
from wordsight.alignment.tasks import Timed, align_together
from wordsight.alignment.text import instructions_from_text, read_instructions
from wordsight.alignment.watching import DetectedThings, IntervalFile, Source, TrackedThings

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
    "DetectedThings",
    "Dictionary",
    "DropDTW",
    "Ensemble",
    "Instructions",
    "IntervalFile",
    "LatentPerceptron",
    "LatentSVM",
    "Line",
    "Observed",
    "PoorEvidenceError",
    "Source",
    "Span",
    "Timed",
    "TrackedThings",
    "align_together",
    "instructions_from_text",
    "load_aligner",
    "read_instructions",
    "save_aligner",
    "write_alignment",
]
