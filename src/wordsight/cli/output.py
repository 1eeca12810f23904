"""Where the command line's words go: results to standard output, everything else to stderr."""

import json
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from wordsight.progress import Progress
from wordsight.workflows.workflow import as_json

if TYPE_CHECKING:
    from wordsight.meaning.model.quality import Quality

__all__ = ["Output", "Style", "show_quality"]

_MOST_CONFUSIONS = 20

_LINE_EVERY = 5.0  # seconds between two lines of progress where no bar can be drawn


@dataclass(frozen=True)
class Style:
    """How a command writes its output.

    Attributes:
        json: Print one JSON value on standard output instead of text.
        quiet: Say nothing but results and errors.
        verbose: Say more, and show tracebacks.
    """

    json: bool = False
    quiet: bool = False
    verbose: bool = False


class Output:
    """Prints results, notes, warnings and progress in one style.

    Args:
        style: How to speak.
    """

    def __init__(self, style: Style):
        from rich.console import Console

        self.style = style
        self._out: Console = Console(highlight=False, soft_wrap=True)
        self._err: Console = Console(stderr=True, highlight=False, soft_wrap=True)
        warnings.showwarning = self._show_warning

    def result(self, value: Any, render: Callable[["Output"], None]) -> None:
        """Print a result: ``value`` as JSON, or what ``render`` prints for people."""
        if self.style.json:
            print(json.dumps(as_json(value), ensure_ascii=False, indent=2, allow_nan=False))
        else:
            render(self)

    def line(self, text: str = "") -> None:
        """Print a line of text as it is to standard output."""
        self._out.print(text, markup=False)

    def table(
        self, columns: Sequence[str], rows: Sequence[Sequence[Any]], title: str | None = None
    ) -> None:
        """Print a table; columns whose cells are all numbers are set flush right."""
        from rich import box
        from rich.table import Table
        from rich.text import Text

        table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
        for i, name in enumerate(columns):
            numeric = bool(rows) and all(isinstance(row[i], int | float) for row in rows)
            table.add_column(name, justify="right" if numeric else "left", overflow="fold")
        for row in rows:
            table.add_row(*(Text(_cell(value)) for value in row))
        self._out.print(table)

    def note(self, text: str) -> None:
        """Tell the user something on standard error, unless quiet."""
        if not self.style.quiet:
            self._err.print(text, markup=False)

    def detail(self, text: str) -> None:
        """Tell the user something on standard error if they asked for more."""
        if self.style.verbose:
            self._err.print(text, markup=False, style="dim")

    def warn(self, text: str) -> None:
        """Print a warning on standard error."""
        self._say("Warning: ", "yellow", text)

    def error(self, text: str, kind: str = "WordsightError") -> None:
        """Print an error on standard error; if JSON was asked for, also as JSON on stdout."""
        if self.style.json:
            print(json.dumps({"error": {"kind": kind, "message": text}}, ensure_ascii=False))
        self._say("Error: ", "bold red", text)

    @contextmanager
    def progress(self, heading: str) -> Iterator[Progress]:
        """Draw a progress bar on standard error while the block runs.

        Where standard error is not a terminal, a line is written every few seconds instead; nothing
        when quiet.

        Yields:
            What to call with the amount done, the total and a few words.
        """
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            TextColumn,
            TimeElapsedColumn,
            TimeRemainingColumn,
        )
        from rich.progress import Progress as Bar

        bar = Bar(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            console=self._err,
            transient=True,
            disable=self.style.quiet or not self._err.is_terminal,
        )
        with bar:
            task = bar.add_task(heading, total=None)

            lines = not self._err.is_terminal
            last = time.monotonic()

            def advance(done: float, total: float | None, what: str) -> None:
                nonlocal last
                bar.update(task, completed=done, total=total, description=what or heading)
                if lines and time.monotonic() - last >= _LINE_EVERY:
                    last = time.monotonic()
                    self.note(f"{heading}: {done:.0f}{f' of {total:.0f}' if total else ''}")

            yield advance

    def _say(self, heading: str, style: str, text: str) -> None:
        from rich.text import Text

        self._err.print(Text.assemble((heading, style), text))

    def _show_warning(
        self, message: Warning | str, category: type[Warning], *_: Any, **__: Any
    ) -> None:
        # Ours are meant for users; those of libraries only for debugging.
        if category.__module__.startswith("wordsight"):
            self.warn(str(message))
        else:
            self.detail(f"{category.__name__}: {message}")


def flush_quietly() -> None:
    """Flush standard output; a reader that went away (``| head``) is no error."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        sys.stderr.close()


def _cell(value: Any) -> str:
    if value is None:
        return "–"
    return f"{value:.2f}" if isinstance(value, float) else str(value)


def show_quality(output: Output, quality: "Quality", *, confusions: bool = False) -> None:
    """Print the figures of all words and of each; what would help is printed as warnings."""
    from wordsight.meaning.model.quality import quality_lines, word_rows

    for line in quality_lines(quality):
        output.line(line)
    columns = ["word", "clips", "choices", "right", "blind", "chance", "remarks"]
    rows, held_out = word_rows(quality.words), quality.held_out
    if held_out is None:
        columns, rows = [*columns[:2], columns[-1]], [(*row[:2], row[-1]) for row in rows]
    output.table(columns, rows)
    if confusions and held_out is not None and held_out.confusions:
        confused = held_out.confusions[:_MOST_CONFUSIONS]
        output.table(["true", "preferred", "times"], confused, title="Confusions")
