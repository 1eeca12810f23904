"""Every reader of files under coverage-guided fuzzing, each in a process of its own."""

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from wordsight.errors import WordsightError

__all__ = ["fuzz_all"]

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
        say: Told after each.

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
