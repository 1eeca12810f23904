"""Validation of a world's arguments, and the random generators of its films."""

import hashlib
import operator
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from types import MappingProxyType
from typing import NoReturn, SupportsIndex, TypeVar

import numpy as np

from wordsight.errors import WordsightError

__all__ = [
    "Registry",
    "Rng",
    "WorldError",
    "film_rng",
    "pick",
    "require_count",
    "require_names",
    "require_number",
]

Item = TypeVar("Item")


class WorldError(WordsightError, ValueError):
    """A world cannot be rendered as asked: unknown names, numbers out of range, folder in use."""


def require_count(name: str, value: SupportsIndex, *, unit: str = "film") -> int:
    """Return ``value`` as a whole number of at least 1."""
    try:
        count = operator.index(value)
    except TypeError:
        count = 0
    if count < 1:
        raise WorldError(f"a world needs one {unit} or more, got {name}={value!r}.")
    return count


def require_names(kind: str, names: Sequence[str]) -> tuple[str, ...]:
    """Return the names as a tuple; an empty list and a single string are refused."""
    if isinstance(names, str):
        raise WorldError(f"give {kind}s as a list of names, got the text {names!r}.")
    if not names:
        raise WorldError(f"a world needs at least one {kind}, got none.")
    return tuple(names)


def require_number(name: str, value: float, least: float, most: float) -> float:
    """Return a number between two bounds, both included."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value <= most:
        raise WorldError(f"{name} must lie between {least:g} and {most:g}, got {value!r}.")
    return float(value)


class Registry(dict[str, Item]):
    """The objects, actions or places of a world by name, in the order they were added.

    Args:
        kind: What the items are, in one word, for messages: ``place``.
        items: The items to begin with.

    Examples:
        >>> places = Registry("place", {"park": 1})
        >>> places["prak"]
        Traceback (most recent call last):
            ...
        wordsight.worlds.checks.WorldError: there is no place 'prak'; did you mean park?
    """

    def __init__(self, kind: str, items: Mapping[str, Item] = MappingProxyType({})) -> None:
        super().__init__(items)
        self.kind = kind

    def __missing__(self, name: str) -> NoReturn:
        near = get_close_matches(str(name), self, n=3, cutoff=0.5)
        advice = f"did you mean {' or '.join(near)}?" if near else f"there are {', '.join(self)}."
        raise WorldError(f"there is no {self.kind} {name!r}; {advice}")

    def add(self, name: str, item: Item) -> Item:
        """Register ``item`` under a new name and return it."""
        if name in self:
            raise WorldError(f"there is a {self.kind} {name!r} already; choose another name.")
        self[name] = item
        return item

    def check(self, names: Iterable[str]) -> tuple[str, ...]:
        """Return the names as a tuple if all are known."""
        names = tuple(names)
        for name in names:
            self[name]
        return names


Option = TypeVar("Option")

Rng = np.random.Generator


def film_rng(random_state: int, world: str, index: int, purpose: str = "script") -> Rng:
    """Return the random generator of one film for one purpose.

    Film 7 is the same whether ten films are made or a thousand, and what a film looks like can
    change without changing what happens in it.

    Args:
        random_state: The seed of the whole world, 0 or more.
        world: The world's name.
        index: Number of the film, counting from 0.
        purpose: What is drawn: ``script``, ``camera``, ``picture``, ...
    """
    try:
        seed = operator.index(random_state)
    except TypeError:
        seed = -1
    if seed < 0:
        raise WorldError(f"random_state must be a whole number of 0 or more, got {random_state!r}.")
    digest = hashlib.sha256(f"{world}/{purpose}".encode()).digest()
    # Read in a fixed byte order, so that machines agree.
    words = np.frombuffer(digest[:8], dtype="<u4").astype(int)
    return np.random.default_rng([seed, index, *words.tolist()])


def pick(options: Sequence[Option], rng: Rng) -> Option:
    """Draw one of several options, each with the same probability."""
    return options[int(rng.integers(len(options)))]
