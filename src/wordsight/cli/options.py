"""Options that many commands share, so that they are spelled and explained alike everywhere."""

from typing import Annotated

import typer

from wordsight.cli.output import Output, Style

__all__ = ["JsonFlag", "LibraryOption", "QuietFlag", "VerboseFlag", "open_output"]

DEFAULT_LIBRARY = "wordsight-library"

JsonFlag = Annotated[
    bool, typer.Option("--json", help="Print one JSON value for machines.", show_default=False)
]
QuietFlag = Annotated[
    bool,
    typer.Option("--quiet", "-q", help="Only results and errors, no progress.", show_default=False),
]
VerboseFlag = Annotated[
    bool,
    typer.Option("--verbose", "-v", help="Say more; show tracebacks.", show_default=False),
]
LibraryOption = Annotated[
    str,
    typer.Option(
        "--library",
        "-L",
        envvar="WORDSIGHT_LIBRARY",
        help="The library: a folder, or a database address such as postgresql://host/name.",
        metavar="FOLDER|URL",
    ),
]


def open_output(json: bool, quiet: bool, verbose: bool) -> Output:
    """Make the output of a command from its three flags, and remember it for errors."""
    output = Output(Style(json=json, quiet=quiet, verbose=verbose))
    _current[0] = output
    return output


def current_output() -> Output:
    """Return the output the running command opened, or a plain one."""
    return _current[0] or Output(Style())


# The command opens its output after parsing; main() reports errors in the same style.
_current: list[Output | None] = [None]
