"""Options that many commands share, so that they are spelled and explained alike everywhere."""

import functools
import inspect
import json
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from wordsight.cli.output import Output, Style
from wordsight.errors import WordsightError

__all__ = [
    "DetectorOption",
    "LabelsOption",
    "LexiconOption",
    "LibraryOption",
    "ModelOption",
    "SettingOption",
    "detector_options",
    "speaking",
]

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

LexiconOption = Annotated[
    Path, typer.Option("--words", "-w", metavar="FOLDER", help="The learned lexicon.")
]

DetectorOption = Annotated[
    str, typer.Option("--detector", "-d", help="What finds things; `wordsight doctor` lists them.")
]
ModelOption = Annotated[
    Path | None, typer.Option(metavar="FILE", help="The model of the onnx detector.")
]
LabelsOption = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Names of the onnx model's classes.")
]
SettingOption = Annotated[
    list[str] | None,
    typer.Option("--option", metavar="NAME=VALUE", help="Any other option of the detector."),
]


def detector_options(
    detector: str, model: Path | None, labels: Path | None, settings: list[str] | None
) -> dict[str, Any]:
    """Gather what the command line says of a detector.

    Raises:
        WordsightError: If a setting is not NAME=VALUE, or the onnx detector has no model.
    """
    if detector == "onnx" and model is None:
        raise WordsightError("the onnx detector needs a model: --model FILE.onnx")
    options: dict[str, Any] = {}
    for setting in settings or []:
        name, equals, value = setting.partition("=")
        if not (name and equals):
            raise WordsightError(f"--option takes NAME=VALUE, got {setting!r}.")
        options[name.replace("-", "_")] = _value(value)
    # As text: the library writes options down as JSON, and hands them to worker processes.
    given = {"model": model, "labels": labels}
    return options | {name: str(path) for name, path in given.items() if path is not None}


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return text


def speaking(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command ``--json``, ``--quiet`` and ``--verbose``, and the output they ask for.

    The command takes an :class:`Output` first; the flags come last in its help.
    """

    @functools.wraps(command)
    def spoken(*, json: bool, quiet: bool, verbose: bool, **arguments: Any) -> None:
        output = Output(Style(json=json, quiet=quiet, verbose=verbose))
        _current[0] = output
        command(output, **arguments)

    kinds = {"json": JsonFlag, "quiet": QuietFlag, "verbose": VerboseFlag}
    flags = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=False, annotation=kind)
        for name, kind in kinds.items()
    ]
    own = list(inspect.signature(command).parameters.values())[1:]
    # Typer reads the signature for the options and the annotations for their types.
    spoken.__signature__ = inspect.Signature([*own, *flags])  # type: ignore[attr-defined]
    spoken.__annotations__ = {p.name: p.annotation for p in (*own, *flags)}
    return spoken


def current_output() -> Output:
    """Return the output the running command opened, or a plain one."""
    return _current[0] or Output(Style())


# The command opens its output after parsing; main() reports errors in the same style.
_current: list[Output | None] = [None]
