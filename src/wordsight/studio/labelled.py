"""Labelled films: what somebody noted to hold when, in films of the library or files of boxes."""

from collections.abc import Sequence
from pathlib import Path

from wordsight.errors import WordsightError
from wordsight.library import Library
from wordsight.perception import read_boxes
from wordsight.records import Clip
from wordsight.states.formats import read_intervals
from wordsight.states.rules.facts import FactInterval
from wordsight.workflows.clips import names_of, noted, whole_clip

__all__ = ["BOX_ENDINGS", "LABEL_ENDINGS", "LESSONS", "labelled_clips"]

LESSONS = Path("states") / "lessons"
"""Where label files and boxes that were sent are kept, in the studio's folder."""

LABEL_ENDINGS = (".csv", ".json")
BOX_ENDINGS = (".csv", ".txt", ".json", ".xml", ".npz")


def labelled_clips(
    library: Library, videos: Sequence[str], lesson: Path
) -> list[tuple[Clip, list[FactInterval]]]:
    """Return films with what is noted of each.

    Args:
        library: Where films are.
        videos: Those of the library to take; labels may call them by id or by name.
        lesson: A folder with one file of labels and, in ``boxes``, files of boxes.

    Raises:
        WordsightError: If there is no film, nothing is noted of one, or two are called the same.
    """
    files = [path for path in sorted(lesson.glob("labels/*")) if path.is_file()]
    if not files:
        raise WordsightError("the labels are not there any more; send them again.")
    told = read_intervals(files[0])
    clips: list[tuple[Clip, tuple[str, ...]]] = []
    for path in sorted(lesson.glob("boxes/*")):
        clip = _boxed(path)
        clips.append((clip, (clip.video_id, path.stem)))
    for video in videos:
        clip = whole_clip(library, library.resolve(video))
        clips.append((clip, names_of(library, clip.video_id)))
    if not clips:
        raise WordsightError("choose films of the library, or send files of boxes.")
    ids = [clip.video_id for clip, _ in clips]
    twice = sorted({name for name in ids if ids.count(name) > 1})
    if twice:
        raise WordsightError(f"two films are called {twice[0]!r}; rename one.")
    return [(clip, noted(told, names, files[0].name)) for clip, names in clips]


def _boxed(path: Path) -> Clip:
    if path.suffix.lower() == ".npz":
        return Clip.load(path)
    seen = read_boxes(path)
    if not len(seen):
        raise WordsightError(f"{path.name} has no frames; there is nothing to learn from.")
    return Clip(path.stem, float(seen.times[0]), float(seen.times[-1]) + 1e-3, seen)
