"""Alignments as one JSON object with everything in it, also what did not happen."""

import json
from typing import Any

from wordsight.alignment.records import Alignment, Instructions

__all__ = ["as_json", "render_json"]


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
