"""Alignments as rows in order of time, by line and by step, and as one JSON object."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from wordsight.alignment.records import Alignment, Instructions
from wordsight.errors import RecordError

__all__ = ["ExportRow", "as_json", "line_rows", "missing_lines", "render_json", "step_rows"]


@dataclass(frozen=True)
class ExportRow:
    """A stretch of time with its text.

    Attributes:
        start: When it begins, in seconds.
        end: When it ends.
        text: The line, or the line that opens the step.
        step: Number of the step, counting from 1 as people do.
        line: Number of the line, counting from 1; of the first line for a step.
        confidence: How sure the model is, 0 to 1.
    """

    start: float
    end: float
    text: str
    step: int
    line: int
    confidence: float


def line_rows(alignment: Alignment, instructions: Instructions) -> list[ExportRow]:
    """Return every line that happened, in order of time; repeated lines come several times.

    Times are never negative and rows never overlap, so that every player takes them.
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
    """Join neighbouring rows of one step; the text is that of the line that opens it."""
    first = instructions.lines[0].step
    openers: dict[int, tuple[int, str]] = {}
    for number, line in enumerate(instructions.lines, start=1):
        openers.setdefault(line.step - first + 1, (number, line.text))
    joined: list[ExportRow] = []
    for row in rows:
        number, text = openers[row.step]
        if joined and joined[-1].step == row.step:
            joined[-1] = _joined(joined[-1], row)
        else:
            joined.append(ExportRow(row.start, row.end, text, row.step, number, row.confidence))
    return joined


def missing_lines(alignment: Alignment) -> list[tuple[int, float]]:
    """Return the lines that never happened, counting from 1, each with how sure that is."""
    return [(span.line + 1, span.confidence) for span in alignment.spans if not span.happened]


def _joined(one: ExportRow, other: ExportRow) -> ExportRow:
    lengths = one.end - one.start, other.end - other.start
    mean = one.confidence * lengths[0] + other.confidence * lengths[1]
    return ExportRow(one.start, other.end, one.text, one.step, one.line, mean / sum(lengths))


def _check_text(alignment: Alignment, instructions: Instructions) -> None:
    if len(alignment.steps) != len(instructions.lines):
        raise RecordError(
            f"the alignment is of a text with {len(alignment.steps)} lines, but {instructions.name}"
            f" has {len(instructions.lines)}; give the text it was made with."
        )


def as_json(alignment: Alignment, instructions: Instructions) -> dict[str, Any]:
    """Return an alignment as JSON can hold it; lines and steps count from 1, times are seconds."""
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
            "time": one.time,
            "before": one.before + 1 if one.before >= 0 else None,
            "after": one.after + 1 if one.after >= 0 else None,
            "confidence": round(one.confidence, 4),
        }
        for one in alignment.boundaries
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
