"""Alignments written to files: SRT, WebVTT, chapters, TSV, JSON, ELAN and Audacity labels."""

import os
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path

from wordsight.alignment.export.rows import ExportRow, line_rows, render_json, step_rows
from wordsight.alignment.records import Alignment, Instructions
from wordsight.errors import FormatError, WordsightError
from wordsight.files import write_text
from wordsight.language.captions import Caption, render_captions
from wordsight.language.captions.subtitles import milliseconds
from wordsight.language.eaf import EafAnnotation, eaf_document

__all__ = ["EXPORTS", "check_writable", "export_paths", "write_alignment"]

EXPORTS: dict[str, tuple[str, str]] = {
    "srt": (".srt", "SubRip subtitles, read by every player"),
    "vtt": (".vtt", "WebVTT subtitles, and chapters beside them in .chapters.vtt"),
    "tsv": (".tsv", "a table with times in milliseconds"),
    "json": (".json", "everything, also what did not happen"),
    "eaf": (".eaf", "ELAN, with a tier for steps and one for lines"),
    "audacity": (".labels.txt", "a label track for Audacity"),
}
"""Formats by name: the suffix of their files and a short description."""

_CHAPTERS = ".chapters.vtt"
_OTHER_SUFFIXES = {"vtt": (".vtt", ".webvtt"), "audacity": (".txt",)}
_SUFFIXES = {name: _OTHER_SUFFIXES.get(name, (suffix,)) for name, (suffix, _) in EXPORTS.items()}
_ALL_SUFFIXES = {suffix for suffixes in _SUFFIXES.values() for suffix in suffixes}


def export_paths(
    output: str | os.PathLike[str], formats: Sequence[str] | None = None
) -> dict[Path, str]:
    """Return the files that would be written, each with its format.

    Args:
        output: The file; with several formats its name without the suffix is used.
        formats: Names in ``EXPORTS``, or ``all``; by default the suffix of ``output`` decides.

    Returns:
        Per file the name of its format; ``chapters`` for the chapters beside WebVTT.

    Raises:
        FormatError: If a format is unknown, or the suffix does not name one.
    """
    target = Path(output)
    names = list(formats) if formats else [_format_of(target)]
    if "all" in names:
        names = list(EXPORTS)
    paths: dict[Path, str] = {}
    for name in names:
        if name not in EXPORTS:
            raise FormatError(f"unknown format {name!r}; known are {', '.join(EXPORTS)} and all.")
        own = target.suffix.lower() in _SUFFIXES[name]
        stem = target.with_suffix("") if target.suffix.lower() in _ALL_SUFFIXES else target
        paths[target if own else stem.with_name(stem.name + EXPORTS[name][0])] = name
        if name == "vtt":
            paths[stem.with_name(stem.name + _CHAPTERS)] = "chapters"
    return paths


def write_alignment(
    output: str | os.PathLike[str],
    alignment: Alignment,
    instructions: Instructions,
    formats: Sequence[str] | None = None,
    *,
    video: str | os.PathLike[str] | None = None,
    protected: Sequence[str | os.PathLike[str]] = (),
    overwrite: bool = False,
) -> list[Path]:
    """Write an alignment, each file atomically.

    Args:
        output: The file; with several formats its name without the suffix is used.
        alignment: The alignment.
        instructions: The text that was aligned.
        formats: Names in ``EXPORTS``, or ``all``; by default the suffix of ``output`` decides.
        video: The video, for formats that link it.
        protected: Files that are never overwritten: the text and the video.
        overwrite: Whether other existing files may be replaced.

    Returns:
        The files written.

    Raises:
        FormatError: If a format is unknown.
        WordsightError: If a file exists already, is protected or cannot be written.
    """
    paths = export_paths(output, formats)
    check_writable(paths, protected=protected, overwrite=overwrite)
    rows = line_rows(alignment, instructions)
    steps = step_rows(rows, instructions)
    titles = [f"{row.step}. {row.text}" for row in steps]
    renderers = {
        "srt": lambda: _captions(rows, [row.text for row in rows], "srt"),
        "vtt": lambda: _captions(rows, [row.text for row in rows], "vtt"),
        "chapters": lambda: _captions(steps, titles, "vtt"),
        "tsv": lambda: _tsv(rows),
        "json": lambda: render_json(alignment, instructions),
        "eaf": lambda: _eaf(rows, steps, titles, video),
        "audacity": lambda: _audacity(rows),
    }
    for path, name in paths.items():
        try:
            write_text(path, renderers[name](), overwrite=overwrite)
        except OSError as error:
            raise WordsightError(f"{path} cannot be written: {error.strerror or error}.") from error
    return list(paths)


def check_writable(
    paths: Iterable[Path],
    *,
    protected: Sequence[str | os.PathLike[str]] = (),
    overwrite: bool = False,
) -> None:
    """Refuse paths that are inputs, and existing files unless ``overwrite``."""
    inputs = {Path(path).resolve() for path in protected}
    for path in paths:
        if path.resolve() in inputs:
            raise WordsightError(f"{path} is an input; give the output another name.")
        if path.exists() and not overwrite:
            raise WordsightError(f"{path} exists already; choose another name, or --force.")


def _format_of(path: Path) -> str:
    for name, suffixes in _SUFFIXES.items():
        if path.suffix.lower() in suffixes:
            return name
    raise FormatError(
        f"the suffix of {path.name!r} does not name a format; use one of "
        f"{', '.join(sorted(_ALL_SUFFIXES))}, or --format ({', '.join(EXPORTS)}, all)."
    )


def _captions(rows: Sequence[ExportRow], texts: Sequence[str], kind: str) -> str:
    pairs = zip(rows, texts, strict=True)
    return render_captions([Caption(row.start, row.end, text) for row, text in pairs], kind)


def _tsv(rows: Sequence[ExportRow]) -> str:
    """Return a table whose first three columns are those that speech recognisers write."""
    lines = ["start\tend\ttext\tstep\tline\tconfidence"]
    lines += [
        f"{milliseconds(row.start)}\t{milliseconds(row.end)}\t{_cell(row.text)}\t{row.step}\t"
        f"{row.line}\t{row.confidence:.3f}"
        for row in rows
    ]
    return "\n".join(lines) + "\n"


def _audacity(rows: Sequence[ExportRow]) -> str:
    return "".join(f"{row.start:.6f}\t{row.end:.6f}\t{_cell(row.text)}\n" for row in rows)


def _cell(text: str) -> str:
    # Neither format can escape characters, so whatever would break a row becomes a space.
    return " ".join(text.split())


def _eaf(
    rows: Sequence[ExportRow],
    steps: Sequence[ExportRow],
    titles: Sequence[str],
    video: str | os.PathLike[str] | None,
) -> str:
    def tier(rows: Sequence[ExportRow], texts: Iterable[str]) -> list[EafAnnotation]:
        pairs = zip(rows, texts, strict=True)
        return [(milliseconds(row.start), milliseconds(row.end), text) for row, text in pairs]

    tiers = {
        "steps": tier(steps, titles),
        "lines": tier(rows, (row.text for row in rows)),
        "confidence": tier(rows, (f"{row.confidence:.2f}" for row in rows)),
    }
    return eaf_document(tiers, date=datetime.now(UTC).isoformat(timespec="seconds"), video=video)
