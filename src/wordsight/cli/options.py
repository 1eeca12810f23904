"""From a request to the options of a command, and the options that all commands share."""

import functools
import inspect
from collections.abc import Callable
from typing import Annotated, Any

import typer

from wordsight.cli.output import Output, Style
from wordsight.workflows.settings import Request, SettingInfo, make_request, settings_of

__all__ = [
    "LibraryOption",
    "command",
    "speaking",
    "verb",
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


def command(request: type[Request]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command the settings of a request as its arguments and options.

    The command takes an :class:`Output` and the request, then options of its own, such as
    ``library``; it also gets what :func:`speaking` gives. ::

        @command(LearnRequest)
        def learn(output: Output, request: LearnRequest, library: LibraryOption = ...): ...
    """

    def decorate(function: Callable[..., None]) -> Callable[..., None]:
        infos = {n: one for n, one in settings_of(request).items() if not one.setting.hidden}

        @functools.wraps(function)
        def parsed(output: Output, /, **values: Any) -> None:
            given = {name: values.pop(name) for name in infos}
            # What was left out is left to the request, whose defaults may be tuples or paths.
            given = {name: value for name, value in given.items() if value is not None}
            function(output, make_request(request, given, options=True), **values)

        keyword = inspect.Parameter.KEYWORD_ONLY
        _, _, *own = inspect.signature(function).parameters.values()
        first = inspect.Parameter("_output", inspect.Parameter.POSITIONAL_ONLY)
        made = [
            inspect.Parameter(name, keyword, annotation=_annotation(one), default=_default(one))
            for name, one in infos.items()
        ]
        own = [one.replace(kind=keyword) for one in own]
        # A setting may be called `output`, too.
        first = first.replace(name="_output", kind=inspect.Parameter.POSITIONAL_ONLY)
        parsed.__signature__ = inspect.Signature([first, *made, *own])  # type: ignore[attr-defined]
        return speaking(parsed)

    return decorate


def verb(workflow: Callable[..., Any]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Make a command of a workflow and of how its result is printed.

    The command has the settings of the workflow's request, and ``--library`` where it has one; the
    function below it prints the result for people, and its docstring is the help. ::

        @verb(explain_sentence)
        def explain(output: Output, result: ExplainResult) -> None: ...
    """
    request: type[Request] = workflow.request  # type: ignore[attr-defined]
    in_request = "library" in settings_of(request)
    takes_library = not in_request and "library" in inspect.signature(workflow).parameters

    def decorate(render: Callable[[Output, Any], None]) -> Callable[..., None]:
        def run(output: Output, asked: Request, library: str | None = None) -> None:
            if in_request:
                asked = asked.model_copy(update={"library": library})
            given = (library, asked) if takes_library else (asked,)
            result = workflow(*given, progress=output)
            output.result(result, lambda out: render(out, result))
            if not result.ok:
                raise typer.Exit(1)

        keyword = inspect.Parameter.KEYWORD_ONLY
        own = [inspect.Parameter(name, keyword) for name in ("output", "asked")]
        if in_request or takes_library:
            option = inspect.Parameter(
                "library", keyword, default=DEFAULT_LIBRARY, annotation=LibraryOption
            )
            own.append(option)
        run.__signature__ = inspect.Signature(own)  # type: ignore[attr-defined]
        run.__name__, run.__doc__ = render.__name__, render.__doc__
        return command(request)(run)

    return decorate


def _annotation(one: SettingInfo) -> Any:
    """Return the type of a setting with the spelling and help that Typer shows."""
    shown: Any = one.setting.default_text or (one.type is not bool and one.default is not None)
    about: dict[str, Any] = {"help": one.help, "show_default": shown, "metavar": _metavar(one)}
    if one.type in (int, float):
        about |= {"min": one.least, "max": one.most}
    kind: Any = list[one.type] if one.many else one.type  # type: ignore[name-defined]
    if one.optional or (one.many and not one.required):
        kind = kind | None
    mark = typer.Argument if one.setting.positional else typer.Option
    return Annotated[kind, mark(*one.flags, **about)]


def _metavar(one: SettingInfo) -> str | None:
    return one.setting.metavar or "|".join(one.choices) or None


def _default(one: SettingInfo) -> Any:
    if one.required:
        return inspect.Parameter.empty
    return None if one.many else one.default


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
