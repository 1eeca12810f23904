"""Export of alignments: subtitles, chapters, tables, ELAN, Audacity, JSON and plots."""

from wordsight.alignment.export.files import (
    EXPORTS,
    ExportRow,
    as_json,
    belonging_json,
    check_writable,
    export_paths,
    line_rows,
    step_rows,
    write_alignment,
)

__all__ = [
    "EXPORTS",
    "ExportRow",
    "as_json",
    "belonging_json",
    "check_writable",
    "export_paths",
    "line_rows",
    "step_rows",
    "write_alignment",
]
