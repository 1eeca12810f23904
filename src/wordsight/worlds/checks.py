"""The error people see when a world cannot be made as asked."""

import operator
from collections.abc import Iterable, Iterator, Sequence
from difflib import get_close_matches
from typing import Generic, SupportsIndex, TypeVar

from wordsight.errors import WordsightError

__all__ = ["Registry", "WorldError", "checked_count", "checked_names", "checked_number"]


class WorldError(WordsightError, ValueError):
    """A world that cannot be made or asked about like this: unknown names, no clips, no room."""


# MERGED FROM wordsight.worlds.checks:
# Checks of what is asked of a world: names, counts and numbers, refused with advice.


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


# MERGED FROM wordsight.worlds.checks:
# `Registry`: the objects, actions and places of a world by name.
#
# Adding one is one decorated function or one call of :meth:`Registry.add`; asking for one that does
# not exist names the nearest that do.


Item = TypeVar("Item")


class Registry(Generic[Item]):
    """Named things of one sort, in the order they were added.

    Args:
        sort: What the things are, in one word, for messages: ``place``.

    Examples:
        >>> places: Registry[int] = Registry("place")
        >>> places.add("park", 1)
        1
        >>> places["prak"]
        Traceback (most recent call last):
            ...
        wordsight.worlds.checks.WorldError: there is no place 'prak'; did you mean park?
    """

    def __init__(self, sort: str) -> None:
        self.sort = sort
        self._items: dict[str, Item] = {}

    def add(self, name: str, item: Item) -> Item:
        """Register ``item`` and return it; a name can be taken once only."""
        if name in self._items:
            raise WorldError(f"there is a {self.sort} {name!r} already; choose another name.")
        self._items[name] = item
        return item

    def __getitem__(self, name: str) -> Item:
        self.check([name])
        return self._items[name]

    def check(self, names: Iterable[str]) -> tuple[str, ...]:
        """Return the names as a tuple if all are known; otherwise say which are near."""
        names = tuple(names)
        for name in names:
            if name not in self._items:
                raise WorldError(f"there is no {self.sort} {name!r}; {self._advice(name)}")
        return names

    def _advice(self, name: str) -> str:
        near = get_close_matches(str(name), self._items, n=3, cutoff=0.5)
        if near:
            return f"did you mean {' or '.join(near)}?"
        return f"there are {', '.join(self._items)}."

    def __contains__(self, name: object) -> bool:
        return name in self._items

    def __iter__(self) -> Iterator[str]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)
