"""``track``: who is who in a video, given a sentence, and the states of its words over time."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from wordsight.workflows.compute import pruning, report_lost
from wordsight.workflows.lexicon import lexicon_setting, library_words
from wordsight.workflows.moments import ClipRequest, moments_for, read_clip
from wordsight.workflows.reporter import RecordingReporter, Reporter
from wordsight.workflows.settings import argument, setting
from wordsight.workflows.units import verdict
from wordsight.workflows.workflow import Result, refuse_existing, workflow

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from wordsight.library import Library
    from wordsight.meaning import LearnedLexicon, SentenceScore, TrackedSentence
    from wordsight.meaning.tasks.results import LivingWord
    from wordsight.records import Clip

__all__ = ["TrackRequest", "TrackResult", "WordProbabilities", "track"]


class TrackRequest(ClipRequest):
    """A sentence about a video."""

    sentence: str = argument("What may be true of it.", metavar="SENTENCE", min_length=1)
    overlay: Path | None = setting(
        None, "Draw who is who into a copy of the video.", "--overlay", "-o", metavar="MP4"
    )
    force: bool = setting(False, "Replace the overlay if it exists.")
    words: Path | None = lexicon_setting()
    probabilities: bool = setting(
        False,
        "Also score the sentence and compute how likely each state of its words is in each frame.",
        hidden=True,
    )


@dataclass(frozen=True)
class WordProbabilities:
    """How likely the states of a word are over time.

    Attributes:
        entry: The word, as the lexicon has it.
        num_states: How many states it has.
        shares: ``(T, num_states)``, one row per frame looked at; empty where nothing is seen.
    """

    entry: str
    num_states: int
    shares: "NDArray[np.float64] | None"


@dataclass(frozen=True)
class TrackResult(Result):
    """Who is who.

    Attributes:
        tracked: Tracks of the participants, and the best states of the words.
        start: From when the answer is about, in seconds.
        end: Until when.
        is_moment: Whether that is a moment of a long video.
        overlay: The video that was drawn, if any.
        score: The score of the sentence there, where ``probabilities`` were asked for.
        threshold: The score from which on a sentence is true.
        words: Probabilities of states per word, where they were asked for.
        living: The pieces of the sentence with how true each is over time.
    """

    tracked: "TrackedSentence"
    start: float
    end: float
    is_moment: bool
    overlay: Path | None
    score: "SentenceScore | None"
    threshold: float
    words: tuple[WordProbabilities, ...]
    living: tuple["LivingWord", ...]

    @property
    def verdict(self) -> str:
        """Whether the sentence is ``likely``, ``unsure`` or ``not likely`` true there."""
        scored = self.score
        if scored is None:
            return "unsure"
        return verdict(scored.holds, scored.score, self.threshold)


@workflow(TrackRequest)
def track(library: "Library", request: TrackRequest, *, reporter: RecordingReporter) -> TrackResult:
    """Find who is who in a video, given a sentence; in a long video, where it fits best."""
    from wordsight.meaning.tasks.clip import living_sentence

    refuse_existing(request.overlay, force=request.force)
    lexicon, folder = library_words(library, request.words, reporter)
    clip = read_clip(library, request, folder)
    with pruning(request.prune):
        (moment,) = moments_for(lexicon, clip, (request.sentence,), reporter, whole=request.whole)
        tracked = lexicon.track(moment, request.sentence)
        score = lexicon.score(moment, request.sentence) if request.probabilities else None
        words = _probabilities(lexicon, moment, tracked) if request.probabilities else ()
    living = living_sentence(lexicon, tracked)
    report_lost(reporter, tracked.lost_mass, request.prune)
    if not any(len(one) for one in tracked.tracks):
        reporter.note("Nothing that the sentence mentions is seen there.")
    if request.overlay is not None:
        _draw(library, request, moment, tracked, living, reporter)
    return TrackResult(
        tracked,
        moment.start,
        moment.end,
        moment is not clip,
        request.overlay,
        score,
        lexicon.threshold,
        words,
        living,
    )


def _probabilities(
    lexicon: "LearnedLexicon", clip: "Clip", tracked: "TrackedSentence"
) -> tuple[WordProbabilities, ...]:
    posteriors: Sequence[NDArray[np.float64]] = ()
    if len(tracked.times):
        _, posteriors = lexicon.scorer(clip).posteriors(tracked.sentence)
    found = []
    for number, word in enumerate(tracked.sentence.words):
        shares = None
        if len(posteriors):
            # Whatever the word is said of: summed over all things.
            each = posteriors[number]
            shares = each.reshape(len(each), -1, each.shape[-1]).sum(axis=1)
        found.append(WordProbabilities(word.entry, lexicon[word.entry].num_states, shares))
    return tuple(found)


def _draw(
    library: "Library",
    request: TrackRequest,
    clip: "Clip",
    tracked: "TrackedSentence",
    living: "Sequence[LivingWord]",
    reporter: Reporter,
) -> None:
    import numpy as np

    from wordsight.video import render_overlay
    from wordsight.video.draw.boxes import ColouredText

    def pieces(time: float) -> list[ColouredText]:
        # The frame that is shown is the last that was looked at.
        at = int(np.searchsorted(tracked.times, time + 1e-4, side="right")) - 1
        return [
            ColouredText(
                one.text,
                one.participant,
                0.0 if one.belief is None or at < 0 else float(one.belief[at]),
                one.failing is not None and one.failing[0] <= time <= one.failing[1],
            )
            for one in living
        ]

    assert request.overlay is not None
    with reporter.progress("Drawing") as progress:
        render_overlay(
            library.video(request.video).path,
            request.overlay,
            tracks=tracked.tracks,
            sentence=pieces,
            start=clip.start,
            end=clip.end,
            overwrite=request.force,
            progress=progress,
        )
    reporter.note(f"Overlay: {request.overlay}")
