"""Write docs/api.md from the docstrings: ``python docs/make_api.py``; a test keeps it current."""

import importlib
import inspect
import pkgutil
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import wordsight

PAGE = Path(__file__).with_name("api.md")
HEAD = """# API

Every public name with its first line, room by room; `help(name)` in Python has the rest.
Made by `python docs/make_api.py`, do not edit by hand.
"""
_PRIVATE_ROOMS = ("wordsight.cli", "wordsight.library.migrations")


def public_modules() -> Iterator[ModuleType]:
    """Yield the package and every module in it, migrations and command line left out."""
    yield wordsight
    for found in pkgutil.walk_packages(wordsight.__path__, "wordsight."):
        if not found.name.startswith(_PRIVATE_ROOMS):
            yield importlib.import_module(found.name)


def public_members(module: ModuleType) -> Iterator[tuple[str, object]]:
    """Yield the names of ``__all__`` that are defined in this very module."""
    for name in getattr(module, "__all__", []):
        member = getattr(module, name)
        if getattr(member, "__module__", module.__name__) == module.__name__:
            yield name, member


def page() -> str:
    """Return the text of the API page: what every room offers, not how it is divided inside."""
    parts = [HEAD]
    for module in public_modules():
        if not hasattr(module, "__path__") and module.__name__.count(".") > 1:
            continue
        rows = [
            f"- **`{_signature(name, member)}`** {_first_line(member)}"
            for name, member in _offered(module)
        ]
        if rows:
            parts.append(f"\n## `{module.__name__}`\n\n{_first_line(module)}\n\n" + "\n".join(rows))
    return "\n".join(parts) + "\n"


def _offered(module: ModuleType) -> Iterator[tuple[str, object]]:
    for name in getattr(module, "__all__", []):
        member = getattr(module, name)
        if inspect.isclass(member) or inspect.isroutine(member):
            yield name, member


def _first_line(member: object) -> str:
    return " ".join((inspect.getdoc(member) or "").split("\n\n")[0].split())


def _signature(name: str, member: object) -> str:
    if inspect.isclass(member) and getattr(member, "_is_protocol", False):
        return name
    try:
        names = list(inspect.signature(member).parameters)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return name
    return f"{name}({', '.join(n for n in names if n != 'self')})"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    print(f"wrote {PAGE.name}")
