"""Searching by what words mean: cheap recall by what is said, then the sentence tracker."""

from collections.abc import Iterator, Sequence
from contextlib import closing
from functools import partial
from typing import TYPE_CHECKING

from wordsight.errors import LibraryError, WordsightError
from wordsight.workflows.reporter import Reporter

if TYPE_CHECKING:
    from wordsight.engine import Engine
    from wordsight.inference import Limits
    from wordsight.library import Library
    from wordsight.meaning import LearnedLexicon, SentenceHit
    from wordsight.records import Clip
    from wordsight.workflows.annotator import ClipAnnotator

__all__ = ["MOST_VIDEOS", "grounded_hits"]

MOST_VIDEOS = 200
"""Videos the sentence tracker looks through; of more, those in which the words are said."""


def grounded_hits(
    opened: "Library",
    learned: "LearnedLexicon",
    text: str,
    likely: Sequence[str],
    teller: Reporter,
    *,
    top: int,
    everything: bool,
    most: int = MOST_VIDEOS,
    engine: "Engine | None" = None,
    namer: "ClipAnnotator | None" = None,
) -> "list[SentenceHit]":
    """Find the moments a sentence describes.

    Args:
        opened: The library.
        learned: The words.
        text: The sentence.
        likely: Ids of videos in which its words are said, best first.
        teller: Draws the bar.
        top: How many moments at most.
        everything: Whether to return moments the sentence is not said to be true of.
        most: How many videos are looked at; of more, those in which the words are said.
        engine: Who looks; this process if left out. The moments are the same.
        namer: Names things for a lexicon that was learned with taught words.
    """
    from wordsight.engine import Serial
    from wordsight.inference import current_limits

    videos = [video.id for video in opened.videos()]
    if len(videos) > most:
        said = list(dict.fromkeys(likely))[:most]
        which = "in which the words are said" if said else "that came first"
        videos = said or videos[:most]
        teller.note(f"Looking closely at the {len(videos)} videos {which}.")
    look = partial(
        _moments,
        learned=learned,
        text=text,
        top=top,
        only_true=not everything,
        limits=current_limits(),  # whoever looks, elsewhere too
    )
    clips = _clips(opened, videos, namer)
    hits: list[SentenceHit] = []
    with (
        teller.progress("Searching") as progress,
        closing((engine or Serial()).map(look, clips, ordered=True)) as outcomes,
    ):
        for done, outcome in enumerate(outcomes, start=1):
            if outcome.result is None:
                raise WordsightError(f"{outcome.item.video_id}: {outcome.error}")
            # Hits of all videos are never kept longer than needed.
            hits = sorted(hits + outcome.result, key=lambda hit: -hit.score)[:top]
            progress(done, len(videos), "searching")
    return hits


def _clips(
    opened: "Library", videos: Sequence[str], namer: "ClipAnnotator | None"
) -> "Iterator[Clip]":
    """Yield what is seen in videos, leaving out those that somebody removes meanwhile."""
    from wordsight.workflows.clips import whole_clip

    for video in videos:
        try:
            clip = whole_clip(opened, video, namer)
        except LibraryError:
            if video in {each.id for each in opened.videos()}:
                raise
            continue
        yield clip


def _moments(
    clip: "Clip",
    *,
    learned: "LearnedLexicon",
    text: str,
    top: int,
    only_true: bool,
    limits: "Limits",
) -> "list[SentenceHit]":
    from wordsight.inference import using_limits

    with using_limits(limits):
        return learned.search([clip], text, top=top, only_true=only_true)
