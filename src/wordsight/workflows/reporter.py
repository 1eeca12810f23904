"""Reporters: what a workflow reports while it works, as notes, warnings and progress."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from wordsight.progress import Progress

__all__ = ["RecordingReporter", "Reporter"]


@runtime_checkable
class Reporter(Protocol):
    """Takes notes, warnings and progress; the command line prints them as they come."""

    def note(self, text: str) -> None:
        """Take something worth knowing."""

    def detail(self, text: str) -> None:
        """Take something that only matters to those who look closely."""

    def warn(self, text: str) -> None:
        """Take a warning."""

    def progress(self, heading: str) -> AbstractContextManager[Progress]:
        """Begin a piece of work; the value of the block is called with how far it is."""


@dataclass
class RecordingReporter:
    """Records notes and warnings, and passes everything on.

    Attributes:
        listener: A callback for progress, or another reporter, or ``None``.
        notes: Notes and warnings, in order.
    """

    listener: Progress | Reporter | None = None
    notes: list[str] = field(default_factory=list)

    def note(self, text: str) -> None:
        """Record a note."""
        self.notes.append(text)
        if isinstance(self.listener, Reporter):
            self.listener.note(text)

    def detail(self, text: str) -> None:
        """Pass a detail on; it is not recorded."""
        if isinstance(self.listener, Reporter):
            self.listener.detail(text)

    def warn(self, text: str) -> None:
        """Record a warning."""
        self.notes.append(text)
        if isinstance(self.listener, Reporter):
            self.listener.warn(text)

    @contextmanager
    def progress(self, heading: str) -> Iterator[Progress]:
        """Pass progress on."""
        if isinstance(self.listener, Reporter):
            with self.listener.progress(heading) as inner:
                yield inner
            return
        listener = self.listener

        def forward(done: float, total: float | None, what: str) -> None:
            if listener is not None:
                listener(done, total, what)

        yield forward
