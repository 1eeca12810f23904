"""Clips of a library with what is said of them, as everything that works with words needs them."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from wordsight.errors import WordsightError
from wordsight.library import Library
from wordsight.perception import tracked_clip
from wordsight.records import Clip

if TYPE_CHECKING:
    from wordsight.workflows.annotator import ClipAnnotator

__all__ = ["clip_between", "clips_with_sentences", "followed", "names_of", "noted", "whole_clip"]


def clips_with_sentences(library: Library) -> tuple[list[Clip], list[list[str]]]:
    """Return the clips of a library and what is said of each, several sentences together.

    Raises:
        WordsightError: If nothing is said of any video.
    """
    clips: list[Clip] = []
    said: list[list[str]] = []
    places: dict[tuple[str, float, float], int] = {}
    for clip, sentence in library.pairs():
        key = (clip.video_id, clip.start, clip.end)
        if key not in places:
            places[key] = len(clips)
            clips.append(followed(clip))
            said.append([])
        said[places[key]].append(sentence.text)
    if not clips:
        raise WordsightError(
            f"no video in {library.location} has a sentence; add some with metadata.jsonl, "
            "captions or wordsight add --sentence."
        )
    return clips, said


def whole_clip(library: Library, video_id: str, annotator: "ClipAnnotator | None" = None) -> Clip:
    """Return everything seen in a video of a library, its things named if somebody names them."""
    seen = library.detections(video_id)
    start = float(seen.times[0]) if len(seen) else 0.0
    end = start + library.video(video_id).duration
    # The last frame may be shown a little longer than the container says.
    last = float(seen.times[-1]) + 1e-3 if len(seen) else end
    clip = followed(Clip(video_id, start, max(end, last), seen))
    return clip if annotator is None else annotator.name_clip(library, clip)


def clip_between(
    library: Library,
    video: str,
    start: float | None = None,
    end: float | None = None,
    annotator: "ClipAnnotator | None" = None,
) -> Clip:
    """Return what is seen in a video, or between two moments of it.

    Args:
        library: Where the video is.
        video: Its id, or the beginning of it.
        start: From which second; from the beginning if left out.
        end: Until which second; to the end if left out.
        annotator: Names the things of that part, where words were learned with names.

    Raises:
        WordsightError: If there is nothing between the two.
    """
    clip = whole_clip(library, library.resolve(video))
    if start is not None or end is not None:
        first = clip.start if start is None else max(start, clip.start)
        last = clip.end if end is None else min(end, clip.end)
        if not first < last:
            raise WordsightError(
                f"{video} runs from {clip.start:g} to {clip.end:g} s; there is nothing from "
                f"{first:g} to {last:g} s."
            )
        clip = clip.part(first, last)
    return clip if annotator is None else annotator.name_clip(library, clip)


def followed(clip: Clip) -> Clip:
    """Link what a detector with classes saw; regions, which have looks instead, stay loose."""
    return tracked_clip(clip, for_words=True)


Notes = TypeVar("Notes")


def names_of(library: Library, video_id: str) -> tuple[str, ...]:
    """Return what people may call a video: its id, its file, its file without the ending."""
    name = library.video(video_id).name
    return video_id, name, Path(name).stem


def noted(told: Mapping[str, Notes], names: Sequence[str], file: str) -> Notes:
    """Return what is told of a film under the first of its names that is told of.

    Args:
        told: What is told, by the name of the film.
        names: What the film may be called.
        file: Where that was read, for the message.

    Raises:
        WordsightError: If nothing is told of it.
    """
    known = next((name for name in names if name in told), None)
    if known is None:
        raise WordsightError(
            f"{file} says nothing of {names[0]}; it knows {', '.join(sorted(told)[:5])}."
        )
    return told[known]
