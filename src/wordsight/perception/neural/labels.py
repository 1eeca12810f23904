"""The names of a network's classes: from a text file, from JSON, or from the model's metadata."""

import ast
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from wordsight.errors import FormatError

__all__ = ["parse_names", "read_labels"]

_MOST_BYTES = 10_000_000  # a list of labels is small; anything larger is the wrong file


def read_labels(source: str | os.PathLike[str] | Sequence[str]) -> tuple[str, ...]:
    """Read the names of classes in the order of their index.

    Args:
        source: The names themselves; or a ``.json`` file with a list, an object from index to name,
            or an object that has either under ``names`` or ``id2label``; or any other text file
            with one name per line.

    Returns:
        The names.

    Raises:
        FormatError: If the file is missing or holds no such names.
    """
    if not isinstance(source, str | os.PathLike):
        return _checked([str(name) for name in source], "the labels given")
    path = Path(source)
    try:
        if path.stat().st_size > _MOST_BYTES:
            raise FormatError(f"{path} is too large for a list of labels; is it the model itself?")
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise FormatError(f"the labels {path} cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise FormatError(
            f"{path} is not text; expected one label per line, or JSON with the names."
        ) from error
    if path.suffix.lower() == ".json":
        return _from_json(text, path)
    names = [line.strip() for line in text.splitlines()]
    while names and not names[-1]:  # a blank line inside keeps its place in the count
        names.pop()
    return _checked(names, str(path))


def parse_names(text: str) -> tuple[str, ...]:
    """Read the names that exporters write into a model, ``{0: 'person', 1: 'cup'}`` or JSON.

    Raises:
        FormatError: If the text is something else.
    """
    try:
        value = json.loads(text)
    except ValueError:
        try:
            value = ast.literal_eval(text)  # reads literals only, runs nothing
        except (ValueError, SyntaxError, MemoryError, RecursionError) as error:
            raise FormatError(
                f"the model's own labels cannot be read ({text[:60]!r}); give labels=FILE."
            ) from error
    return _ordered(value, "the model's metadata")


def _from_json(text: str, path: Path) -> tuple[str, ...]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise FormatError(f"{path} is not valid JSON: {error}.") from error
    for key in ("names", "id2label"):
        if isinstance(value, dict) and isinstance(value.get(key), dict | list):
            value = value[key]
    return _ordered(value, str(path))


def _ordered(value: Any, source: str) -> tuple[str, ...]:
    if isinstance(value, dict):
        try:
            by_index = {int(index): str(name) for index, name in value.items()}
        except (TypeError, ValueError):
            by_index = {}
        # Indices may have gaps (COCO's 91 numbers for 80 classes); places in between stay unnamed.
        if by_index and min(by_index) >= 0 and max(by_index) < 100_000:
            return _checked([by_index.get(i, "") for i in range(max(by_index) + 1)], source)
    elif isinstance(value, list | tuple):
        return _checked([str(name) for name in value], source)
    raise FormatError(
        f"{source} holds no labels; expected a list of names or an object from index to name."
    )


def _checked(names: list[str], source: str) -> tuple[str, ...]:
    if not any(names):
        raise FormatError(f"{source}: no labels there; expected one name per class.")
    return tuple(name or f"class-{index}" for index, name in enumerate(names))
