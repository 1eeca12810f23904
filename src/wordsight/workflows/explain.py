"""``explain``: which word of a sentence fits a video when, and which one fails."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from wordsight.workflows.compute import pruning, report_lost
from wordsight.workflows.lexicon import lexicon_setting, library_words
from wordsight.workflows.moments import ClipRequest, moments_for, read_clip
from wordsight.workflows.reporter import RecordingReporter
from wordsight.workflows.settings import argument
from wordsight.workflows.workflow import Result, workflow

if TYPE_CHECKING:
    from wordsight.library import Library
    from wordsight.meaning import SentenceExplanation

__all__ = ["ExplainRequest", "ExplainResult", "explain"]


class ExplainRequest(ClipRequest):
    """A sentence about a video."""

    sentence: str = argument("What may be true of it.", metavar="SENTENCE", min_length=1)
    words: Path | None = lexicon_setting()


@dataclass(frozen=True)
class ExplainResult(Result):
    """Which word fits and which fails.

    Attributes:
        explanation: Per word how well it fits, over time.
        is_moment: Whether it is about a moment of a long video.
    """

    explanation: "SentenceExplanation"
    is_moment: bool


@workflow(ExplainRequest)
def explain(
    library: "Library", request: ExplainRequest, *, reporter: RecordingReporter
) -> ExplainResult:
    """Explain how a sentence fits a video; in a long video, where it fits best."""
    lexicon, folder = library_words(library, request.words, reporter)
    clip = read_clip(library, request, folder)
    with pruning(request.prune):
        (moment,) = moments_for(lexicon, clip, (request.sentence,), reporter, whole=request.whole)
        explanation = lexicon.explain(moment, request.sentence)
    report_lost(reporter, explanation.lost_mass, request.prune)
    return ExplainResult(explanation, moment is not clip)
