"""`Caption`: a piece of text that may be bound to a stretch of time."""

import math
from dataclasses import dataclass

from wordsight.errors import RecordError

__all__ = ["Caption"]


@dataclass(frozen=True)
class Caption:
    r"""One subtitle, or one sentence of a text.

    The text is tidied so that every format can hold it: lines lose the white space at their ends,
    empty lines go, every kind of line break becomes ``\n``.

    Attributes:
        start: When it appears, in seconds; ``None`` together with ``end`` if it has no time.
        end: When it has gone, in seconds; never before ``start``.
        text: What it says; not empty.

    Raises:
        RecordError: If a time is negative, not finite or alone, if they are reversed, or if the
            text is empty or holds a character no file can hold.

    Examples:
        >>> Caption(1, 2.5, "  Take a cup. ")
        Caption(start=1.0, end=2.5, text='Take a cup.')
    """

    start: float | None
    end: float | None
    text: str

    def __post_init__(self) -> None:
        start, end = _checked_times(self.start, self.end)
        object.__setattr__(self, "start", start)
        object.__setattr__(self, "end", end)
        object.__setattr__(self, "text", _tidied(self.text))

    @property
    def is_timed(self) -> bool:
        """Whether it has a start and an end."""
        return self.start is not None


def _checked_times(
    start: float | None, end: float | None
) -> tuple[float, float] | tuple[None, None]:
    if start is None and end is None:
        return None, None
    if start is None or end is None:
        raise RecordError(
            f"a caption needs both a start and an end, or neither, got {start} to {end}."
        )
    start, end = _seconds(start), _seconds(end)
    if start > end:
        raise RecordError(f"a caption must not end before it starts, got {start} to {end} s.")
    return start, end


def _seconds(time: float) -> float:
    try:
        seconds = float(time)
    except OverflowError:
        seconds = math.inf
    if not (math.isfinite(seconds) and seconds >= 0):
        raise RecordError(f"a caption's times must be 0 s or later, got {time}.")
    return seconds


def _tidied(text: str) -> str:
    # A byte order mark in the middle of a text is left over from joining files.
    lines = (line.strip() for line in text.replace("\ufeff", "").splitlines())
    tidy = "\n".join(line for line in lines if line)
    if not tidy:
        raise RecordError("a caption needs some text, got none.")
    if "\0" in tidy or any("\ud800" <= letter <= "\udfff" for letter in tidy):
        raise RecordError(
            f"the text {tidy[:60]!a} holds a character that no file can hold (NUL or half a "
            "character); remove it."
        )
    return tidy
