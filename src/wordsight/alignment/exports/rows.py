"""What every export writes down: the moments of lines and of whole steps, in order of time."""

from collections.abc import Sequence
from dataclasses import dataclass

from wordsight.alignment.records import Alignment, Instructions
from wordsight.errors import RecordError

__all__ = ["Row", "line_rows", "missing_lines", "step_rows"]


@dataclass(frozen=True)
class Row:
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


def line_rows(alignment: Alignment, instructions: Instructions) -> list[Row]:
    """Return every line that happened, in order of time; repeated lines come several times.

    Times are never negative and rows never overlap, so that every player takes them.
    """
    _check(alignment, instructions)
    first = instructions.lines[0].step
    spans = [span for span in alignment.spans if span.happened and span.end > span.start]
    rows = []
    clock = 0.0
    for span in sorted(spans, key=lambda span: (span.start, span.line)):
        line = instructions.lines[span.line]
        start, end = max(span.start, clock), span.end
        if end > start:
            step = line.step - first + 1
            rows.append(Row(start, end, line.text, step, span.line + 1, span.confidence))
            clock = end
    return rows


def step_rows(rows: Sequence[Row], instructions: Instructions) -> list[Row]:
    """Join neighbouring rows of one step; the text is that of the line that opens it."""
    first = instructions.lines[0].step
    openers: dict[int, tuple[int, str]] = {}
    for number, line in enumerate(instructions.lines, start=1):
        openers.setdefault(line.step - first + 1, (number, line.text))
    joined: list[Row] = []
    for row in rows:
        number, text = openers[row.step]
        if joined and joined[-1].step == row.step:
            joined[-1] = _joined(joined[-1], row)
        else:
            joined.append(Row(row.start, row.end, text, row.step, number, row.confidence))
    return joined


def missing_lines(alignment: Alignment) -> list[tuple[int, float]]:
    """Return the lines that never happened, counting from 1, each with how sure that is."""
    return [(span.line + 1, span.confidence) for span in alignment.spans if not span.happened]


def _joined(one: Row, other: Row) -> Row:
    lengths = one.end - one.start, other.end - other.start
    mean = one.confidence * lengths[0] + other.confidence * lengths[1]
    return Row(one.start, other.end, one.text, one.step, one.line, mean / sum(lengths))


def _check(alignment: Alignment, instructions: Instructions) -> None:
    if len(alignment.steps) != len(instructions.lines):
        raise RecordError(
            f"the alignment is of a text with {len(alignment.steps)} lines, but {instructions.name}"
            f" has {len(instructions.lines)}; give the text it was made with."
        )
