"""How Wordsight takes faults: kills, full disks, lost databases, wrong clocks, damaged files, load.

Run with ``python -m benchmarks.reliability crash|faults|fuzz|soak [--json]``; each prints one table
of docs/reliability.md. ``crash`` kills commands at random points, ``faults`` takes away room,
rights, the database and the right time, ``fuzz`` reads damaged files under coverage guidance, and
``soak`` uses a studio for a long while. Needs Linux.
"""

import argparse
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from experiments.report import Column, print_report, run_main, say
from wordsight.errors import WordsightError

__all__ = ["fuzz_all", "main"]

_MOST_MEGABYTES = 2048  # of memory before libFuzzer calls it a finding
_MOST_SECONDS = 30  # for one input
_ROOT = Path(__file__).resolve().parents[1]


def fuzz_all(
    names: list[str], seconds: int, folder: Path, say: Callable[[str], None]
) -> list[dict[str, Any]]:
    """Fuzz readers one after the other.

    Args:
        names: Their names in ``tests/fuzz/samples.py``.
        seconds: For how long each.
        folder: Where inputs that break one are kept, and what libFuzzer says.
        say: Called after each.

    Returns:
        Per reader how often it was run, what was found, and the most memory used.
    """
    options = [
        f"-max_total_time={seconds}",
        f"-rss_limit_mb={_MOST_MEGABYTES}",
        f"-timeout={_MOST_SECONDS}",
        "-print_final_stats=1",
    ]
    command = [sys.executable, "-m", "tests.fuzz.atheris_readers", "--each", str(folder)]
    process = subprocess.Popen(
        [*command, *names, *options], cwd=_ROOT, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    rows = []
    for line in process.stdout:
        rows.append(_row(json.loads(line), folder))
        say(f"{rows[-1]['reader']}: {rows[-1]['executions']:,} runs, {_outcome(rows[-1])}")
    if process.wait() or len(rows) < len(names):
        raise WordsightError(f"fuzzing ended after {len(rows)} of {len(names)} readers.")
    return rows


def _row(told: dict[str, Any], folder: Path) -> dict[str, Any]:
    log = folder / f"{told['reader'].replace(' ', '-')}.log"
    said = log.read_text(encoding="utf-8", errors="replace")
    runs = re.findall(r"stat::number_of_executed_units:\s+(\d+)", said)
    covered = re.findall(r"\bcov: (\d+)", said)
    finding = said[-2000:] if told["status"] or not runs else ""
    if not finding:
        log.unlink()
    return {
        "reader": told["reader"],
        "executions": int(runs[-1]) if runs else 0,
        "covered": int(covered[-1]) if covered else 0,
        "peak_mb": told["peak_mb"],
        "finding": finding,
    }


def _outcome(row: dict[str, Any]) -> str:
    return row["finding"] or "nothing found"


os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

_CRASH_COLUMNS = [
    Column("command", "command", justify="left"),
    Column("database", "database", justify="left"),
    Column("runs", "runs"),
    Column("killed", "killed in time"),
    Column("by_time", "by time"),
    Column("by_operation", "by operation"),
    Column("lost", "lost"),
    Column("verify_clean", "verify clean"),
    Column("resumed_equal", "resumed equal"),
    Column("leftover_files", "leftover files"),
]

_FAULT_COLUMNS = [
    Column("fault", "fault", justify="left"),
    Column("command", "command", justify="left"),
    Column("database", "database", justify="left"),
    Column("runs", "runs"),
    Column("failed", "reported"),
    Column("tracebacks", "tracebacks"),
    Column("lost", "lost"),
    Column("verify_clean", "verify clean"),
    Column("resumed_equal", "resumed equal"),
]


def crash_matrix(options: argparse.Namespace) -> None:
    """Kill every command on both kinds of database and print the table."""
    from benchmarks.reliability_cases import make_films
    from benchmarks.reliability_crash import cases, crash, row
    from benchmarks.reliability_places import Place, PostgresPlace, SqlitePlace, postgres_server
    from benchmarks.reliability_process import prepare_to_fork, run

    prepare_to_fork()
    chosen = cases(options.commands)
    rows = []
    with ExitStack() as stack:
        home = Path(tempfile.mkdtemp(prefix="wordsight-crash-"))
        stack.callback(shutil.rmtree, home, ignore_errors=True)
        films = home / "films"
        (home / "rendering").mkdir()
        run(lambda: make_films(films), home / "rendering")
        places: list[Place] = []
        if "sqlite" in options.databases:
            places.append(SqlitePlace(home / "sqlite"))
        if "postgresql" in options.databases:
            server = stack.enter_context(postgres_server())
            places.append(PostgresPlace(home / "postgresql", server))
        cells = [(case, place) for case in chosen for place in places]
        for number, (case, place) in enumerate(cells):
            runs = options.runs // len(cells) + (number < options.runs % len(cells))
            if runs:
                trials = crash(place, case, films, runs, options.seed, say)
                rows.append(row(place.name, case.name, trials))
    results = {"seed": options.seed, "rows": rows, "all": _total(rows)}
    print_report(
        results,
        as_json=options.json,
        title=f"{options.runs} kills",
        columns=_CRASH_COLUMNS,
        rows=[*rows, results["all"]],
        notes=[problem for each in rows for problem in each["problems"]],
    )
    if any(each["problems"] for each in rows):
        sys.exit(1)


def _total(rows: list[dict[str, object]]) -> dict[str, object]:
    keys = [column.key for column in _CRASH_COLUMNS[2:]]
    return {"command": "all", **{key: sum(int(str(row[key])) for row in rows) for key in keys}}


def fault_table(options: argparse.Namespace) -> None:
    """Take away room, rights, the database and the right time, and print the table."""
    from benchmarks.reliability_cases import make_films
    from benchmarks.reliability_crash import cases
    from benchmarks.reliability_faults import (
        FaultRow,
        can_mount,
        clock_set_back,
        disk_full,
        mounted,
        read_only,
        restart,
    )
    from benchmarks.reliability_places import PostgresPlace, SqlitePlace, postgres_server
    from benchmarks.reliability_process import prepare_to_fork, run

    prepare_to_fork()
    chosen = [case for case in cases(options.commands) if case.name != "migrate"]
    rows: list[FaultRow] = []

    def note(row: FaultRow) -> None:
        say(f"{row.fault}, {row.command} on {row.database}: {row.problems or 'fine'}")
        rows.append(row)

    with ExitStack() as stack:
        home = Path(tempfile.mkdtemp(prefix="wordsight-faults-"))
        stack.callback(shutil.rmtree, home, ignore_errors=True)
        films = home / "films"
        (home / "rendering").mkdir()
        run(lambda: make_films(films), home / "rendering")
        if can_mount():
            disk = stack.enter_context(mounted(home / "disk"))
            small = SqlitePlace(disk / "sqlite")
            for case in chosen:
                note(disk_full(small, case, films))
                note(read_only(small, case, films, disk))
        server = stack.enter_context(postgres_server())
        for case in chosen:
            note(restart(PostgresPlace(home / "postgresql", server), case, films))
        faketime = next(Path("/usr/lib").glob("**/libfaketime.so.1"), None)
        if faketime is not None:
            for case in chosen:
                note(clock_set_back(SqlitePlace(home / "sqlite"), case, films, str(faketime)))
    results = {"rows": [vars(row) for row in rows]}
    print_report(
        results,
        as_json=options.json,
        title="Faults",
        columns=_FAULT_COLUMNS,
        rows=results["rows"],
        notes=[f"{row.fault}, {row.command}: {said}" for row in rows for said in row.said],
    )
    if any(row.problems for row in rows):
        sys.exit(1)


def fuzz_readers(options: argparse.Namespace) -> None:
    """Fuzz every reader for a while and print what was found."""
    import importlib.util

    from tests.fuzz.test_readers import NAMES

    if importlib.util.find_spec("atheris") is None:
        raise WordsightError("coverage-guided fuzzing needs atheris: pip install atheris")
    options.findings.mkdir(parents=True, exist_ok=True)
    rows = fuzz_all(options.readers or NAMES, options.seconds, options.findings.absolute(), say)
    results = {
        "seconds_each": options.seconds,
        "readers": len(rows),
        "executions": sum(row["executions"] for row in rows),
        "findings": sum(bool(row["finding"]) for row in rows),
        "peak_mb": max(row["peak_mb"] for row in rows),
        "rows": rows,
    }
    print_report(
        results,
        as_json=options.json,
        title=f"{results['executions']:,} inputs, {results['findings']} findings",
        columns=[
            Column("reader", "reader", justify="left"),
            Column("executions", "runs"),
            Column("covered", "edges"),
            Column("peak_mb", "peak, MB"),
        ],
        rows=rows,
        notes=[row["finding"] for row in rows if row["finding"]],
    )
    if results["findings"]:
        sys.exit(1)


def soak_studio(options: argparse.Namespace) -> None:
    """Use a studio for a while and print its memory over time."""
    from benchmarks.reliability_soak import make_library, soak

    with tempfile.TemporaryDirectory(prefix="wordsight-soak-") as folder:
        library, films = make_library(Path(folder))
        results = soak(library, films, options.minutes, options.rate, say)
    print_report(
        results,
        as_json=options.json,
        title=f"{results['requests']:,} requests in {options.minutes:g} minutes",
        columns=[Column("minutes", "minutes"), Column("megabytes", "MB")],
        rows=[{"minutes": t, "megabytes": m} for t, m in results["series"]],
        notes=[
            f"errors {results['errors']}, jobs {results['jobs']}, p95 {results['p95_ms']} ms, "
            f"slope {results['slope_mb_per_hour']} MB/h (95 %: {results['slope_95']})"
        ],
    )
    if results["errors"] or results["tracebacks"] or not results["verify_clean"]:
        sys.exit(1)


def main(arguments: list[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.reliability", description=(__doc__ or "").splitlines()[0]
    )
    kinds = parser.add_subparsers(dest="kind", required=True)
    crash = kinds.add_parser("crash", help="kill commands at random points")
    crash.add_argument("--runs", type=int, default=200, help="kills in all")
    crash.add_argument("--seed", type=int, default=0, help="of the points")
    crash.add_argument("--commands", nargs="*", help="only these: add learn index align migrate")
    crash.add_argument("--databases", nargs="*", default=["sqlite", "postgresql"])
    crash.set_defaults(call=crash_matrix)
    faults = kinds.add_parser("faults", help="take away room, rights, database and time")
    faults.add_argument("--commands", nargs="*", help="only these: add learn index align")
    faults.set_defaults(call=fault_table)
    fuzz = kinds.add_parser("fuzz", help="read damaged files under coverage guidance")
    fuzz.add_argument("--seconds", type=int, default=60, help="for each reader")
    fuzz.add_argument("--readers", nargs="*", help="only these")
    fuzz.add_argument("--findings", type=Path, default=Path("fuzz-findings"), metavar="DIR")
    fuzz.set_defaults(call=fuzz_readers)
    soaking = kinds.add_parser("soak", help="use a studio for a long while")
    soaking.add_argument("--minutes", type=float, default=30.0)
    soaking.add_argument("--rate", type=float, default=4.0, help="requests a second")
    soaking.set_defaults(call=soak_studio)
    for each in (crash, faults, fuzz, soaking):
        each.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args(arguments)
    # So that servers are stopped and disks unmounted when somebody ends it.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    options.call(options)


if __name__ == "__main__":
    run_main(main)
