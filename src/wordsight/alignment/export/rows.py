"""Alignments as rows in order of time, by line and by step, and as one JSON object."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from wordsight.alignment.records import Alignment, Instructions
from wordsight.errors import RecordError

__all__ = ["ExportRow", "as_json", "line_rows", "render_json", "step_rows"]


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
