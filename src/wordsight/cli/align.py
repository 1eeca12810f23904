"""``align`` and ``dictionary``: written instructions timed against silent video."""

from typing import Any

from wordsight.cli.options import verb
from wordsight.cli.output import Output
from wordsight.workflows.align import AlignResult, DictionaryResult
from wordsight.workflows.align import align as align_video
from wordsight.workflows.align import dictionary as read_dictionary
from wordsight.workflows.units import clock, count

__all__ = ["align", "dictionary"]

_UNSURE = 0.5  # confidence below which a line is marked
_VERDICTS = {
    "belongs": "The text belongs to this video",
    "doubtful": "It is doubtful whether the text belongs to this video",
    "does not belong": "The text does not seem to belong to this video",
    "cannot tell": "It cannot be judged whether the text belongs to this video",
}


@verb(align_video)
def align(output: Output, result: AlignResult) -> None:
    """Find when each line of written instructions happens in a silent video."""
    values = result.to_json()
    for value in values if isinstance(values, list) else [values]:
        _render_lines(output, value)
    for path in result.files:
        output.note(f"Wrote {path}")


@verb(read_dictionary)
def dictionary(output: Output, result: DictionaryResult) -> None:
    """Open the dictionary an aligner learned: which noun names which thing."""
    rows = [
        (noun, ", ".join(f"{thing} {share:.2f}" for thing, share in things.items()) or "–")
        for noun, things in result.things.items()
    ]
    output.table(["noun", "things it names"], rows)


def _render_lines(output: Output, value: dict[str, Any]) -> None:
    rows = []
    belongs = value["belongs"]
    judged = any(chance is not None for chance in belongs["happens"])
    for line, chance in zip(value["lines"], belongs["happens"], strict=True):
        doubt = "cannot tell" if judged and chance is None else ""
        for span in line["spans"] or [None]:
            when = ("–", "–") if span is None else (clock(span["start"]), clock(span["end"]))
            sure = line.get("confidence", 0.0) if span is None else span["confidence"]
            note = "did not happen" if span is None else "unsure" if sure < _UNSURE else doubt
            rows.append((line["line"], line["step"], *when, f"{sure:.2f}", note, line["text"]))
    happened = sum(line["happened"] for line in value["lines"])
    output.line(f"{value['video']}: {happened} of {count(len(value['lines']), 'line')} found")
    output.line(f"{_VERDICTS[belongs['verdict']]}: {belongs['reason']}")
    sure = "sure" if belongs["verdict"] == "belongs" else "sure, if it belongs"
    output.table(["line", "step", "from", "to", sure, "", "text"], rows)
    if "compared" in value:
        output.table(["model", "sure", "agrees", "steps start at"], _model_rows(value["compared"]))


def _model_rows(compared: list[dict[str, Any]]) -> list[tuple[str, str, str, str]]:
    """Return a row for each model; agreement is with the first one."""
    return [
        (row["model"], "–", "–", row["error"])
        if row["error"]
        else (
            row["model"],
            f"{row['confidence']:.2f}",
            f"{row['agreement']:.2f}",
            "  ".join("–" if start is None else clock(start) for start in row["starts"]),
        )
        for row in compared
    ]
