"""Clips of a library with what is said of them, as learning and the pages need them."""

from wordsight.errors import WordsightError
from wordsight.library import Library
from wordsight.records import Clip

__all__ = ["clips_with_sentences", "whole_clip"]


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
            clips.append(clip)
            said.append([])
        said[places[key]].append(sentence.text)
    if not clips:
        raise WordsightError("no video has a sentence yet; say something of some videos first.")
    return clips, said


def whole_clip(library: Library, video_id: str) -> Clip:
    """Return everything seen in a video of a library."""
    seen = library.detections(video_id)
    start = float(seen.times[0]) if len(seen) else 0.0
    end = start + library.video(video_id).duration
    # The last frame may be shown a little longer than the container says.
    return Clip(video_id, start, max(end, float(seen.times[-1]) + 1e-3 if len(seen) else end), seen)
