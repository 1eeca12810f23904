"""The crash matrix in short: commands killed as ``benchmarks.reliability crash`` does."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="kills by processor time of Linux")
@pytest.mark.parametrize(
    ("database", "commands", "runs"),
    [("sqlite", ["add", "learn", "index", "align"], 4), ("postgresql", ["migrate"], 2)],
)
def test_killed_commands_lose_nothing_and_go_on(database, commands, runs, tmp_path):
    order = ["crash", "--runs", str(runs), "--json", "--databases", database, "--commands"]
    command = [sys.executable, "-m", "benchmarks.reliability", *order, *commands]
    # A process of its own, because it forks: pytest has threads.
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.returncode == 0, done.stderr + done.stdout
    total = json.loads(done.stdout)["all"]
    assert total["runs"] == total["verify_clean"] == total["resumed_equal"] == runs
    assert total["lost"] == 0
    assert total["killed"] >= runs / 2, "most of them ended before they were killed"
