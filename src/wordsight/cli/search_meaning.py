"""Searching by what words mean: cheap recall by what is said, then the sentence tracker."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from wordsight.cli.output import Output
from wordsight.errors import WordsightError

if TYPE_CHECKING:
    from wordsight.library import Library
    from wordsight.meaning import Hit, LearnedLexicon

__all__ = ["DEFAULT_WORDS", "grounded_hits", "load_words", "understood"]

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


def understood(
    words: Path, text: str, output: Output, *, required: bool
) -> "LearnedLexicon | None":
    """Return the learned lexicon if there is one that can read a sentence.

    Args:
        words: The lexicon's folder.
        text: The sentence.
        output: Told why not.
        required: Whether the lexicon was named by the user, who then hears if it is not there.
    """
    if not words.exists() and not required:
        return None
    learned = load_words(words)
    try:
        learned.sentence(text)
    except WordsightError as error:
        reason = str(error).splitlines()[0].rstrip(".:")
        # A few words that are no sentence are nothing to be told about, unless a lexicon was asked.
        tell = output.note if required else output.detail
        tell(f"The learned words cannot read this ({reason}): going by what is said.")
        return None
    return learned


def grounded_hits(
    opened: "Library",
    learned: "LearnedLexicon",
    text: str,
    likely: Sequence[str],
    output: Output,
    *,
    top: int,
    everything: bool,
) -> "list[Hit]":
    """Find the moments a sentence describes.

    Args:
        opened: The library.
        learned: The words.
        text: The sentence.
        likely: Ids of videos in which its words are said, best first.
        output: Draws the bar.
        top: How many moments at most.
        everything: Whether to return moments the sentence is not said to be true of.
    """
    from wordsight.cli.meaning import whole_clip

    videos = [video.id for video in opened.videos()]
    if len(videos) > MOST_VIDEOS:
        said = list(dict.fromkeys(likely))[:MOST_VIDEOS]
        videos = said or videos
        if said:
            output.note(f"Looking closely at the {len(said)} videos in which the words are said.")
    with output.progress("Searching") as progress:
        return learned.search(
            (whole_clip(opened, video) for video in videos),
            text,
            top=top,
            only_true=not everything,
            progress=lambda done, total, what: progress(done, len(videos), what),
        )
