"""Asking about long films: the moments that fit are found first, by the windows of a search.

A sentence speaks of a moment, and whoever is in sight for a small share of a clip is not looked at.
Asked about as a whole, a film of minutes would show nobody who does what the sentence says.
"""

from dataclasses import replace

from wordsight.meaning.checks import require_clip
from wordsight.meaning.model.lexicon import LearnedLexicon
from wordsight.meaning.tasks.describe import describe_scored
from wordsight.meaning.tasks.results import Description
from wordsight.meaning.tasks.search import Windows, search
from wordsight.progress import Progress, report
from wordsight.records import Clip, Sentence

__all__ = ["USUAL_CLIP", "best_moment", "describe_moments", "is_long_video"]

USUAL_CLIP = "usual_clip"
"""The note of a lexicon that says how many seconds the clips it was learned from last."""


def is_long_video(lexicon: LearnedLexicon, clip: Clip, windows: Windows | None = None) -> bool:
    """Tell whether a clip is a long film for words: one in which moments have to be found first.

    So it is where somebody could be in sight for the longest window, or for as long as the clips
    that the words were learned from, and be left out as too short a part of the whole.
    """
    moment = max(*(windows or Windows()).lengths, _usual_clip(lexicon))
    return lexicon.looking.least_seen * (clip.end - clip.start) > moment


def best_moment(
    lexicon: LearnedLexicon,
    clip: Clip,
    sentence: str | Sentence,
    *,
    windows: Windows | None = None,
) -> Clip:
    """Return the moment of a long film that a sentence fits best.

    Args:
        lexicon: The words.
        clip: Any clip.
        sentence: What is looked for.
        windows: How long films are cut; as by :func:`~wordsight.meaning.tasks.search.search`.

    Returns:
        The part of the clip; the clip itself if it is not long, or nothing is seen in it.
    """
    said = lexicon.sentence(sentence)
    if not is_long_video(lexicon, require_clip(clip), windows):
        return clip
    found = search(lexicon, [clip], said, top=1, windows=windows)
    return clip.part(found[0].start, found[0].end) if found else clip


def describe_moments(
    lexicon: LearnedLexicon,
    clip: Clip,
    *,
    top: int = 5,
    surest: bool = False,
    windows: Windows | None = None,
    progress: Progress | None = None,
) -> list[Description]:
    """Find the moments of a long film that can be told of best, each with its best sentence.

    Args:
        lexicon: The words.
        clip: Any clip; one that is not long is described as a whole.
        top: How many sentences to return.
        surest: Whether of each moment the likeliest true sentence is told, instead of the one that
            explains it best, which says more.
        windows: How long films are cut; only the longest windows are described.
        progress: Told after every window.

    Returns:
        Descriptions: of a long film of one moment each, the likeliest true first.
    """
    how = windows or Windows()
    if not is_long_video(lexicon, require_clip(clip), how):
        return [one for _, one in describe_scored(lexicon, clip, top=top, surest=surest)]
    longest = replace(how, lengths=(max(how.lengths),))
    found: list[tuple[float, Description]] = []
    for span in report(longest.spans(clip), progress, "describing"):
        found += describe_scored(lexicon, clip.part(*span), top=1, timed=False, surest=surest)
    found.sort(key=lambda one: -one[0])
    return longest.apart(description for _, description in found)[:top]


def _usual_clip(lexicon: LearnedLexicon) -> float:
    known = lexicon.notes.get(USUAL_CLIP)  # older lexicons and those written by hand do not say
    return float(known) if isinstance(known, int | float) else 0.0
