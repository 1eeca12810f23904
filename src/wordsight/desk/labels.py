"""What somebody noted of a film, whether they call it by its id or by its file."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from wordsight.errors import WordsightError
from wordsight.library import Library

__all__ = ["names_of", "noted"]

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
