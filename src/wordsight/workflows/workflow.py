"""What a workflow is: a function from a request to a result, called alike from everywhere."""

import functools
import inspect
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, fields, is_dataclass, replace
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from wordsight.errors import WordsightError
from wordsight.workflows.reporter import RecordingReporter
from wordsight.workflows.settings import Request, make_request, settings_of

if TYPE_CHECKING:
    from wordsight.library import Library

__all__ = ["Result", "as_json", "open_library", "refuse_existing", "workflow"]


AnyResult = TypeVar("AnyResult")


@dataclass(frozen=True)
class Result:
    """What a workflow comes to; what it is mainly about is its first field.

    Attributes:
        warnings: Notes and warnings, in order; filled in when the workflow returns.
    """

    warnings: tuple[str, ...] = field(default=(), kw_only=True)

    def to_json(self) -> Any:
        """Return what ``--json`` prints, plain values that JSON can hold: the first field."""
        main = next(one.name for one in fields(self) if one.name != "warnings")
        return as_json(getattr(self, main))

    @property
    def ok(self) -> bool:
        """Whether all was done; a command whose result is not ok exits with 1."""
        return True


def workflow(
    request: type[Request], *, create: bool = False
) -> Callable[[Callable[..., AnyResult]], Callable[..., AnyResult]]:
    """Make a function the one implementation of a verb.

    The function takes ``(library, request, *, reporter)``, or ``(request, *, reporter)`` where no
    library is needed. Callers pass a library or where it is; then a request, or its settings, those
    that are positional in order and others by name; and ``progress``: a callback, or a reporter
    that also takes notes and warnings. ::

        @workflow(LearnRequest)
        def learn(library, request, *, reporter): ...

        learn(library, LearnRequest(restarts=3))
        learn("street-library", restarts=3, progress=print)

    Args:
        request: What the function takes.
        create: Whether a library that does not exist is made.
    """

    def decorate(function: Callable[..., AnyResult]) -> Callable[..., AnyResult]:
        takes_library = "library" in inspect.signature(function).parameters

        @functools.wraps(function)
        def run(*arguments: Any, progress: Any = None, **settings: Any) -> AnyResult:
            given = list(arguments)
            if takes_library and not given and "library" not in settings:
                raise TypeError(f"{function.__name__}() needs a library, or where it is, first.")
            place = _library_of(given, settings) if takes_library else None
            asked = _request_of(request, given, settings)
            reporter = RecordingReporter(progress)
            if place is None:
                result = function(asked, reporter=reporter)
            else:
                with open_library(place, asked if create else None) as library:
                    result = function(library, asked, reporter=reporter)
            if isinstance(result, Result):
                result = replace(result, warnings=tuple(reporter.notes))
            return result

        run.request = request  # type: ignore[attr-defined]
        run.__signature__ = _signature(request, takes_library)  # type: ignore[attr-defined]
        run.__doc__ = _documented(function.__doc__ or "", request)
        return run

    return decorate


@contextmanager
def open_library(
    library: "Library | str | PathLike[str]", create: Request | None = None
) -> "Iterator[Library]":
    """Give a library that is open; one that was opened here is closed again.

    Args:
        library: The library, or where it is.
        create: Makes the library if there is none, its files where ``artefacts`` says.
    """
    from wordsight.library import Library

    if isinstance(library, Library):
        yield library
        return
    artefacts = getattr(create, "artefacts", None)
    with Library.open(fspath(library), artefacts=artefacts, create=create is not None) as opened:
        yield opened


def as_json(value: Any) -> Any:
    """Turn records, arrays, paths and times into what JSON can hold."""
    if isinstance(value, Result):
        return value.to_json()
    if is_dataclass(value) and not isinstance(value, type):
        return as_json(asdict(value))
    if isinstance(value, dict):
        return {str(key): as_json(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [as_json(item) for item in value]
    if isinstance(value, PathLike):
        return fspath(value)
    if hasattr(value, "tolist"):
        return as_json(value.tolist())
    if hasattr(value, "isoformat"):
        return value.isoformat()
    if isinstance(value, float) and not math.isfinite(value):
        return None  # JSON has no infinity, such as the threshold of words that are never true
    return value


def _library_of(given: list[Any], settings: dict[str, Any]) -> Any:
    return given.pop(0) if given else settings.pop("library")


def _request_of(request: type[Request], given: list[Any], settings: dict[str, Any]) -> Request:
    """Return the request that was given, or make it of settings."""
    if given and isinstance(given[0], Request):
        if not isinstance(given[0], request) or len(given) > 1 or settings:
            raise TypeError(f"expected one {request.__name__} and nothing beside it.")
        return given[0]
    names = [name for name, one in settings_of(request).items() if one.setting.positional]
    if len(given) > len(names):
        raise WordsightError(
            f"{len(given)} values were given by position, but only {', '.join(names) or 'none'} "
            "can be; name the others."
        )
    return make_request(request, dict(zip(names, given, strict=False)) | settings)


def _signature(request: type[Request], takes_library: bool) -> inspect.Signature:
    """Return what ``help()`` shows: the settings as parameters."""
    kinds = inspect.Parameter
    parameters = [kinds("library", kinds.POSITIONAL_OR_KEYWORD)] if takes_library else []
    infos = settings_of(request).values()
    for one in sorted(infos, key=lambda one: not one.setting.positional):
        kind = kinds.POSITIONAL_OR_KEYWORD if one.setting.positional else kinds.KEYWORD_ONLY
        default = kinds.empty if one.required else one.default
        if default is kinds.empty and any(p.default is not kinds.empty for p in parameters):
            kind = kinds.KEYWORD_ONLY  # as Python has it: none without a default after one with it
        parameters.append(kinds(one.name, kind, default=default))
    parameters.sort(key=lambda one: one.kind)
    parameters.append(kinds("progress", kinds.KEYWORD_ONLY, default=None))
    return inspect.Signature(parameters)


def _documented(text: str, request: type[Request]) -> str:
    """Return a docstring with the settings listed."""
    rows = [f"        {one.name}: {one.help}" for one in settings_of(request).values()]
    head, _, rest = inspect.cleandoc(text).partition("\n")
    listed = "\n".join(["    Settings:", *rows, "        progress: Called with how far it is."])
    return f"{head}\n{rest}\n\n{inspect.cleandoc(listed)}\n"


def refuse_existing(*targets: Path | None, force: bool) -> None:
    """Refuse to replace files or folders that exist; called before the work begins.

    Raises:
        WordsightError: If one exists, unless ``force`` says that it may be replaced.
    """
    for target in targets:
        if target is not None and target.exists() and not force:
            raise WordsightError(f"{target} exists already; choose another name, or --force.")
