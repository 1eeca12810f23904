"""Settings of workflows, declared once: options, form fields and documentation come from here.

A workflow's request is a frozen pydantic model. Each field is one setting, declared with
:func:`setting` (an option) or :func:`argument` (positional): default, limits and one sentence of
help, and where needed how the command line spells it and how a form labels it.

Nothing heavy is imported here, since the command line reads requests before it parses anything.
"""

from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from wordsight.errors import WordsightError

__all__ = [
    "Request",
    "Setting",
    "SettingInfo",
    "argument",
    "changed",
    "make_request",
    "setting",
    "settings_of",
]

AnyRequest = TypeVar("AnyRequest", bound="Request")


class Request(BaseModel):
    """What a workflow is asked to do; its fields are the settings."""

    model_config = ConfigDict(frozen=True, extra="forbid", protected_namespaces=())


@dataclass(frozen=True)
class Setting:
    """How a setting is spelled and shown.

    Attributes:
        flags: Spellings on the command line; ``--field-name`` if empty.
        metavar: What stands for the value in help; its type if ``None``.
        positional: Whether it is given by position, on the command line and in Python.
        label: What a form calls it; the field's name in words if ``None``.
        default_text: What help and forms show in place of the default.
        titles: Per choice what a form calls it.
        hidden: Whether only Python has it.
    """

    flags: tuple[str, ...] = ()
    metavar: str | None = None
    positional: bool = False
    label: str | None = None
    default_text: str | None = None
    titles: Mapping[str, str] | None = None
    hidden: bool = False


def setting(
    default: Any,
    help: str,
    *flags: str,
    metavar: str | None = None,
    label: str | None = None,
    default_text: str | None = None,
    titles: Mapping[str, str] | None = None,
    positional: bool = False,
    hidden: bool = False,
    **limits: Any,
) -> Any:
    """Declare a setting.

    Args:
        default: Its default, or a function that returns it; ``...`` if it must be given.
        help: One plain sentence on what it does.
        flags: How the command line spells it, if not ``--field-name``.
        metavar: What stands for its value in the help of the command line.
        label: What a form calls it.
        default_text: What help and forms show in place of the default.
        titles: Per choice what a form calls it.
        positional: Whether it is given by position.
        hidden: Whether only Python has it.
        limits: As pydantic takes them: ``ge``, ``le``, ``gt``, ``lt``, ``max_length``, ``pattern``.
    """
    usual = {"default_factory": default} if callable(default) else {"default": default}
    info: FieldInfo = Field(**usual, description=help, **limits)
    info.metadata.append(Setting(flags, metavar, positional, label, default_text, titles, hidden))
    return info


def argument(
    help: str,
    *,
    metavar: str,
    default: Any = ...,
    label: str | None = None,
    default_text: str | None = None,
    **limits: Any,
) -> Any:
    """Declare a setting that is given by position; see :func:`setting`."""
    return setting(
        default,
        help,
        metavar=metavar,
        label=label,
        default_text=default_text,
        positional=True,
        **limits,
    )


def changed(request: type[Request], name: str, **changes: Any) -> Any:
    """Declare a setting as another request does, but for its default or some limits.

    Args:
        request: The other request.
        name: The setting there.
        changes: ``default``, or limits as :func:`setting` takes them.
    """
    known = request.model_fields[name]
    if "default" not in changes and known.default_factory is not None:
        changes["default_factory"] = known.default_factory
    elif "default" not in changes:
        changes["default"] = ... if known.is_required() else known.default
    info: FieldInfo = Field(description=known.description, **changes)
    replaced = {type(one) for one in info.metadata}
    info.metadata.extend(copy(one) for one in known.metadata if type(one) not in replaced)
    return info


