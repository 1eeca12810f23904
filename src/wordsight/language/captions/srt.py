"""SRT subtitles (SubRip): an index, a timing line, text, an empty line.

Reading tolerates what real files hold: no index, a point before the milliseconds, missing or extra
empty lines, positions after the timing. Simple ``<i>``, ``<b>`` and ``<u>`` marks are dropped,
other tags stay in the text.
"""

import re
from collections.abc import Sequence

from wordsight.language.captions.caption import Caption
from wordsight.language.captions.clock import LOOKS_LIKE_TIMING, clock, parse_timing
from wordsight.language.captions.format import (
    CaptionFormat,
    caption_on_line,
    line_error,
    lines_of,
    require_times,
)

__all__ = ["SRT"]

_SIMPLE_TAG = re.compile(r"</?[ibu]>", re.IGNORECASE)


def _parse(text: str) -> list[Caption]:
    lines = lines_of(text)
    timings = [index for index in range(len(lines)) if _is_timing(lines, index)]
    _refuse_text_before_timings(lines, timings)
    captions = []
    for place, index in enumerate(timings):
        is_last = place + 1 == len(timings)
        stop = len(lines) if is_last else _text_end(lines, index, timings[place + 1])
        words = _SIMPLE_TAG.sub("", "\n".join(lines[index + 1 : stop]))
        start, end = parse_timing(lines[index], index + 1)
        if words.strip():  # programs that blank the screen write cues without text
            captions.append(caption_on_line(index + 1, start, end, words))
    return captions


def _is_timing(lines: list[str], index: int) -> bool:
    line = lines[index]
    if "-->" not in line:
        return False
    # An arrow where a cue must begin is a timing even if it is malformed; elsewhere it is text.
    return bool(LOOKS_LIKE_TIMING.match(line)) or _begins_a_cue(lines, index)


def _begins_a_cue(lines: list[str], index: int) -> bool:
    before = [line.strip() for line in lines[max(0, index - 2) : index]]
    if not before or not before[-1]:
        return True
    return _is_index(before[-1]) and (len(before) == 1 or not before[0])


def _text_end(lines: list[str], timing: int, next_timing: int) -> int:
    """Return where the text after ``timing`` stops: before the index of the next cue, if any."""
    has_index = next_timing - timing > 2 and _is_index(lines[next_timing - 1].strip())
    return next_timing - 1 if has_index else next_timing


def _is_index(line: str) -> bool:
    return line.isascii() and line.isdigit()


def _refuse_text_before_timings(lines: list[str], timings: list[int]) -> None:
    first = timings[0] if timings else len(lines)
    for number, line in enumerate(lines[:first], start=1):
        if line.strip() and not (number == first and _is_index(line.strip())):
            raise line_error(
                number,
                "an index and a timing such as '00:01:02,500 --> 00:01:04,000'",
                line,
                "remove the line, or name the format the file is in",
            )


def _render(captions: Sequence[Caption]) -> str:
    cues = [
        f"{index}\n{clock(start, ',')} --> {clock(end, ',')}\n{_safe(text)}\n"
        for index, (start, end, text) in enumerate(require_times(captions, "SRT"), start=1)
    ]
    return "\n".join(cues)


def _safe(text: str) -> str:
    # SRT cannot escape anything; a line of text that reads as a timing would begin a cue.
    lines = text.split("\n")
    return "\n".join(
        line.replace("-->", "->") if LOOKS_LIKE_TIMING.match(line) else line for line in lines
    )


SRT = CaptionFormat("srt", (".srt",), "SubRip subtitles, read by every player", _parse, _render)
"""SubRip. Text is written as it is; only a line that reads like a timing has its arrow changed."""
