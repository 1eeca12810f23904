"""Alignments handed on: subtitles, chapters, tables, ELAN, Audacity and JSON."""

from wordsight.alignment.exports.dispatch import (
    EXPORTS,
    check_writable,
    export_paths,
    write_alignment,
)
from wordsight.alignment.exports.json_file import as_json
from wordsight.alignment.exports.rows import Row, line_rows, missing_lines, step_rows

__all__ = [
    "EXPORTS",
    "Row",
    "as_json",
    "check_writable",
    "export_paths",
    "line_rows",
    "missing_lines",
    "step_rows",
    "write_alignment",
]
