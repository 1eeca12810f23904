"""``index``: make or update the search index."""

import typer

from wordsight.cli.options import DEFAULT_LIBRARY, LibraryOption, command
from wordsight.cli.output import Output
from wordsight.workflows.index import IndexRequest, IndexResult
from wordsight.workflows.index import index as index_library
from wordsight.workflows.units import count

__all__ = ["index"]


@command(IndexRequest)
def index(output: Output, request: IndexRequest, library: LibraryOption = DEFAULT_LIBRARY) -> None:
    """Make or update the search index; `search` also updates it when needed."""
    result = index_library(library, request, progress=output)
    output.result(result, lambda out: _render(out, result))
    if result.report.failed:
        raise typer.Exit(1)


def _render(output: Output, result: IndexResult) -> None:
    report = result.report
    output.line(
        f"Indexed {count(len(report.added), 'video')}; {len(report.unchanged)} unchanged, "
        f"{len(report.removed)} removed, {len(report.failed)} failed."
    )
    for video_id, reason in report.failed:
        output.warn(f"{video_id}: {reason}")
