"""Alignments as subtitles and chapters: SRT and WebVTT, through the caption writers."""

from collections.abc import Sequence

from wordsight.alignment.exports.rows import Row
from wordsight.language.captions import Caption, render_captions

__all__ = ["render_chapters", "render_srt", "render_vtt"]


def render_srt(rows: Sequence[Row]) -> str:
    """Return SubRip subtitles, one per line that happened."""
    return render_captions(_captions(rows), "srt")


def render_vtt(rows: Sequence[Row]) -> str:
    """Return WebVTT subtitles, one per line that happened."""
    return render_captions(_captions(rows), "vtt")


def render_chapters(steps: Sequence[Row]) -> str:
    """Return WebVTT chapters, one per step, as players show in a menu."""
    titled = [Caption(row.start, row.end, f"{row.step}. {row.text}") for row in steps]
    return render_captions(titled, "vtt")


def _captions(rows: Sequence[Row]) -> list[Caption]:
    return [Caption(row.start, row.end, row.text) for row in rows]
