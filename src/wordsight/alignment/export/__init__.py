"""Export of alignments: subtitles, chapters, tables, ELAN, Audacity, JSON and plots."""

from wordsight.alignment.export.files import EXPORTS, check_writable, export_paths, write_alignment
from wordsight.alignment.export.rows import ExportRow, as_json, line_rows, step_rows

__all__ = [
    "EXPORTS",
    "ExportRow",
    "as_json",
    "check_writable",
    "export_paths",
    "line_rows",
    "step_rows",
    "write_alignment",
]
