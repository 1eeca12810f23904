"""Results of experiments and benchmarks as last run on this machine, kept for people to look at."""

import json
import os
import platform
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wordsight.files import atomic_path

__all__ = ["KeptRun", "keep_run", "kept_runs", "runs_folder"]


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
