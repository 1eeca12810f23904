"""SRT and WebVTT subtitles, and their time codes.

An SRT cue is an index, a timing line, text and an empty line. Reading tolerates what real files
contain: no index, a point before the milliseconds, missing or extra empty lines, positions after
the timing. Tags ``<i>``, ``<b>``, ``<u>`` and ``<font …>`` are dropped, others stay in the text.

In WebVTT, notes, styles, regions, cue identifiers and cue settings are skipped, tags such as
``<v Ann>`` are dropped, and character references such as ``&lt;`` are resolved.
"""

import html
import re
from collections.abc import Iterator, Sequence
from decimal import Decimal

from wordsight.language.captions.caption import (
    Caption,
    CaptionFormat,
    caption_on_line,
    line_error,
    lines_of,
    require_times,
)
from wordsight.language.captions.transcripts import without_word_cues

__all__ = ["LOOKS_LIKE_TIMING", "SRT", "WEBVTT", "clock", "milliseconds", "parse_timing"]

_CODE = r"-?(?:[0-9]{1,6}:)?[0-9]{1,2}:[0-9]{1,2}(?:[.,][0-9]{1,12})?"
_TIMING = re.compile(rf"\s*({_CODE})\s*-->\s*({_CODE})(?:\s.*)?")

LOOKS_LIKE_TIMING = re.compile(r"\s*-?[0-9]+\s*:[0-9:.,\s]*-->")
"""Matches the start of timing lines, malformed ones included."""


def milliseconds(seconds: float) -> int:
    """Return whole milliseconds, truncated.

    The decimal digits that Python prints are truncated, not the binary fraction: 1.001 s is 1001 ms
    although the nearest binary number lies below it. So times are written as they were read.
    """
    return int(Decimal(repr(float(seconds))) * 1000)


def clock(seconds: float, separator: str) -> str:
    """Format seconds as ``hh:mm:ss,mmm`` with the given decimal separator.

    Examples:
        >>> clock(3723.4569, ",")
        '01:02:03,456'
    """
    rest, thousandths = divmod(milliseconds(seconds), 1000)
    minutes, whole = divmod(rest, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours:02d}:{minutes:02d}:{whole:02d}{separator}{thousandths:03d}"


def parse_timing(line: str, number: int) -> tuple[float, float]:
    """Parse ``start --> end``; what follows is ignored.

    Args:
        line: The line, with comma or point before the milliseconds, hours and milliseconds
            optional.
        number: Its number for error messages, counting from 1.

    Returns:
        Start and end in seconds, truncated to milliseconds.

    Raises:
        FormatError: If a time is malformed, negative or out of range, or they are reversed.
    """
    match = _TIMING.fullmatch(line)
    if match is None:
        raise line_error(
            number, "a timing such as '00:01:02.500 --> 00:01:04.000'", line, "correct the line"
        )
    start, end = (_seconds_of_code(code, number) for code in match.groups())
    if start > end:
        raise line_error(
            number, "an end that is not before the start", line.strip(), "swap or correct the times"
        )
    return start, end


def _seconds_of_code(code: str, number: int) -> float:
    if code.startswith("-"):
        raise line_error(
            number, "times of 0 or later", code, "shift all times so that the first is not negative"
        )
    *hours, minutes, rest = code.split(":")
    seconds, _, fraction = rest.replace(",", ".").partition(".")
    if int(minutes) > 59 or int(seconds) > 59:
        raise line_error(number, "minutes and seconds up to 59", code, "correct the time")
    thousandths = int(fraction.ljust(3, "0")[:3])
    # One division keeps the result the nearest float to the decimal time.
    whole = (int(hours[0] if hours else 0) * 60 + int(minutes)) * 60 + int(seconds)
    return (whole * 1000 + thousandths) / 1000


_SIMPLE_TAG = re.compile(r"</?(?:[ibu]|font(?: [^<>]*)?)>", re.IGNORECASE)
_HIGHLIGHT = re.compile(r"<(u|font)(?: [^<>]*)?>[^<]{0,200}</\1>", re.IGNORECASE)


def _parse_srt(text: str) -> list[Caption]:
    lines = lines_of(text)
    timings = [index for index in range(len(lines)) if _is_timing(lines, index)]
    _require_timing_first(lines, timings)
    captions, underlined = [], []
    for place, index in enumerate(timings):
        is_last = place + 1 == len(timings)
        stop = len(lines) if is_last else _text_end(lines, index, timings[place + 1])
        written = "\n".join(lines[index + 1 : stop])
        words = _SIMPLE_TAG.sub("", written)
        start, end = parse_timing(lines[index], index + 1)
        if words.strip():  # some programs write empty cues to clear the screen
            captions.append(caption_on_line(index + 1, start, end, words))
            rest, marks = _HIGHLIGHT.subn("", written)
            underlined.append(marks > 0 and bool(rest.strip()))
    return without_word_cues(captions, underlined)


