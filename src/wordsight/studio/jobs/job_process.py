"""The process of one job: ``python -m`` this module with DATABASE JOB LIBRARY SERVER.

With ``-`` for the job it does one job after the other, whose numbers come on standard input.
"""

import os
import sys
import threading
import time
import traceback
from pathlib import Path

from wordsight.errors import WordsightError
from wordsight.studio.jobs import JOB_KINDS, JobContext
from wordsight.studio.jobs.store import JobStore
from wordsight.studio.server import without_paths

__all__ = ["main"]

_REPORT_EVERY = 0.2  # seconds between two reports of progress


def main(arguments: list[str]) -> int:
    """Do one job, or those that are asked for, and note how each ended.

    Args:
        arguments: The file of jobs, number of the job, the library and the server's process id.

    Returns:
        0 if it is done, 1 if it failed.
    """
    store, what, library = JobStore(Path(arguments[0])), arguments[1], arguments[2]
    # Given, not asked for: a server that was killed while we started is our parent no more.
    server = int(arguments[3])
    threading.Thread(target=_end_with_the_server, args=(server,), daemon=True).start()
    os.nice(10)  # pages come first
    if what != "-":
        return _do(store, int(what), library)
    for line in sys.stdin:
        try:
            _do(store, int(line), library)
        except Exception:
            traceback.print_exc()
    return 0


def _do(store: JobStore, number: int, library: str) -> int:
    job = store.get(number)
    last = 0.0

    def progress(done: float, total: float | None, what: str) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last >= _REPORT_EVERY or (total and done >= total):
            last = now
            store.report(number, done / total if total else 0.0, what)

    try:
        task = JOB_KINDS[job.kind]
        result = task.work(job.arguments, JobContext(library, store.path.parent, progress))
    except WordsightError as error:
        store.finish(number, "failed", without_paths(str(error)))
        return 1
    except Exception as error:
        what = without_paths(f"this should not have happened: {error!r}")
        store.finish(number, "failed", what)
        raise
    store.finish(number, "done", result=result)
    return 0


def _end_with_the_server(server: int) -> None:
    # A server that was killed starts its jobs again; two of one would be one too many.
    while os.getppid() == server:
        time.sleep(0.5)
    os._exit(1)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
