"""``describe``: what happens in a video, in sentences."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from wordsight.workflows.compute import pruning, report_lost
from wordsight.workflows.lexicon import lexicon_setting, library_words
from wordsight.workflows.moments import ClipRequest, ClipSettings, read_clip
from wordsight.workflows.reporter import RecordingReporter
from wordsight.workflows.settings import setting
from wordsight.workflows.workflow import Result, workflow

if TYPE_CHECKING:
    from wordsight.library import Library
    from wordsight.meaning import Description

__all__ = ["DescribeRequest", "DescribeResult", "DescribeSettings", "describe"]


class DescribeSettings(ClipSettings):
    """How a video is described."""

    top: int = setting(5, "Number of sentences.", "-k", ge=1)


class DescribeRequest(DescribeSettings, ClipRequest):
    """Which video is described, and how."""

    words: Path | None = lexicon_setting()


@dataclass(frozen=True)
class DescribeResult(Result):
    """Sentences about a video that are judged true, the likeliest first.

    Attributes:
        descriptions: The sentences, and from when to when each is about.
        start: From when the video was looked at, in seconds.
        end: Until when.
        are_moments: Whether the video is long, so that each sentence is about a moment of it.
    """

    descriptions: tuple["Description", ...]
    start: float
    end: float
    are_moments: bool


@workflow(DescribeRequest)
def describe(
    library: "Library", request: DescribeRequest, *, reporter: RecordingReporter
) -> DescribeResult:
    """Describe what happens in a video; of a long one, moment by moment."""
    from wordsight.meaning import describe_moments, is_long_video

    lexicon, folder = library_words(library, request.words, reporter)
    clip = read_clip(library, request, folder)
    long = not request.whole and is_long_video(lexicon, clip)
    with (
        pruning(request.prune),
        reporter.progress("Describing") as progress,
    ):
        found = (
            describe_moments(lexicon, clip, top=request.top, progress=progress)
            if long
            else lexicon.describe(clip, top=request.top)
        )
    if not found and clip.mask.any():
        reporter.note(
            "Things are seen there, but no sentence of the learned words is judged true of them."
        )
    if found:
        report_lost(reporter, max(one.lost_mass for one in found), request.prune)
    return DescribeResult(tuple(found), clip.start, clip.end, long)
