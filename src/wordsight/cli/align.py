"""``align`` and ``dictionary``: written instructions timed against silent video."""

from typing import Any

from wordsight.cli.options import DEFAULT_LIBRARY, LibraryOption, command
from wordsight.cli.output import Output
from wordsight.workflows.align import AlignRequest, DictionaryRequest
from wordsight.workflows.align import align as align_video
from wordsight.workflows.align import dictionary as read_dictionary
from wordsight.workflows.units import clock, count

__all__ = ["align", "dictionary"]

_UNSURE = 0.5  # confidence below which a line is marked


@command(AlignRequest)
def align(output: Output, request: AlignRequest, library: LibraryOption = DEFAULT_LIBRARY) -> None:
    """Find when each line of written instructions happens in a silent video."""
    result = align_video(request.model_copy(update={"library": library}), progress=output)

    def render(out: Output) -> None:
        values = result.to_json()
        for value in values if isinstance(values, list) else [values]:
            _render_lines(out, value)
        for path in result.files:
            out.note(f"Wrote {path}")

    output.result(result, render)


@command(DictionaryRequest)
def dictionary(output: Output, request: DictionaryRequest) -> None:
    """Open the dictionary an aligner learned: which noun names which thing."""
    result = read_dictionary(request, progress=output)
    rows = [
        (noun, ", ".join(f"{thing} {share:.2f}" for thing, share in things.items()) or "–")
        for noun, things in result.things.items()
    ]
    output.result(result, lambda out: out.table(["noun", "things it names"], rows))


def _render_lines(output: Output, value: dict[str, Any]) -> None:
    rows = []
    for line in value["lines"]:
        for span in line["spans"] or [None]:
            when = ("–", "–") if span is None else (clock(span["start"]), clock(span["end"]))
            sure = line.get("confidence", 0.0) if span is None else span["confidence"]
            note = "did not happen" if span is None else "unsure" if sure < _UNSURE else ""
            rows.append((line["line"], line["step"], *when, f"{sure:.2f}", note, line["text"]))
    happened = sum(line["happened"] for line in value["lines"])
    output.line(f"{value['video']}: {happened} of {count(len(value['lines']), 'line')} found")
    output.table(["line", "step", "from", "to", "sure", "", "text"], rows)
