"""The errors people see: each says what was expected, what came and what to do next."""

__all__ = [
    "FormatError",
    "LibraryError",
    "RecordError",
    "VideoError",
    "VideoWarning",
    "WordsightError",
    "pointing_at",
]

_MOST_SHOWN = 160  # characters of a line


class WordsightError(Exception):
    """Anything Wordsight refuses or fails to do, with a message meant for the user.

    The command line prints the message without a traceback and exits with 1.
    """


class RecordError(WordsightError, ValueError):
    """Values that cannot form a record: wrong shapes, times out of order, boxes inside out."""


class FormatError(WordsightError, ValueError):
    """A file that is not in the format it was taken for."""


class VideoError(WordsightError):
    """A file that cannot be read or written as video."""


class VideoWarning(UserWarning):
    """A video that is damaged but partly readable."""


class LibraryError(WordsightError):
    """A collection that is missing, damaged, too new, read-only or out of reach."""


def pointing_at(text: str, start: int, end: int) -> str:
    """Return a line with carets under the characters ``start`` to ``end``; of a long one, a part.

    Args:
        text: The line; line ends and tabs in it are shown as spaces.
        start: The first character to point at, from 0.
        end: The character after the last.
    """
    line = text.replace("\n", " ").replace("\t", " ")
    if len(line) > _MOST_SHOWN:
        first = max(0, min(start - _MOST_SHOWN // 2, len(line) - _MOST_SHOWN))
        before, after = "…" * (first > 0), "…" * (first + _MOST_SHOWN < len(line))
        line = before + line[first : first + _MOST_SHOWN] + after
        start, end = (min(place - first, _MOST_SHOWN) + len(before) for place in (start, end))
    return f"  {line}\n  {' ' * start}{'^' * max(1, end - start)}"
