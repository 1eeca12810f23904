"""Subtitles and sentences in files: SRT, WebVTT, plain lines and JSONL, read and written alike."""

from wordsight.language.captions.caption import Caption
from wordsight.language.captions.decoding import CaptionWarning
from wordsight.language.captions.dispatch import (
    FORMATS,
    parse_captions,
    read_captions,
    render_captions,
    write_captions,
)
from wordsight.language.captions.format import CaptionFormat

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
