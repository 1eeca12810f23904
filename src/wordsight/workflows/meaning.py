"""Searching by what words mean: cheap recall by what is said, then the sentence tracker."""

from collections.abc import Iterator, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
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

__all__ = ["DEFAULT_WORDS", "MOST_VIDEOS", "grounded_hits", "load_lexicon", "readable"]

DEFAULT_WORDS = Path("lexicon")

MOST_VIDEOS = 200
"""Videos the sentence tracker looks through; of more, those in which the words are said."""


def load_lexicon(words: Path) -> "LearnedLexicon":
    """Read a learned lexicon.

    Raises:
        WordsightError: If there is none.
    """
    from wordsight.meaning import LearnedLexicon

    if not words.exists():
        raise WordsightError(
            f"there is no learned lexicon at {words}; make one with `wordsight learn`, or name "
            "its folder with --words."
        )
    return LearnedLexicon.load(words)


def readable(learned: "LearnedLexicon", text: str, teller: Reporter, *, aloud: bool) -> bool:
    """Tell whether learned words can read a sentence.

    Args:
        learned: The words.
        text: The sentence.
        teller: Told why not.
        aloud: Whether everybody should hear it; a few words that are no sentence are nothing to
            be told about otherwise.
    """
    try:
        learned.sentence(text)
    except WordsightError as error:
        reason = str(error).splitlines()[0].rstrip(".:")
        tell = teller.note if aloud else teller.detail
        tell(f"The learned words cannot read this ({reason}): going by what is said.")
        return False
    return True


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
