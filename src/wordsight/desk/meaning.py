"""Searching by what words mean: cheap recall by what is said, then the sentence tracker."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from wordsight.desk.teller import Teller
from wordsight.errors import WordsightError

if TYPE_CHECKING:
    from wordsight.library import Library
    from wordsight.meaning import Hit, LearnedLexicon

__all__ = ["DEFAULT_WORDS", "MOST_VIDEOS", "grounded_hits", "load_words", "readable"]

DEFAULT_WORDS = Path("lexicon")

MOST_VIDEOS = 200
"""Videos the sentence tracker looks through; of more, those in which the words are said."""


def load_words(words: Path) -> "LearnedLexicon":
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


def readable(learned: "LearnedLexicon", text: str, teller: Teller, *, aloud: bool) -> bool:
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
    teller: Teller,
    *,
    top: int,
    everything: bool,
    most: int = MOST_VIDEOS,
) -> "list[Hit]":
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
    """
    from wordsight.desk.clips import whole_clip

    videos = [video.id for video in opened.videos()]
    if len(videos) > most:
        said = list(dict.fromkeys(likely))[:most]
        which = "in which the words are said" if said else "that came first"
        videos = said or videos[:most]
        teller.note(f"Looking closely at the {len(videos)} videos {which}.")
    with teller.progress("Searching") as progress:
        return learned.search(
            (whole_clip(opened, video) for video in videos),
            text,
            top=top,
            only_true=not everything,
            progress=lambda done, total, what: progress(done, len(videos), what),
        )
