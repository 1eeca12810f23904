"""``explain``: which word of a sentence fits a video when."""

from wordsight.cli.options import DEFAULT_LIBRARY, LibraryOption, command
from wordsight.cli.output import Output
from wordsight.workflows.explain import ExplainRequest, ExplainResult
from wordsight.workflows.explain import explain as explain_sentence
from wordsight.workflows.units import clock

__all__ = ["explain"]


@command(ExplainRequest)
def explain(
    output: Output, request: ExplainRequest, library: LibraryOption = DEFAULT_LIBRARY
) -> None:
    """Say which word of a sentence fits a video when, and which one fails.

    Of a long video, where the sentence fits best.
    """
    result = explain_sentence(library, request, progress=output)
    output.result(result, lambda out: _render(out, result))


def _render(output: Output, result: ExplainResult) -> None:
    found = result.explanation
    output.line(f"{found.text}  (score {found.score:.3f})")
    output.line(found.table())
    when = ""
    if found.weakest_span is not None:
        when = f", from {clock(found.weakest_span[0])} to {clock(found.weakest_span[1])}"
    output.line(f"Weakest: {found.weakest}{when}.")
