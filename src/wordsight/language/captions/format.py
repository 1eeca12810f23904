"""What a caption format must offer, and the error its parsers share.

A new format is one file that defines a `CaptionFormat`, and one line in ``dispatch.py``.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from wordsight.errors import FormatError, RecordError
from wordsight.language.captions.caption import Caption

__all__ = ["CaptionFormat", "caption_on_line", "line_error", "lines_of", "require_times"]


@dataclass(frozen=True)
class CaptionFormat:
    """One way to keep captions in a text file.

    Attributes:
        name: What users call it, such as ``"srt"``.
        suffixes: Endings of file names that mean it, lower case with the dot.
        about: One line for people who choose a format.
        parse: Takes the text of a file and gives its captions, or raises ``FormatError`` naming
            the line; ``None`` for formats that are only written.
        render: Takes captions and gives the text of a file; ``None`` for those only read.
    """

    name: str
    suffixes: tuple[str, ...]
    about: str
    parse: Callable[[str], list[Caption]] | None = None
    render: Callable[[Sequence[Caption]], str] | None = None


def lines_of(text: str) -> list[str]:
    """Split at the line ends of Unix, Windows and old Macs, and at nothing else.

    Byte order marks go: inside a text they are left over from joining files.
    """
    return text.replace("\ufeff", "").replace("\r\n", "\n").replace("\r", "\n").split("\n")


def line_error(number: int, expected: str, found: str, advice: str) -> FormatError:
    """Word an error about line ``number``, counting from 1."""
    shown = found if len(found) <= 60 else found[:57] + "..."
    return FormatError(f"line {number}: expected {expected}, got {shown!r}; {advice}.")


def caption_on_line(number: int, start: float | None, end: float | None, text: str) -> Caption:
    """Make a caption, blaming line ``number`` if it cannot be one."""
    try:
        return Caption(start, end, text)
    except RecordError as error:
        raise FormatError(f"line {number}: {error} Correct that line.") from error


def require_times(captions: Sequence[Caption], format_name: str) -> list[tuple[float, float, str]]:
    """Return start, end and text of each caption, or say which one has no times."""
    timed: list[tuple[float, float, str]] = []
    for position, caption in enumerate(captions, start=1):
        if caption.start is None or caption.end is None:
            raise FormatError(
                f"{format_name} needs times, but caption {position} ({caption.text[:40]!r}) has "
                "none; write plain lines or JSONL instead."
            )
        timed.append((caption.start, caption.end, caption.text))
    return timed
