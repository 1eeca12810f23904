"""WebVTT subtitles, the format browsers play.

Notes, styles, regions, cue identifiers and cue settings are skipped; tags such as ``<v Ann>`` are
dropped and ``&lt;`` and its like are turned into the characters they stand for.
"""

import html
import re
from collections.abc import Iterator, Sequence

from wordsight.language.captions.caption import Caption
from wordsight.language.captions.clock import clock, parse_timing
from wordsight.language.captions.format import (
    CaptionFormat,
    caption_on_line,
    line_error,
    lines_of,
    require_times,
)

__all__ = ["WEBVTT"]

_HEADER = re.compile(r"WEBVTT(?:[ \t].*)?")
_SKIPPED = re.compile(r"(?:NOTE|STYLE|REGION)(?:[ \t].*)?")
# A lone "<" is text in many real files, so only what has the form of a tag goes.
_TAG = re.compile(r"<(?:/?[A-Za-z][^<>]*|[0-9:.]+|/)>")


def _parse(text: str) -> list[Caption]:
    lines = lines_of(text)
    if not _HEADER.fullmatch(lines[0]):
        raise line_error(1, "'WEBVTT'", lines[0], "add that line, or name the format it is in")
    captions = []
    for number, block in _blocks(lines):
        if not _SKIPPED.fullmatch(block[0]):
            captions.extend(_cue(number, block))
    return captions


def _blocks(lines: list[str]) -> Iterator[tuple[int, list[str]]]:
    """Yield the groups of lines between empty ones after the header, with their first number."""
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
    if not words.strip():  # programs that blank the screen write cues without text
        return []
    return [caption_on_line(number + at, start, end, words)]


def _render(captions: Sequence[Caption]) -> str:
    cues = [
        f"\n{clock(start, '.')} --> {clock(end, '.')}\n{html.escape(text, quote=False)}\n"
        for start, end, text in require_times(captions, "WebVTT")
    ]
    return "WEBVTT\n" + "".join(cues)


WEBVTT = CaptionFormat(
    "vtt", (".vtt", ".webvtt"), "WebVTT subtitles, played by browsers", _parse, _render
)
"""WebVTT. Written text is escaped, so that ``<``, ``&`` and ``-->`` come back as they were."""
