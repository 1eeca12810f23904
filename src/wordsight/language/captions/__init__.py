"""Caption files: SRT, WebVTT, plain lines and JSONL."""

from wordsight.language.captions.caption import Caption, CaptionFormat
from wordsight.language.captions.decoding import CaptionWarning
from wordsight.language.captions.files import (
    FORMATS,
    parse_captions,
    read_captions,
    render_captions,
    write_captions,
)

__all__ = [
    "FORMATS",
    "Caption",
    "CaptionFormat",
    "CaptionWarning",
    "parse_captions",
    "read_captions",
    "render_captions",
    "write_captions",
]
