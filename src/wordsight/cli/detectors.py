"""``wordsight detectors``: which detectors there are, and fetching the networks of some."""

import sys
from typing import Annotated

import typer

from wordsight.cli.options import command
from wordsight.cli.output import Output
from wordsight.errors import WordsightError
from wordsight.workflows import detectors as workflows
from wordsight.workflows.detectors import DetectorsRequest, GetDetectorRequest
from wordsight.workflows.units import bytes_text

__all__ = ["detectors"]

detectors = typer.Typer(
    help="List detectors, and fetch the networks of those that have one.", no_args_is_help=True
)


@detectors.command("list")
@command(DetectorsRequest)
def list_detectors(output: Output, request: DetectorsRequest) -> None:
    """List the detectors: built in, installed, and to be fetched."""
    result = workflows.detectors(request, progress=output)

    def render(out: Output) -> None:
        rows = [
            (
                one.name,
                one.state,
                one.classes,
                None if one.size is None else bytes_text(one.size),
                one.licence,
                None if one.speed is None else f"{one.speed:.1f}",
                one.finds,
            )
            for one in result.detectors
        ]
        out.table(["detector", "state", "classes", "size", "licence", "frames/s", "finds"], rows)
        missing = [one.name for one in result.detectors if one.state == "to be fetched"]
        if missing:
            out.line(f"Fetch one with: wordsight detectors get {missing[-1]}")

    output.result(result, render)


@detectors.command("get")
@command(GetDetectorRequest)
def get(
    output: Output,
    request: GetDetectorRequest,
    yes: Annotated[
        bool, typer.Option("--yes", "-y", help="Do not ask.", show_default=False)
    ] = False,
) -> None:
    """Fetch the network of a detector; asks first, showing its size and licence."""
    from wordsight.perception.networks import find_network

    entry = find_network(request.name)
    output.note(
        f"{entry.network}: {entry.title}. {len(entry.classes)} classes, {bytes_text(entry.size)}, "
        f"licence {entry.licence}."
    )
    if request.source is None and not yes:
        question = f"Download {bytes_text(entry.download)} from {entry.source}?"
        if not sys.stdin.isatty():
            raise WordsightError(f"{question} Add --yes, or give the file with --from FILE.")
        typer.confirm(question, abort=True)
    result = workflows.get_detector(request, progress=output)
    output.result(
        result,
        lambda out: out.line(
            f"Kept in {result.path}. Use it with: wordsight add FOLDER --detector {entry.name}"
        ),
    )
