"""Plain text, one sentence per line, without times.

Empty lines are skipped and nothing else is: a line that begins with ``#`` is a sentence too.
"""

from collections.abc import Sequence

from wordsight.language.captions.caption import Caption
from wordsight.language.captions.format import CaptionFormat, caption_on_line, lines_of

__all__ = ["LINES"]


def _parse(text: str) -> list[Caption]:
    return [
        caption_on_line(number, None, None, line)
        for number, line in enumerate(lines_of(text), start=1)
        if line.strip()
    ]


def _render(captions: Sequence[Caption]) -> str:
    return "".join(caption.text.replace("\n", " ") + "\n" for caption in captions)


LINES = CaptionFormat("lines", (".txt",), "plain text, one sentence per line", _parse, _render)
"""Plain lines. Times are not written, and line breaks inside a caption become spaces."""
