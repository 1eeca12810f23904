"""The part of a video a sentence is asked about: as requested, or a long video's best moment."""

from pathlib import Path
from typing import TYPE_CHECKING

from wordsight.workflows.compute import prune_setting
from wordsight.workflows.reporter import Reporter
from wordsight.workflows.settings import Request, argument, setting
from wordsight.workflows.units import clock

if TYPE_CHECKING:
    from wordsight.library import Library
    from wordsight.meaning import LearnedLexicon
    from wordsight.records import Clip

__all__ = ["ClipRequest", "ClipSettings", "moments_for", "read_clip"]


class ClipSettings(Request):
    """Which part of a video is asked about, and how closely it is followed."""

    start: float | None = setting(
        None, "Look from this second on.", "--from", label="From", default_text="the beginning"
    )
    end: float | None = setting(
        None, "Look until this second.", "--to", label="To", default_text="the end"
    )
    whole: bool = setting(
        False, "Take a long video as one event, instead of finding its best moments first."
    )
    prune: int | None = prune_setting()


class ClipRequest(ClipSettings):
    """A video of a library, and which part of it is asked about."""

    video: str = argument("Id of a video of the library, or the beginning of it.", metavar="ID")


def read_clip(library: "Library", request: ClipRequest, words: Path) -> "Clip":
    """Return what is seen in a video, its things annotated as the lexicon needs it."""
    from wordsight.workflows.annotator import load_annotator
    from wordsight.workflows.clips import clip_between

    return clip_between(library, request.video, request.start, request.end, load_annotator(words))


def moments_for(
    lexicon: "LearnedLexicon",
    clip: "Clip",
    sentences: tuple[str, ...],
    reporter: Reporter,
    *,
    whole: bool,
) -> list["Clip"]:
    """Return for every sentence the moment of a long clip that it fits best, and report which.

    Args:
        lexicon: The learned words.
        clip: What is asked about; itself the answer where it is not long.
        sentences: The sentences.
        reporter: Takes a note where a moment was chosen.
        whole: Whether to take a long clip as one event.
    """
    from wordsight.meaning import best_moment

    found = [clip if whole else best_moment(lexicon, clip, sentence) for sentence in sentences]
    best = next((moment for moment in found if moment is not clip), None)
    if best is not None:
        one = len(sentences) == 1
        when = f": {clock(best.start)} to {clock(best.end)}" if one else ""
        reporter.note(
            f"This video is long, so it is asked about where {'the' if one else 'each'} sentence "
            f"fits best{when}. (--from and --to choose a part, --whole takes all as one event.)"
        )
    return found
