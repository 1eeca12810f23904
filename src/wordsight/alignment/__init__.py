"""Alignment of written instructions with silent video, learned without labels."""

from wordsight.alignment.belonging import Belonging, judge_belonging
from wordsight.alignment.export import write_alignment
from wordsight.alignment.models import AlignmentModel, Ensemble, model_by_name
from wordsight.alignment.observe import (
    DetectedThings,
    IntervalFile,
)
from wordsight.alignment.records import (
    NO_LINE,
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
from wordsight.alignment.tasks import (
    AlignmentResult,
    ComparedModel,
    align_together,
    compare_models,
)
from wordsight.alignment.text import instructions_from_text, read_instructions
from wordsight.errors import AlignmentError, ConstraintError, PoorEvidenceError

__all__ = [
    "NO_LINE",
    "Alignment",
    "AlignmentError",
    "AlignmentModel",
    "AlignmentResult",
    "Belonging",
    "Chunk",
    "ComparedModel",
    "Constraint",
    "ConstraintError",
    "DetectedThings",
    "Dictionary",
    "Ensemble",
    "Instructions",
    "IntervalFile",
    "Line",
    "LineBoundary",
    "LineSpan",
    "Observed",
    "PoorEvidenceError",
    "align_together",
    "compare_models",
    "instructions_from_text",
    "judge_belonging",
    "load_aligner",
    "model_by_name",
    "read_instructions",
    "save_aligner",
    "write_alignment",
]
