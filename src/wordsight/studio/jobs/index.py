"""Bringing the search index up to date with the library."""

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from wordsight.errors import WordsightError
from wordsight.studio.jobs.learn import LEXICON
from wordsight.studio.jobs.task import JobContext
from wordsight.studio.jobs.teach import TAUGHT
from wordsight.workflows.index import IndexRequest, IndexSettings, index, index_folder
from wordsight.workflows.workflow import open_library

__all__ = ["index_library"]


def index_library(arguments: Mapping[str, Any], context: JobContext) -> dict[str, Any]:
    """Look at what is new in the library, so that it can be searched.

    Args:
        arguments: Settings as :class:`IndexSettings` has them; ``attributes``: whether the things
            in every shot are named by taught words; ``forget``: whether they are named no longer.
            Left out, all stay as they are.
        context: Where to work.
    """
    settings = {name: arguments[name] for name in IndexSettings.model_fields if name in arguments}
    words, attributes = context.folder / LEXICON, None
    if arguments.get("describe"):
        _require(words, "learned", "Lexicon")
    if arguments.get("attributes"):
        attributes = context.folder / TAUGHT
        _require(attributes, "taught", "Attributes")
    elif arguments.get("forget"):
        attributes = Path("none")
    request = IndexRequest(**settings, attributes=attributes, words=words)
    with open_library(context.library) as library:
        if request.language:
            # Word endings are part of all that is indexed: another language begins anew.
            shutil.rmtree(index_folder(library, None), ignore_errors=True)
        result = index(library, request, progress=context.progress)
    report = result.report
    return {
        "notes": list(result.warnings),
        "added": len(report.added),
        "unchanged": len(report.unchanged),
        "removed": len(report.removed),
        "failed": [f"{video}: {reason}" for video, reason in report.failed],
    }


def _require(folder: Path, what: str, page: str) -> None:
    if not folder.exists():
        raise WordsightError(f"no words were {what} yet; do so on the {page} page first.")
