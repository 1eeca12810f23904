"""How soon ``wordsight studio --demo`` can be used in an empty folder.

Run with ``python -m benchmarks.studio_demo [--json]``. The studio is started as a newcomer starts
it; what is measured is when its first page answers with the sample library, and when all of it is
ready: search by words, learned words, and an aligned text. The processor time of all processes,
divided by two, is what two quiet cores would need at least, whatever else runs meanwhile.
"""

import os
import resource
import socket
import subprocess
import sys
import tempfile
import time
from typing import Any

import httpx

from experiments.report import Column, print_report, report_parser, run_main, say
from wordsight.errors import WordsightError

__all__ = ["main", "measure"]

GOAL = 60.0  # seconds until everything is ready
_PATIENCE = 3600.0


def measure(folder: str) -> dict[str, Any]:
    """Start the sample in a folder and time it."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "wordsight", "studio", "--demo", "--no-browser"]
    before, load = resource.getrusage(resource.RUSAGE_CHILDREN), os.getloadavg()[0]
    begun = time.perf_counter()
    server = subprocess.Popen(
        [*command, "--port", str(port)], cwd=folder, stdout=subprocess.DEVNULL
    )
    opened, ready = None, None
    try:
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60) as client:
            while ready is None:
                passed = time.perf_counter() - begun
                if server.poll() is not None or passed > _PATIENCE:
                    raise WordsightError("the studio did not get ready.")
                state = _state(client)
                if opened is None and state is not None:
                    opened = passed
                    say("the library is open")
                ready = passed if state else None
                time.sleep(0.2)
    finally:
        server.terminate()
        server.wait(30)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {
        "load_before": round(load, 1),
        "load_after": round(os.getloadavg()[0], 1),
        "cores": os.cpu_count(),
        "open_s": round(opened or ready, 1),
        "ready_s": round(ready, 1),
        "processor_s": round(spent, 1),
        "on_two_quiet_cores_s": round(spent / 2, 1),
    }


def _state(client: httpx.Client) -> bool | None:
    """Tell whether all can be used; ``None`` while the studio does not even answer."""
    try:
        jobs = client.get("/api/v1/jobs").json()
    except httpx.TransportError:
        return None
    failed = [f"{job['title']}: {job['message']}" for job in jobs if job["state"] == "failed"]
    if failed:
        raise WordsightError("; ".join(failed))
    if any(job["state"] in ("queued", "running") for job in jobs):
        return False
    found = client.get("/api/v1/search", params={"text": "backpack", "by": "said"}).json()
    words = client.get("/api/v1/lexicon").json()
    aligned = client.get("/api/v1/alignments").json()
    return bool(found["moments"] and not found["job"] and len(words) > 5 and aligned)


def main(arguments: list[str] | None = None) -> None:
    """Measure and print."""
    options = report_parser("benchmarks.studio_demo", __doc__ or "").parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        results = measure(folder)
    print_report(
        results,
        as_json=options.json,
        title="wordsight studio --demo in an empty folder",
        columns=[
            Column("open_s", "open, s", ".1f"),
            Column("ready_s", "ready, s", ".1f"),
            Column("processor_s", "processor, s", ".1f"),
            Column("on_two_quiet_cores_s", "halved, s", ".1f"),
        ],
        rows=[results],
        notes=[
            f"goal: ready after {GOAL:.0f} s on two quiet cores; load of the machine "
            f"{results['load_before']} before and {results['load_after']} after, "
            f"{results['cores']} cores"
        ],
    )


if __name__ == "__main__":
    run_main(main)
