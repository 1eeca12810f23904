"""The latest results of experiments and benchmarks on this machine."""

import json
import os
import platform
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wordsight.files import atomic_path

__all__ = ["KeptRun", "keep_run", "kept_runs", "results_table", "runs_folder"]


@dataclass(frozen=True)
class KeptRun:
    """What one program found the last time it ran.

    Attributes:
        name: The program, such as ``experiments.cad120``.
        command: How it was called.
        time: When, in seconds since 1970.
        machine: On what.
        results: What it found.
    """

    name: str
    command: str
    time: float
    machine: str
    results: dict[str, Any]


def runs_folder() -> Path:
    """Return where results are kept: ``$WORDSIGHT_RUNS``, or the user's data folder."""
    folder = os.environ.get("WORDSIGHT_RUNS")
    if folder:
        return Path(folder)
    data = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(data) / "wordsight" / "runs"


def keep_run(name: str, command: str, results: Mapping[str, Any]) -> None:
    """Keep what a program found in place of what it found before; never fails it for that."""
    machine = f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"
    value = {
        "name": name,
        "command": command,
        "time": time.time(),
        "machine": machine,
        "results": dict(results),
    }
    try:
        runs_folder().mkdir(parents=True, exist_ok=True)
        with atomic_path(runs_folder() / f"{name}.json") as path:
            path.write_text(json.dumps(value, indent=2), encoding="utf-8")
    except (OSError, TypeError, ValueError):
        return  # a home that cannot be written to must not spoil a finished experiment


def kept_runs() -> list[KeptRun]:
    """Return everything that was kept, by name; files that cannot be read are left out."""
    found = []
    for path in sorted(runs_folder().glob("*.json")):
        try:
            found.append(KeptRun(**json.loads(path.read_text(encoding="utf-8"))))
        except (OSError, TypeError, ValueError):
            continue
    return found


def results_table(results: Mapping[str, Any]) -> dict[str, Any]:
    """Lay results out: rows with the same columns where they are objects, else pairs."""
    rows = {name: value for name, value in results.items() if isinstance(value, dict)}
    lists = {name: value for name, value in results.items() if _is_table(value)}
    for name, value in lists.items():
        rows |= {f"{name} {number}": row for number, row in enumerate(value, start=1)}
    single = {
        name: value
        for name, value in results.items()
        if not isinstance(value, dict) and name not in lists
    }
    columns = list(dict.fromkeys(key for row in rows.values() for key in row))
    return {
        "columns": columns,
        "rows": {name: [_short(row.get(key)) for key in columns] for name, row in rows.items()},
        "single": {name: _short(value) for name, value in single.items()},
    }


def _is_table(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(one, dict) for one in value)


def _short(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, dict):
        return ", ".join(f"{key} {_short(one)}" for key, one in value.items())
    if isinstance(value, list):
        return ", ".join(_short(one) for one in value[:12]) + (" …" if len(value) > 12 else "")
    return str(value)
