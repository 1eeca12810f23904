"""A video, or a part of it, as learned words look at it."""

from pathlib import Path

from wordsight.desk.clips import whole_clip
from wordsight.desk.naming import namer_of
from wordsight.errors import WordsightError
from wordsight.library import Library
from wordsight.records import Clip

__all__ = ["clip_between"]


def clip_between(
    library: Library, video_id: str, words: Path, start: float | None, end: float | None
) -> Clip:
    """Return what is seen in a video, or between two moments of it.

    Args:
        library: Where the video is.
        video_id: Which.
        words: The lexicon's folder; things are named where its words were learned with names.
        start: From which second; from the beginning if left out.
        end: Until which second; to the end if left out.

    Raises:
        WordsightError: If it would end before it starts.
    """
    whole = whole_clip(library, library.resolve(video_id), namer_of(words))
    if start is None and end is None:
        return whole
    first, last = whole.start if start is None else start, whole.end if end is None else end
    if not first < last:
        raise WordsightError(f"a part of a video starts before it ends, got {first:g} to {last:g}.")
    return Clip.cut(whole.video_id, whole.detections, first, last)
