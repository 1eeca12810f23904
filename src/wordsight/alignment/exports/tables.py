"""Alignments as tables: tab-separated values in milliseconds, and labels for Audacity."""

from collections.abc import Sequence

from wordsight.alignment.exports.rows import Row
from wordsight.language.captions.clock import milliseconds

__all__ = ["render_audacity", "render_tsv"]


def render_tsv(rows: Sequence[Row]) -> str:
    """Return a table with a header: start and end in whole milliseconds, text, step and so on.

    The first three columns are those that speech recognisers write, so that their tools read it.
    """
    lines = ["start\tend\ttext\tstep\tline\tconfidence"]
    lines += [
        f"{milliseconds(row.start)}\t{milliseconds(row.end)}\t{_cell(row.text)}\t{row.step}\t"
        f"{row.line}\t{row.confidence:.3f}"
        for row in rows
    ]
    return "\n".join(lines) + "\n"


def render_audacity(rows: Sequence[Row]) -> str:
    """Return a label track: start and end in seconds, then the label."""
    return "".join(f"{row.start:.6f}\t{row.end:.6f}\t{_cell(row.text)}\n" for row in rows)


def _cell(text: str) -> str:
    # Neither format can escape, so what would break a row becomes a space.
    return " ".join(text.split())
