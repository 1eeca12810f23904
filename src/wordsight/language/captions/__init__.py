"""Caption files: SRT, WebVTT, plain lines, JSONL, and JSON of speech recognisers."""

from wordsight.language.captions.caption import Caption, CaptionFormat
from wordsight.language.captions.decoding import CaptionWarning
from wordsight.language.captions.files import (
    FORMATS,
    parse_captions,
    read_captions,
    render_captions,
    write_captions,
)
from wordsight.language.captions.transcripts import looks_like_transcript

__all__ = [
    "FORMATS",
    "Caption",
    "CaptionFormat",
    "CaptionWarning",
    "looks_like_transcript",
    "parse_captions",
    "read_captions",
    "render_captions",
    "write_captions",
]
