"""How the desk speaks while it works, and a notebook for those who want to read it afterwards."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from typing import Protocol

from wordsight.progress import Progress

__all__ = ["RecordingReporter", "Reporter"]


class Reporter(Protocol):
    """Whoever asked: told of what is noteworthy, and of progress."""

    def note(self, text: str) -> None:
        """Take something everybody should know."""

    def detail(self, text: str) -> None:
        """Take something for those who want to know more."""

    def warn(self, text: str) -> None:
        """Take a warning."""

    def progress(self, heading: str) -> AbstractContextManager[Progress]:
        """Begin a piece of work; what is entered is told how far it is."""


@dataclass
class RecordingReporter:
    """A teller that writes down.

    Attributes:
        notes: Notes and warnings, in order.
        watcher: Told of progress, if anyone.
    """

    notes: list[str] = field(default_factory=list)
    watcher: Progress | None = None

    def note(self, text: str) -> None:
        """Write a note down."""
        self.notes.append(text)

    def detail(self, text: str) -> None:
        """Leave a detail out."""

    def warn(self, text: str) -> None:
        """Write a warning down."""
        self.notes.append(text)

    @contextmanager
    def progress(self, heading: str) -> Iterator[Progress]:
        """Pass progress on to the watcher."""

        def told(done: float, total: float | None, what: str) -> None:
            if self.watcher is not None:
                self.watcher(done, total, what)

        yield told
