"""``detectors``, ``doctor`` and ``world``: what is there, and videos to try it on."""

import platform
import sys
from typing import Annotated

import typer

from wordsight import __version__
from wordsight.cli.options import command, verb
from wordsight.cli.output import Output
from wordsight.errors import WordsightError
from wordsight.workflows import detectors as networks
from wordsight.workflows import world as worlds
from wordsight.workflows.detectors import DetectorsResult, DoctorResult, GetDetectorRequest
from wordsight.workflows.detectors import doctor as examine
from wordsight.workflows.units import bytes_text, count
from wordsight.workflows.world import WorldResult

__all__ = ["detectors", "doctor", "world"]


detectors = typer.Typer(
    help="List detectors, and fetch the networks of those that have one.", no_args_is_help=True
)


@detectors.command("list")
@verb(networks.detectors)
def list_detectors(output: Output, result: DetectorsResult) -> None:
    """List the detectors: built in, installed, and to be fetched."""
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
    output.table(["detector", "state", "classes", "size", "licence", "frames/s", "finds"], rows)
    missing = [one.name for one in result.detectors if one.state == "to be fetched"]
    if missing:
        output.line(f"Fetch one with: wordsight detectors get {missing[-1]}")


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
    from wordsight.perception.networks import find_network, with_parts

    entry = find_network(request.name)
    size = bytes_text(sum(one.size for one in with_parts(entry)))
    output.note(
        f"{entry.network}: {entry.title}. {len(entry.classes)} classes, {size}, "
        f"licence {entry.licence}."
    )
    if request.source is None and not yes:
        question = f"Download {bytes_text(entry.download)} from {entry.source}?"
        if not sys.stdin.isatty():
            raise WordsightError(f"{question} Add --yes, or give the file with --from FILE.")
        typer.confirm(question, abort=True)
    result = networks.get_detector(request, progress=output)
    output.result(
        result,
        lambda out: out.line(
            f"Kept in {result.path}. Use it with: wordsight add FOLDER --detector {entry.name}"
        ),
    )


@verb(examine)
def doctor(output: Output, result: DoctorResult) -> None:
    """Report what is installed and which extras are missing."""
    output.line(f"Wordsight {__version__}, Python {platform.python_version()} ({sys.executable})")
    packages = sorted(result.packages, key=lambda one: (one.extra is not None, one.extra or ""))
    rows = [(one.package, one.extra or "always", one.version or "missing") for one in packages]
    output.table(["package", "needed for", "installed"], rows)
    incomplete = sorted({one.extra for one in packages if one.extra and one.version is None})
    for extra in incomplete:
        output.line(f"For [{extra}]:  pip install 'wordsight[{extra}]'")
    output.line(f"Detectors: {', '.join(result.detectors) or 'none'}")
    output.line(f"H.264 writing: {'yes' if result.h264_encoder else 'no'}")
    output.line(
        "All is well." if result.ok else "Something needed is missing: pip install wordsight"
    )


world = typer.Typer(
    no_args_is_help=True,
    help="Render videos whose truth is known, with sentences, ready for `wordsight add`.",
)


@world.command()
@verb(worlds.render_street)
def street(output: Output, result: WorldResult) -> None:
    """People outdoors pick up, put down, carry and approach things."""
    _render(output, result)


@world.command()
@verb(worlds.render_tabletop)
def tabletop(output: Output, result: WorldResult) -> None:
    """A hand plays with coloured blocks: seven events, facts for every frame."""
    _render(output, result)


@world.command()
@verb(worlds.render_workbench)
def workbench(output: Output, result: WorldResult) -> None:
    """Two hands carry out a written protocol, silently, with the mistakes you ask for."""
    _render(output, result)


def _render(output: Output, result: WorldResult) -> None:
    films, place = count(result.films, "film"), result.folder
    output.line(f"{films} in {place}; look at them with: wordsight add {place}")
