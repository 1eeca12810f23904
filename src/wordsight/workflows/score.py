"""``score``: how well sentences fit a video, and whether they are true of it."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from wordsight.workflows.compute import pruning, report_lost
from wordsight.workflows.lexicon import lexicon_setting, library_words
from wordsight.workflows.moments import ClipRequest, moments_for, read_clip
from wordsight.workflows.reporter import RecordingReporter
from wordsight.workflows.settings import argument
from wordsight.workflows.units import verdict
from wordsight.workflows.workflow import Result, workflow

if TYPE_CHECKING:
    from wordsight.library import Library
    from wordsight.meaning import SentenceScore

__all__ = ["ScoreRequest", "ScoreResult", "score"]


class ScoreRequest(ClipRequest):
    """Sentences about a video."""

    sentences: tuple[str, ...] = argument(
        "Sentences that may be true of it.", metavar="SENTENCE...", min_length=1
    )
    words: Path | None = lexicon_setting()


@dataclass(frozen=True)
class ScoreResult(Result):
    """How well sentences fit.

    Attributes:
        scores: Per sentence its score, and from when to when it is about.
        are_moments: Per sentence whether that is a moment of a long video.
        threshold: The score from which on a sentence is true.
    """

    scores: tuple["SentenceScore", ...]
    are_moments: tuple[bool, ...]
    threshold: float

    @property
    def verdicts(self) -> tuple[str, ...]:
        """Per sentence ``likely``, ``unsure`` or ``not likely``."""
        return tuple(verdict(one.holds, one.score, self.threshold) for one in self.scores)


@workflow(ScoreRequest)
def score(library: "Library", request: ScoreRequest, *, reporter: RecordingReporter) -> ScoreResult:
    """Score sentences about a video; of a long one, each where it fits best."""
    lexicon, folder = library_words(library, request.words, reporter)
    clip = read_clip(library, request, folder)
    with pruning(request.prune):
        moments = moments_for(lexicon, clip, request.sentences, reporter, whole=request.whole)
        pairs = zip(moments, request.sentences, strict=True)
        scores = tuple(lexicon.score(moment, sentence) for moment, sentence in pairs)
    report_lost(reporter, max(one.lost_mass for one in scores), request.prune)
    are_moments = tuple(moment is not clip for moment in moments)
    return ScoreResult(scores, are_moments, lexicon.threshold)
