"""A video, or a part of it, as learned words look at it."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from wordsight.desk.clips import whole_clip
from wordsight.desk.naming import namer_of
from wordsight.errors import WordsightError
from wordsight.inference import Limits, noting_losses, within
from wordsight.library import Library
from wordsight.records import Clip

__all__ = ["clip_between", "keeping"]


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


@contextmanager
def keeping(most: int | None, loss: float | None = None) -> Iterator[list[float]]:
    """Follow less of a clip for the time of a block.

    Args:
        most: Detections per participant and frame; all that fit if ``None``.
        loss: Share of all explanations that a beam may lose; no beam if ``None``.

    Yields:
        The shares lost at most, of what is computed in the block and not told of by its results.

    Raises:
        WordsightError: If both are given: they are two ways to keep less.
    """
    if most is not None and loss is not None:
        raise WordsightError("so many boxes, or a share that may be lost: choose one of them.")
    with within(Limits(most_detections=most, beam_loss=loss)), noting_losses() as losses:
        yield losses
