"""``add``: videos with what is said of them."""

from typing import TYPE_CHECKING

import typer

from wordsight.cli.options import DEFAULT_LIBRARY, LibraryOption, command
from wordsight.cli.output import Output
from wordsight.workflows.add import AddRequest, AddResult
from wordsight.workflows.add import add as add_videos
from wordsight.workflows.units import count

if TYPE_CHECKING:
    from wordsight.library import Failure

__all__ = ["add"]


@command(AddRequest)
def add(output: Output, request: AddRequest, library: LibraryOption = DEFAULT_LIBRARY) -> None:
    """Add videos with what is said of them; what is there already is skipped.

    The library is made if it does not exist. Interrupted? The same command goes on.
    """
    result = add_videos(library, request, progress=output)
    output.result(result, lambda out: _render(out, result))
    for failure in result.report.warnings:
        output.warn(_sentence(failure))
    for failure in result.report.failed:
        output.warn(f"not added: {_sentence(failure)}")
    if result.report.failed:
        raise typer.Exit(1)


def _render(output: Output, result: AddResult) -> None:
    report = result.report
    output.line(
        f"Added {count(len(report.added), 'video')} and "
        f"{count(report.num_sentences, 'sentence')}; {len(report.skipped)} already there, "
        f"{len(report.failed)} failed."
    )


def _sentence(failure: "Failure") -> str:
    named = failure.path in failure.message
    return failure.message if named else f"{failure.path}: {failure.message}"
