"""Reading and writing caption files; the suffix of the file name selects the format.

To add a format, define a :class:`CaptionFormat` and list it in ``FORMATS``.
"""

import json
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from wordsight.errors import FormatError, WordsightError
from wordsight.files import write_text
from wordsight.language.captions.caption import (
    Caption,
    CaptionFormat,
    caption_on_line,
    line_error,
    lines_of,
)
from wordsight.language.captions.decoding import read_text
from wordsight.language.captions.subtitles import SRT, WEBVTT
from wordsight.language.captions.transcripts import TRANSCRIPT

__all__ = [
    "FORMATS",
    "JSONL",
    "LINES",
    "parse_captions",
    "read_captions",
    "render_captions",
    "write_captions",
]


# Plain text, one sentence per line, without times. Only empty lines are skipped: a line that begins
# with ``#`` is a sentence, too.


def _parse_lines(text: str) -> list[Caption]:
    return [
        caption_on_line(number, None, None, line)
        for number, line in enumerate(lines_of(text), start=1)
        if line.strip()
    ]


def _render_lines(captions: Sequence[Caption]) -> str:
    return "".join(caption.text.replace("\n", " ") + "\n" for caption in captions)


LINES = CaptionFormat(
    "lines", (".txt",), "plain text, one sentence per line", _parse_lines, _render_lines
)
"""Plain lines. Times are not written; line breaks inside a caption become spaces."""


# JSON Lines: one object ``{"start": 1.5, "end": 2.0, "text": "..."}`` per line. Times are optional
# and keep all their digits, unlike in the subtitle formats.


_SHAPE = 'an object such as {"start": 1.5, "end": 2.0, "text": "..."}'


def _parse_jsonl(text: str) -> list[Caption]:
    numbered = enumerate(lines_of(text), start=1)
    return [_caption(number, line) for number, line in numbered if line.strip()]


def _caption(number: int, line: str) -> Caption:
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise line_error(number, _SHAPE, line, f"it is not JSON ({error})") from error
    if not isinstance(entry, dict) or not isinstance(entry.get("text"), str):
        raise line_error(number, f'{_SHAPE} with a "text"', line, "correct the line")
    start, end = (_time(number, line, entry.get(name)) for name in ("start", "end"))
    return caption_on_line(number, start, end, entry["text"])


def _time(number: int, line: str, value: Any) -> float | None:
    # JSON's true and false are integers to Python.
    if value is None or (isinstance(value, int | float) and not isinstance(value, bool)):
        return value
    raise line_error(number, "start and end in seconds as numbers", line, "correct the line")


def _render_jsonl(captions: Sequence[Caption]) -> str:
    rows = []
    for caption in captions:
        times = {"start": caption.start, "end": caption.end} if caption.is_timed else {}
        rows.append(json.dumps({**times, "text": caption.text}, ensure_ascii=False) + "\n")
    return "".join(rows)


JSONL = CaptionFormat("jsonl", (".jsonl",), "one JSON object per line", _parse_jsonl, _render_jsonl)
"""JSON Lines, without loss; other keys of an object are ignored."""


FORMATS: dict[str, CaptionFormat] = {
    kind.name: kind for kind in (SRT, WEBVTT, LINES, JSONL, TRANSCRIPT)
}
"""All formats by name."""


def read_captions(path: str | os.PathLike[str], format: str | None = None) -> list[Caption]:
    """Read the captions of a file.

    UTF-8 and, with a byte order mark, UTF-16 and UTF-32 are recognised; anything else is read as
    Windows-1252 with a warning.

    Args:
        path: The file.
        format: A name in ``FORMATS``; by default that of the suffix.

    Returns:
        The captions in the order of the file; times of plain lines are ``None``.

    Raises:
        FormatError: If the file cannot be read or is malformed; has file and line.
    """
    name = format or _format_of(path, "read")
    return parse_captions(read_text(path), name, source=str(path))


def parse_captions(text: str, format: str, *, source: str = "the text") -> list[Caption]:
    """Read captions from text.

    Args:
        text: The content of a file.
        format: A name in ``FORMATS``.
        source: Its name in errors.

    Returns:
        The captions in their order.

    Raises:
        FormatError: If the text is malformed; has the line.
    """
    parse = _format(format).parse
    if parse is None:
        raise FormatError(f"{format} is only written; Wordsight reads {_names('read')}.")
    try:
        return parse(text)
    except FormatError as error:
        raise FormatError(f"{source}, {error}") from error


def write_captions(
    path: str | os.PathLike[str],
    captions: Iterable[Caption],
    format: str | None = None,
    *,
    overwrite: bool = False,
) -> None:
    """Write captions to a UTF-8 file, atomically.

    Subtitle formats hold whole milliseconds: times are truncated, not rounded.

    Args:
        path: The file.
        captions: The captions, in this order.
        format: A name in ``FORMATS``; by default that of the suffix.
        overwrite: Whether an existing file may be replaced.

    Raises:
        FormatError: If the format is unknown or needs times that a caption lacks.
        WordsightError: If the file exists or cannot be written.
    """
    text = render_captions(list(captions), format or _format_of(path, "write"))
    try:
        write_text(path, text, overwrite=overwrite)
    except FileExistsError as error:
        raise WordsightError(
            f"{path} exists already; choose another name or pass overwrite=True."
        ) from error
    except OSError as error:
        raise WordsightError(f"{path} cannot be written: {error.strerror or error}.") from error


def render_captions(captions: Sequence[Caption], format: str) -> str:
    """Return captions as the text of a file.

    Examples:
        >>> print(render_captions([Caption(0, 1.5, "Take a cup.")], "srt"))
        1
        00:00:00,000 --> 00:00:01,500
        Take a cup.
        <BLANKLINE>
    """
    render = _format(format).render
    if render is None:
        raise FormatError(f"{format} is only read; Wordsight writes {_names('write')}.")
    return render(captions)


def _format(name: str) -> CaptionFormat:
    if name not in FORMATS:
        raise FormatError(f"there is no caption format {name!r}; known are {', '.join(FORMATS)}.")
    return FORMATS[name]


def _format_of(path: str | os.PathLike[str], purpose: str) -> str:
    suffix = Path(path).suffix.lower()
    for name, kind in FORMATS.items():
        if suffix in kind.suffixes:
            return name
    raise FormatError(
        f"{Path(path).name!r} has no suffix of a caption format to {purpose}; use one of "
        f"{', '.join(s for kind in FORMATS.values() for s in kind.suffixes)} or name the format "
        f"({_names(purpose)})."
    )


def _names(purpose: str) -> str:
    wanted = [
        name
        for name, kind in FORMATS.items()
        if (kind.parse if purpose == "read" else kind.render) is not None
    ]
    return ", ".join(wanted)
