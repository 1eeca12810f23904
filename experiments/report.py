"""What all experiments and benchmarks share: their options, and results as a table or as JSON."""

import argparse
import json
import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from rich.console import Console
from rich.table import Table

from wordsight.errors import WordsightError
from wordsight.runs import keep_run

__all__ = ["Column", "print_report", "read_results", "report_parser", "run_main", "say"]

_LEAST_WIDTH = 200  # characters


@dataclass(frozen=True)
class Column:
    """One column of a table.

    Attributes:
        key: Where the value is found in a row.
        title: What stands above it.
        form: How numbers are written, as for ``format``.
        justify: Where they stand; names are best on the left.
    """

    key: str
    title: str
    form: str = ".1f"
    justify: Literal["left", "right"] = "right"


def report_parser(
    module: str, description: str, data: str | None = None
) -> argparse.ArgumentParser:
    """Make the parser of an experiment's options.

    Args:
        module: How it is run, ``experiments.mot15``.
        description: What it does, for ``--help``.
        data: What ``--data`` must hold; no such option if left out.

    Returns:
        A parser that knows ``--json`` and, if asked for, ``--data``.
    """
    parser = argparse.ArgumentParser(
        prog=f"python -m {module}",
        description=description,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    if data is not None:
        parser.add_argument("--data", type=Path, required=True, metavar="DIR", help=data)
    parser.add_argument(
        "--json", action="store_true", help="print one JSON object instead of a table"
    )
    return parser


def print_report(
    results: Mapping[str, Any],
    *,
    as_json: bool,
    title: str = "",
    columns: Sequence[Column] = (),
    rows: Sequence[Mapping[str, Any]] = (),
    notes: Sequence[str] = (),
) -> None:
    """Print results on standard output.

    Args:
        results: Everything found out, for JSON; plain values without NaN.
        as_json: Whether to print that, or else the table.
        title: What stands above the table.
        columns: Its columns.
        rows: Its rows; a value that is missing or ``None`` is left empty.
        notes: Lines under the table.
    """
    _keep(results)
    if as_json:
        print(json.dumps(results, indent=2, ensure_ascii=False, allow_nan=False))
        return
    table = Table(title=title, title_justify="left")
    for column in columns:
        table.add_column(column.title, justify=column.justify, no_wrap=True)
    for row in rows:
        table.add_row(*(_text(row.get(column.key), column.form) for column in columns))
    # Numbers cut short to fit a terminal would be worse than lines that wrap.
    console = Console(width=max(_LEAST_WIDTH, Console().width))
    console.print(table)
    for note in notes:
        console.print(note, highlight=False, markup=False)


def read_results(path: Path) -> dict[str, Any]:
    """Read what an experiment printed with ``--json``.

    Raises:
        WordsightError: If the file cannot be read or holds something else.
    """
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise WordsightError(
            f"{path}: expected JSON results of a run with --json: {error}."
        ) from error
    if not isinstance(found, dict):
        raise WordsightError(f"{path}: expected the JSON object of a run with --json.")
    return found


def _keep(results: Mapping[str, Any]) -> None:
    """Keep results for the studio's page, under the name of the program that runs."""
    spec = getattr(sys.modules["__main__"], "__spec__", None)
    if spec is not None and spec.name.split(".")[0] in ("experiments", "benchmarks"):
        keep_run(spec.name, shlex.join(["python", "-m", spec.name, *sys.argv[1:]]), results)


def run_main(main: Callable[[], object]) -> None:
    """Run a program from the command line; what is wrong with its input is told in a line."""
    try:
        main()
    except WordsightError as error:
        sys.exit(str(error))


def say(message: str) -> None:
    """Tell on standard error what is going on."""
    print(message, file=sys.stderr, flush=True)


def _text(value: Any, form: str) -> str:
    if value is None:
        return ""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return format(value, "d" if isinstance(value, int) else form)
    return str(value)
