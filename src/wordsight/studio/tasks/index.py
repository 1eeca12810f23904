"""Bringing the search index up to date with the library."""

from collections.abc import Mapping
from typing import Any

from wordsight.library import Library
from wordsight.studio.tasks.task import Workplace

__all__ = ["index_library"]


def index_library(arguments: Mapping[str, Any], workplace: Workplace) -> dict[str, Any]:
    """Look at what is new in the library, so that it can be searched.

    Args:
        arguments: None are needed.
        workplace: Where to work.
    """
    from wordsight.desk.index import index_folder, update_index

    with Library.open(workplace.library) as library:
        report = update_index(library, index_folder(library, None), progress=workplace.progress)
    return {
        "added": len(report.added),
        "unchanged": len(report.unchanged),
        "removed": len(report.removed),
        "failed": [f"{video}: {reason}" for video, reason in report.failed],
    }
