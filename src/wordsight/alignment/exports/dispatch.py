"""Alignments to files, whichever format they are asked in: the name of the file tells."""

import os
from collections.abc import Sequence
from pathlib import Path

from wordsight.alignment.exports.eaf import render_eaf
from wordsight.alignment.exports.json_file import render_json
from wordsight.alignment.exports.rows import line_rows, step_rows
from wordsight.alignment.exports.subtitles import render_chapters, render_srt, render_vtt
from wordsight.alignment.exports.tables import render_audacity, render_tsv
from wordsight.alignment.records import Alignment, Instructions
from wordsight.errors import FormatError, WordsightError
from wordsight.files import write_text

__all__ = ["EXPORTS", "check_writable", "export_paths", "write_alignment"]

EXPORTS: dict[str, tuple[str, str]] = {
    "srt": (".srt", "SubRip subtitles, read by every player"),
    "vtt": (".vtt", "WebVTT subtitles, and chapters beside them in .chapters.vtt"),
    "tsv": (".tsv", "a table with times in milliseconds"),
    "json": (".json", "everything, also what did not happen"),
    "eaf": (".eaf", "ELAN, with a tier for steps and one for lines"),
    "audacity": (".labels.txt", "a label track for Audacity"),
}
"""Formats by name: the ending of their files, and a line about each."""

_CHAPTERS = ".chapters.vtt"


def export_paths(
    output: str | os.PathLike[str], formats: Sequence[str] | None = None
) -> dict[Path, str]:
    """Say which files would be written.

    Args:
        output: The file; with several formats only its name without the ending counts.
        formats: Names in ``EXPORTS``, or ``all``; by default the ending of ``output`` decides.

    Returns:
        Per file the format, ``chapters`` for that of chapters.

    Raises:
        FormatError: If a format is unknown, or the ending tells none.
    """
    target = Path(output)
    names = list(formats) if formats else [_format_of(target)]
    if "all" in names:
        names = list(EXPORTS)
    paths: dict[Path, str] = {}
    for name in names:
        if name not in EXPORTS:
            raise FormatError(
                f"there is no format {name!r}; known are {', '.join(EXPORTS)} and all."
            )
        own = target.suffix.lower() in _suffixes(name)
        stem = target.with_suffix("") if target.suffix.lower() in _endings() else target
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
        output: The file; with several formats only its name without the ending counts.
        alignment: What was found.
        instructions: The text it was made with.
        formats: Names in ``EXPORTS``, or ``all``; by default the ending of ``output`` decides.
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
    renderers = {
        "srt": lambda: render_srt(rows),
        "vtt": lambda: render_vtt(rows),
        "chapters": lambda: render_chapters(steps),
        "tsv": lambda: render_tsv(rows),
        "json": lambda: render_json(alignment, instructions),
        "eaf": lambda: render_eaf(rows, steps, video=video),
        "audacity": lambda: render_audacity(rows),
    }
    for path, name in paths.items():
        try:
            write_text(path, renderers[name](), overwrite=overwrite)
        except OSError as error:
            raise WordsightError(f"{path} cannot be written: {error.strerror or error}.") from error
    return list(paths)


def check_writable(
    paths: Sequence[Path] | dict[Path, str],
    *,
    protected: Sequence[str | os.PathLike[str]] = (),
    overwrite: bool = False,
) -> None:
    """Refuse files that exist, unless ``overwrite``, and those that are inputs in any case."""
    inputs = {Path(one).resolve() for one in protected}
    for path in paths:
        if path.resolve() in inputs:
            raise WordsightError(f"{path} is what is read; give the result another name.")
        if path.exists() and not overwrite:
            raise WordsightError(f"{path} exists already; choose another name, or --force.")


def _format_of(path: Path) -> str:
    for name in EXPORTS:
        if path.suffix.lower() in _suffixes(name):
            return name
    raise FormatError(
        f"the name {path.name!r} does not tell a format; end it in {', '.join(sorted(_endings()))} "
        f"or name one with --format ({', '.join(EXPORTS)}, all)."
    )


def _suffixes(name: str) -> tuple[str, ...]:
    others = {"vtt": (".vtt", ".webvtt"), "audacity": (".txt",)}
    return others.get(name, (EXPORTS[name][0],))


def _endings() -> set[str]:
    return {suffix for name in EXPORTS for suffix in _suffixes(name)}
