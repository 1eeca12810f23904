"""Checks of what is asked of a world: names, counts and numbers, refused with advice."""

import operator
from collections.abc import Sequence
from typing import SupportsIndex

from wordsight.worlds.errors import WorldError

__all__ = ["checked_count", "checked_names", "checked_number"]


def checked_count(name: str, value: SupportsIndex, *, unit: str = "film") -> int:
    """Return a whole number of 1 or more."""
    try:
        count = operator.index(value)
    except TypeError:
        count = 0
    if count < 1:
        raise WorldError(f"a world needs one {unit} or more, got {name}={value!r}.")
    return count


def checked_names(sort: str, names: Sequence[str]) -> tuple[str, ...]:
    """Return names as a tuple; none at all and a single text are refused."""
    if isinstance(names, str):
        raise WorldError(f"give {sort}s as a list of names, got the text {names!r}.")
    if not names:
        raise WorldError(f"a world needs at least one {sort}, got none.")
    return tuple(names)


def checked_number(name: str, value: float, least: float, most: float) -> float:
    """Return a number between two bounds, both included."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value <= most:
        raise WorldError(f"{name} must lie between {least:g} and {most:g}, got {value!r}.")
    return float(value)
