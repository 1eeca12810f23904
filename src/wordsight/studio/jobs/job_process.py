"""The process of one job: ``python -m`` this module with DATABASE JOB LIBRARY SERVER."""

import os
import sys
import threading
import time
from pathlib import Path

from wordsight.errors import WordsightError
from wordsight.studio.jobs import JOB_KINDS, JobContext
from wordsight.studio.jobs.store import JobStore

__all__ = ["main"]

_REPORT_EVERY = 0.2  # seconds between two reports of progress


def main(arguments: list[str]) -> int:
    """Do one job and note how it ended.

    Args:
        arguments: The file of jobs, number of the job, the library and the server's process id.

    Returns:
        0 if it is done, 1 if it failed.
    """
    store, number, library = JobStore(Path(arguments[0])), int(arguments[1]), arguments[2]
    # Told, not asked for: a server that was killed while we started is our parent no more.
    server = int(arguments[3])
    threading.Thread(target=_end_with_the_server, args=(server,), daemon=True).start()
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
        store.finish(number, "failed", str(error))
        return 1
    except Exception as error:
        store.finish(number, "failed", f"this should not have happened: {error!r}")
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
