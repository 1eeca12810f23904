"""Alignments as rows in order of time, and written to files.

Formats: SRT, WebVTT, chapters, TSV, JSON, ELAN and Audacity labels.
"""

import json
import math
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from wordsight.alignment.belonging import Belonging
from wordsight.alignment.records import Alignment, Instructions
from wordsight.errors import FormatError, RecordError, WordsightError
from wordsight.files import write_text
from wordsight.language.captions import Caption, render_captions
from wordsight.language.captions.subtitles import milliseconds
from wordsight.language.eaf import EafAnnotation, eaf_document

__all__ = [
    "EXPORTS",
    "ExportRow",
    "as_json",
    "belonging_json",
    "check_writable",
    "export_paths",
    "line_rows",
    "render_json",
    "step_rows",
    "write_alignment",
]


@dataclass(frozen=True)
class ExportRow:
    """A time interval with its text.

    Attributes:
        start: Start in seconds.
        end: End in seconds.
        text: The line, or the first line of the step.
        step: Number of the step, counted from 1.
        line: Number of the line, or of the first line of the step, counted from 1.
        confidence: Confidence of the model, 0 to 1.
    """

    start: float
    end: float
    text: str
    step: int
    line: int
    confidence: float


def line_rows(alignment: Alignment, instructions: Instructions) -> list[ExportRow]:
    """Return every line that happened, in order of time; repeated lines have several rows.

    Times are never negative and rows never overlap, so that every player accepts them.
    """
    _check_text(alignment, instructions)
    first = instructions.lines[0].step
    spans = [span for span in alignment.spans if span.happened and span.end > span.start]
    rows = []
    clock = 0.0
    for span in sorted(spans, key=lambda span: (span.start, span.line)):
        line = instructions.lines[span.line]
        start, end = max(span.start, clock), span.end
        if end > start:
            step = line.step - first + 1
            rows.append(ExportRow(start, end, line.text, step, span.line + 1, span.confidence))
            clock = end
    return rows


def step_rows(rows: Sequence[ExportRow], instructions: Instructions) -> list[ExportRow]:
    """Merge neighbouring rows of one step; the text is that of its first line."""
    first = instructions.lines[0].step
    openers: dict[int, tuple[int, str]] = {}
    for number, line in enumerate(instructions.lines, start=1):
        openers.setdefault(line.step - first + 1, (number, line.text))
    merged: list[ExportRow] = []
    for row in rows:
        number, text = openers[row.step]
        if merged and merged[-1].step == row.step:
            merged[-1] = _merged(merged[-1], row)
        else:
            merged.append(ExportRow(row.start, row.end, text, row.step, number, row.confidence))
    return merged


def _merged(one: ExportRow, other: ExportRow) -> ExportRow:
    lengths = one.end - one.start, other.end - other.start
    mean = one.confidence * lengths[0] + other.confidence * lengths[1]
    return ExportRow(one.start, other.end, one.text, one.step, one.line, mean / sum(lengths))


def _check_text(alignment: Alignment, instructions: Instructions) -> None:
    if len(alignment.steps) != len(instructions.lines):
        raise RecordError(
            f"the alignment has {len(alignment.steps)} lines, but {instructions.name} has "
            f"{len(instructions.lines)}; give the text that was aligned."
        )


def belonging_json(belonging: Belonging) -> dict[str, Any]:
    """Return a verdict as a JSON object; numbers that are not known are ``None``.

    ``happens`` has the probability of each line that it happens, ``None`` where it is unknown.
    """
    numbers = {
        name: None if value is None else round(value, 4)
        for name in ("probability", "gain", "order", "names")
        for value in [getattr(belonging, name)]
    }
    happens = [None if math.isnan(p) else round(p, 4) for p in belonging.happens.tolist()]
    return {"verdict": belonging.verdict, **numbers, "reason": belonging.reason, "happens": happens}


def as_json(alignment: Alignment, instructions: Instructions) -> dict[str, Any]:
    """Return an alignment as a JSON object; lines and steps count from 1, times are seconds."""
    first = instructions.lines[0].step
    lines: list[dict[str, Any]] = [
        {
            "line": number,
            "step": line.step - first + 1,
            "text": line.text,
            "nouns": list(line.nouns),
            "verbs": list(line.verbs),
            "happened": False,
            "spans": [],
        }
        for number, line in enumerate(instructions.lines, start=1)
    ]
    for span in alignment.spans:
        entry = lines[span.line]
        if span.happened:
            entry["happened"] = True
            entry["spans"].append(
                {"start": span.start, "end": span.end, "confidence": round(span.confidence, 4)}
            )
        else:
            entry["confidence"] = round(span.confidence, 4)
            entry["expected_at"] = span.start
    boundaries = [
        {
            "time": boundary.time,
            "before": boundary.before + 1 if boundary.before >= 0 else None,
            "after": boundary.after + 1 if boundary.after >= 0 else None,
            "confidence": round(boundary.confidence, 4),
        }
        for boundary in alignment.boundaries
    ]
    return {
        "video": alignment.video_id,
        "text": instructions.name,
        "lines": lines,
        "boundaries": boundaries,
    }


def render_json(alignment: Alignment, instructions: Instructions) -> str:
    """Return :func:`as_json` as the text of a file."""
    value = as_json(alignment, instructions)
    return json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False) + "\n"


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
