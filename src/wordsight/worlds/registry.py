"""`Registry`: the objects, actions and places of a world by name.

Adding one is one decorated function or one call of :meth:`Registry.add`; asking for one that does
not exist names the nearest that do.
"""

from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from typing import Generic, TypeVar

from wordsight.worlds.errors import WorldError

__all__ = ["Registry"]

Item = TypeVar("Item")


class Registry(Generic[Item]):
    """Named things of one sort, in the order they were added.

    Args:
        sort: What the things are, in one word, for messages: ``place``.

    Example:
        >>> places: Registry[int] = Registry("place")
        >>> places.add("park", 1)
        1
        >>> places["prak"]
        Traceback (most recent call last):
            ...
        wordsight.worlds.errors.WorldError: there is no place 'prak'; did you mean park?
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
