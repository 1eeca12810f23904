"""`Caption`: a text with optional times, and what caption formats share."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from wordsight.errors import FormatError, RecordError

__all__ = ["Caption", "CaptionFormat", "caption_on_line", "line_error", "lines_of", "require_times"]


@dataclass(frozen=True)
class Caption:
    r"""One subtitle, or one sentence of a text.

    The text is normalised so that every format can hold it: white space at the ends of lines and
    empty lines are removed, every kind of line break becomes ``\n``.

    Attributes:
        start: Start in seconds; ``None`` together with ``end`` if it has no time.
        end: End in seconds; never before ``start``.
        text: The text; not empty.

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
        object.__setattr__(self, "text", _normalised(self.text))

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


def _normalised(text: str) -> str:
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


@dataclass(frozen=True)
class CaptionFormat:
    """A text format for captions.

    Attributes:
        name: Its name, such as ``"srt"``.
        suffixes: Suffixes of file names, lower case with the dot.
        about: A description in one line.
        parse: Returns the captions in the text of a file, or raises ``FormatError`` with the line;
            ``None`` for formats that are only written.
        render: Returns captions as the text of a file; ``None`` for formats that are only read.
    """

    name: str
    suffixes: tuple[str, ...]
    about: str
    parse: Callable[[str], list[Caption]] | None = None
    render: Callable[[Sequence[Caption]], str] | None = None


def lines_of(text: str) -> list[str]:
    """Split at the line ends of Unix, Windows and old Macs, and at nothing else.

    Byte order marks are removed: inside a text they are left over from joining files.
    """
    return text.replace("\ufeff", "").replace("\r\n", "\n").replace("\r", "\n").split("\n")


def line_error(number: int, expected: str, found: str, advice: str) -> FormatError:
    """Return an error about line ``number``, counting from 1."""
    shown = found if len(found) <= 60 else found[:57] + "..."
    return FormatError(f"line {number}: expected {expected}, got {shown!r}; {advice}.")


def caption_on_line(number: int, start: float | None, end: float | None, text: str) -> Caption:
    """Return a caption; errors name line ``number``."""
    try:
        return Caption(start, end, text)
    except RecordError as error:
        raise FormatError(f"line {number}: {error} Correct that line.") from error


def require_times(captions: Sequence[Caption], format_name: str) -> list[tuple[float, float, str]]:
    """Return start, end and text of each caption; all must have times."""
    timed: list[tuple[float, float, str]] = []
    for position, caption in enumerate(captions, start=1):
        if caption.start is None or caption.end is None:
            raise FormatError(
                f"{format_name} needs times, but caption {position} ({caption.text[:40]!r}) has "
                "none; write plain lines or JSONL instead."
            )
        timed.append((caption.start, caption.end, caption.text))
    return timed