@dataclass(frozen=True)
class SettingInfo:
    """A setting as command line, forms and documentation read it.

    Attributes:
        name: Name of the field.
        type: Its type without ``None``; of several values, the type of one.
        many: Whether it takes several values.
        optional: Whether ``None`` is a value.
        required: Whether it must be given.
        default: Its default.
        help: What it does.
        choices: The values it may take, if only some.
        least: The smallest value, if any.
        most: The largest value, if any.
        setting: How it is spelled and shown.
    """

    name: str
    type: type
    many: bool
    optional: bool
    required: bool
    default: Any
    help: str
    choices: tuple[str, ...]
    least: float | None
    most: float | None
    setting: Setting

    @property
    def flags(self) -> tuple[str, ...]:
        """How the command line spells it; empty where it is positional."""
        if self.setting.positional:
            return ()
        return self.setting.flags or (f"--{self.name.replace('_', '-')}",)

    @property
    def label(self) -> str:
        """What a form calls it."""
        return self.setting.label or self.name.replace("_", " ").capitalize()

    @property
    def menu(self) -> tuple[tuple[str, str], ...]:
        """The keys and titles of a form's menu; empty where the setting is no choice."""
        titles = self.setting.titles or {choice: choice for choice in self.choices}
        left_out = {"": self.setting.default_text or "default"} if titles and self.optional else {}
        return tuple((left_out | dict(titles)).items())

    @staticmethod
    def key(value: Any) -> str:
        """Return what stands for a value in a form's menu."""
        return (
            "" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
        )

    @property
    def spelling(self) -> str:
        """What messages of the command line call it."""
        if self.setting.positional:
            return self.setting.metavar or self.name.upper()
        return next((flag for flag in self.flags if flag.startswith("--")), self.flags[0])


def settings_of(request: type[BaseModel]) -> dict[str, SettingInfo]:
    """Return the settings of a request by name, in the order they are declared."""
    return {name: _described(name, info) for name, info in request.model_fields.items()}


def make_request(
    request: type[AnyRequest], values: Mapping[str, Any], *, options: bool = False
) -> AnyRequest:
    """Make a request of values that may be wrong.

    Args:
        request: The request.
        values: A value for each setting that is not left at its default.
        options: Whether messages name settings as the command line spells them.

    Raises:
        WordsightError: If a value is not one the setting takes, or there is no such setting.
    """
    known = settings_of(request)
    given = {
        name: (value,) if name in known and known[name].many and _is_one(value) else value
        for name, value in values.items()
    }
    try:
        return request(**given)
    except ValidationError as error:
        raise WordsightError(_message(request, error, options)) from None


def _is_one(value: Any) -> bool:
    return isinstance(value, str | PathLike)


def _described(name: str, info: FieldInfo) -> SettingInfo:
    kind, many, optional = _unwrapped(info.annotation)
    choices = tuple(map(str, get_args(kind))) if get_origin(kind) is Literal else ()
    limits = {type(one).__name__: one for one in info.metadata}
    # Limits that are not values themselves (gt, lt) are left to the request to check.
    least, most = limits.get("Ge"), limits.get("Le")
    return SettingInfo(
        name,
        str if choices else kind,
        many,
        optional,
        info.is_required(),
        None if info.default is PydanticUndefined else info.default,
        info.description or "",
        choices,
        None if least is None else least.ge,
        None if most is None else most.le,
        next((one for one in info.metadata if isinstance(one, Setting)), Setting()),
    )


def _unwrapped(kind: Any) -> tuple[Any, bool, bool]:
    """Return a type without ``None`` and without the sequence around it, and whether it had any."""
    optional = get_origin(kind) in (Union, UnionType)
    if optional:
        kept = [one for one in get_args(kind) if one is not NoneType]
        kind = kept[0]
    many = get_origin(kind) in (tuple, list)
    return (get_args(kind)[0] if many else kind), many, optional


def _message(request: type[Request], error: ValidationError, options: bool) -> str:
    """Say in one line what is wrong with the first wrong value."""
    known, wrong = settings_of(request), error.errors()[0]
    name = str(wrong["loc"][0]) if wrong["loc"] else ""
    if name not in known:
        if wrong["type"] == "extra_forbidden":
            return f"there is no setting {name!r}; there are {', '.join(known)}."
        return str(wrong["msg"]).removeprefix("Value error, ")
    spelled = known[name].spelling if options else name
    if wrong["type"] == "missing":
        return f"{spelled} is missing: {known[name].help}"
    what = wrong["msg"].removeprefix("Input should be ").removeprefix("Value error, ")
    value = wrong["input"]
    shown = str(value) if isinstance(value, Path) else repr(value)
    if what == wrong["msg"]:
        return f"{spelled}: {what[:1].lower()}{what[1:]}, got {shown}."
    return f"{spelled} should be {what}, got {shown}."
