"""Progress of long work, reported to a callback."""

from collections.abc import Iterable, Iterator
from typing import Protocol, TypeVar

__all__ = ["Progress", "report"]

Item = TypeVar("Item")


class Progress(Protocol):
    """Called now and then with the amount done, the amount there is if known, and what is at hand.

    The command line passes one that draws a bar on standard error; a notebook may pass its own.
    """

    def __call__(self, done: float, total: float | None, what: str) -> None:
        """Take note of ``done`` of ``total`` units; ``what`` is a few words for people."""


def report(
    items: Iterable[Item], progress: Progress | None, what: str, total: int | None = None
) -> Iterator[Item]:
    """Pass items through unchanged, telling ``progress`` after each one."""
    for done, item in enumerate(items, start=1):
        yield item
        if progress is not None:
            progress(done, total, what)
