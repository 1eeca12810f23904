"""JSON Lines: one object ``{"start": 1.5, "end": 2.0, "text": "..."}`` per line.

The times may be left out; they keep all their digits, unlike in the subtitle formats.
"""

import json
from collections.abc import Sequence
from typing import Any

from wordsight.language.captions.caption import Caption
from wordsight.language.captions.format import (
    CaptionFormat,
    caption_on_line,
    line_error,
    lines_of,
)

__all__ = ["JSONL"]

_SHAPE = 'an object such as {"start": 1.5, "end": 2.0, "text": "..."}'


def _parse(text: str) -> list[Caption]:
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


def _render(captions: Sequence[Caption]) -> str:
    rows = []
    for caption in captions:
        times = {"start": caption.start, "end": caption.end} if caption.is_timed else {}
        rows.append(json.dumps({**times, "text": caption.text}, ensure_ascii=False) + "\n")
    return "".join(rows)


JSONL = CaptionFormat("jsonl", (".jsonl",), "one JSON object per line", _parse, _render)
"""JSON Lines. Everything comes back exactly; other keys of an object are ignored."""