def _is_timing(lines: list[str], index: int) -> bool:
    line = lines[index]
    if "-->" not in line:
        return False
    # An arrow where a cue must begin is a timing, malformed or not; elsewhere it is text.
    return bool(LOOKS_LIKE_TIMING.match(line)) or _begins_a_cue(lines, index)


def _begins_a_cue(lines: list[str], index: int) -> bool:
    before = [line.strip() for line in lines[max(0, index - 2) : index]]
    if not before or not before[-1]:
        return True
    return _is_index(before[-1]) and (len(before) == 1 or not before[0])


def _text_end(lines: list[str], timing: int, next_timing: int) -> int:
    """Return where the text after ``timing`` ends: before the index of the next cue, if any."""
    has_index = next_timing - timing > 2 and _is_index(lines[next_timing - 1].strip())
    return next_timing - 1 if has_index else next_timing


def _is_index(line: str) -> bool:
    return line.isascii() and line.isdigit()


def _require_timing_first(lines: list[str], timings: list[int]) -> None:
    first = timings[0] if timings else len(lines)
    for number, line in enumerate(lines[:first], start=1):
        if line.strip() and not (number == first and _is_index(line.strip())):
            raise line_error(
                number,
                "an index and a timing such as '00:01:02,500 --> 00:01:04,000'",
                line,
                "remove the line, or name the format the file is in",
            )


def _render_srt(captions: Sequence[Caption]) -> str:
    cues = [
        f"{index}\n{clock(start, ',')} --> {clock(end, ',')}\n{_safe(text)}\n"
        for index, (start, end, text) in enumerate(require_times(captions, "SRT"), start=1)
    ]
    return "\n".join(cues)


def _safe(text: str) -> str:
    # SRT has no escapes; a line of text that looks like a timing would begin a cue.
    lines = text.split("\n")
    return "\n".join(
        line.replace("-->", "->") if LOOKS_LIKE_TIMING.match(line) else line for line in lines
    )


SRT = CaptionFormat(
    "srt", (".srt",), "SubRip subtitles, read by every player", _parse_srt, _render_srt
)
"""SubRip. Text is written unchanged, except for arrows in lines that look like a timing."""


_HEADER = re.compile(r"WEBVTT(?:[ \t].*)?")
_SKIPPED = re.compile(r"(?:NOTE|STYLE|REGION)(?:[ \t].*)?")
# A single "<" is text in many real files, so only complete tags are dropped.
_TAG = re.compile(r"<(?:/?[A-Za-z][^<>]*|[0-9:.]+|/)>")


def _parse_vtt(text: str) -> list[Caption]:
    lines = lines_of(text)
    if not _HEADER.fullmatch(lines[0]):
        raise line_error(1, "'WEBVTT'", lines[0], "add that line, or name the format it is in")
    captions = []
    for number, block in _blocks(lines):
        if not _SKIPPED.fullmatch(block[0]):
            captions.extend(_cue(number, block))
    return captions


def _blocks(lines: list[str]) -> Iterator[tuple[int, list[str]]]:
    """Yield the blocks of lines between empty ones after the header, with their line numbers."""
    block: list[str] = []
    in_header = True
    for number, line in enumerate([*lines, ""], start=1):
        if line and not (in_header and "-->" in line):
            block.append(line)
            continue
        if block and not in_header:
            yield number - len(block), block
        # Some writers leave out the empty line after the header.
        block, in_header = ([line] if line else []), False


def _cue(number: int, block: list[str]) -> list[Caption]:
    at = next((place for place, line in enumerate(block[:2]) if "-->" in line), None)
    if at is None:
        raise line_error(
            number,
            "a timing such as '00:01:02.500 --> 00:01:04.000'",
            block[0],
            "add one above the text, remove the empty line before it, or mark it as NOTE",
        )
    start, end = parse_timing(block[at], number + at)
    words = html.unescape(_TAG.sub("", "\n".join(block[at + 1 :])))
    if not words.strip():  # some programs write empty cues to clear the screen
        return []
    return [caption_on_line(number + at, start, end, words)]


def _render_vtt(captions: Sequence[Caption]) -> str:
    cues = [
        f"\n{clock(start, '.')} --> {clock(end, '.')}\n{html.escape(text, quote=False)}\n"
        for start, end, text in require_times(captions, "WebVTT")
    ]
    return "WEBVTT\n" + "".join(cues)


WEBVTT = CaptionFormat(
    "vtt", (".vtt", ".webvtt"), "WebVTT subtitles, played by browsers", _parse_vtt, _render_vtt
)
"""WebVTT. Text is escaped, so that ``<``, ``&`` and ``-->`` are preserved."""
