"""How long ``wordsight --help`` takes from the shell: ``python -m benchmarks.startup [--json]``.

The processor time of the fastest of several runs counts too, since it does not depend on what else
the machine is doing.
"""

import argparse
import json
import resource
import subprocess
import sys
import time
from pathlib import Path

GOAL_SECONDS = 0.4
"""Most that ``wordsight --help`` may take."""


def measure(runs: int = 10) -> dict[str, float]:
    """Run the program several times and return the least wall and processor seconds."""
    program = Path(sys.executable).with_name("wordsight")
    walls, processors = [], []
    for _ in range(runs):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        start = time.perf_counter()
        subprocess.run([program, "--help"], stdout=subprocess.DEVNULL, check=True)
        walls.append(time.perf_counter() - start)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        processors.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return {
        "wall_seconds": round(min(walls), 3),
        "cpu_seconds": round(min(processors), 3),
        "goal_seconds": GOAL_SECONDS,
    }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=10, help="how many times to start it")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args()
    report = measure(options.runs)
    if options.json:
        print(json.dumps(report))
    else:
        for name, value in report.items():
            print(f"{name:14} {value}")


if __name__ == "__main__":
    main()
