"""Every reader of files under coverage-guided fuzzing, each in a process of its own."""

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

__all__ = ["fuzz_all", "fuzz_one"]

_MOST_MEGABYTES = 2048  # of memory before libFuzzer calls it a finding
_MOST_SECONDS = 30  # for one input
_ROOT = Path(__file__).resolve().parents[1]


def fuzz_one(name: str, seconds: int, folder: Path) -> dict[str, Any]:
    """Fuzz one reader.

    Args:
        name: Its name in ``tests/fuzz/samples.py``.
        seconds: For how long.
        folder: Where inputs that break it are kept.

    Returns:
        How often it was run, what was found, and the most memory used.
    """
    options = [
        f"-max_total_time={seconds}",
        f"-rss_limit_mb={_MOST_MEGABYTES}",
        f"-timeout={_MOST_SECONDS}",
        f"-artifact_prefix={folder}/{name.replace(' ', '-')}-",
        "-print_final_stats=1",
    ]
    command = [sys.executable, "-m", "tests.fuzz.atheris_readers", name, *options]
    process = subprocess.Popen(
        command, cwd=_ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    assert process.stdout is not None
    said = process.stdout.read()
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    runs = re.findall(r"stat::number_of_executed_units:\s+(\d+)", said)
    covered = re.findall(r"\bcov: (\d+)", said)
    return {
        "reader": name,
        "executions": int(runs[-1]) if runs else 0,
        "covered": int(covered[-1]) if covered else 0,
        "peak_mb": round(used.ru_maxrss / 1024),
        "finding": "" if process.returncode == 0 else said[-2000:],
    }


def fuzz_all(
    names: list[str], seconds: int, folder: Path, say: Callable[[str], None]
) -> list[dict[str, Any]]:
    """Fuzz readers one after the other."""
    rows = []
    for name in names:
        rows.append(fuzz_one(name, seconds, folder))
        say(f"{name}: {rows[-1]['executions']:,} runs, {rows[-1]['finding'] or 'nothing found'}")
    return rows
