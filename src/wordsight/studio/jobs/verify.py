"""Checking every file of the library against its catalogue."""

from collections.abc import Mapping
from typing import Any

from wordsight.library import Library
from wordsight.studio.jobs.task import JobContext

__all__ = ["verify_files"]


def verify_files(arguments: Mapping[str, Any], workplace: JobContext) -> dict[str, Any]:
    """Check that everything the catalogue promises is there, unchanged to the byte.

    Args:
        arguments: None are needed.
        workplace: Where to work.
    """
    with Library.open(workplace.library) as library:
        report = library.verify(progress=workplace.progress)
    wrong = [str(problem) for problem in report.problems]
    summary = "Nothing is wrong." if report.ok else f"{len(wrong)} wrong: {'; '.join(wrong[:5])}"
    return {"ok": report.ok, "problems": wrong[:100], "summary": summary}
