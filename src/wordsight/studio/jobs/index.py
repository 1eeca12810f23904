"""Bringing the search index up to date with the library."""

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from wordsight.errors import WordsightError
from wordsight.library import Library
from wordsight.studio.jobs.learn import LEXICON
from wordsight.studio.jobs.task import JobContext, device_at_hand
from wordsight.studio.jobs.teach import TAUGHT
from wordsight.workflows.annotator import load_taught
from wordsight.workflows.lexicon import load_lexicon
from wordsight.workflows.named_shots import forget_words, remember_words

__all__ = ["index_library"]


def index_library(arguments: Mapping[str, Any], workplace: JobContext) -> dict[str, Any]:
    """Look at what is new in the library, so that it can be searched.

    Args:
        arguments: ``describe``: whether what learned words say of every shot can be searched, too;
            ``attributes``: whether the things in every shot are named by taught words;
            ``forget``: whether they are named no longer. Left out, all stay as they are.
            ``language`` of the words, for their endings; ``engine`` and ``device``.
        workplace: Where to work.
    """
    from wordsight.engine import open_engine
    from wordsight.workflows.index import describe_shots, index_folder, update_index

    device, notes = device_at_hand(arguments.get("device"))
    with Library.open(workplace.library) as library:
        folder = index_folder(library, None)
        if arguments.get("language"):
            # Word endings are part of all that is indexed: another language begins anew.
            shutil.rmtree(folder, ignore_errors=True)
        if arguments.get("describe"):
            _need(workplace.folder / LEXICON, "learned", "Lexicon")
            words = load_lexicon(workplace.folder / LEXICON)
            describe_shots(library, folder, words, workplace.progress)
        if arguments.get("attributes"):
            _need(workplace.folder / TAUGHT, "taught", "Attributes")
            remember_words(folder, load_taught(workplace.folder / TAUGHT))
        elif arguments.get("forget"):
            forget_words(folder)
        with open_engine(arguments.get("engine")) as engine:
            report = update_index(
                library,
                folder,
                language=arguments.get("language"),
                progress=workplace.progress,
                engine=engine,
                device=device,
            )
    return {
        "notes": notes,
        "added": len(report.added),
        "unchanged": len(report.unchanged),
        "removed": len(report.removed),
        "failed": [f"{video}: {reason}" for video, reason in report.failed],
    }


def _need(folder: Path, what: str, page: str) -> None:
    if not folder.exists():
        raise WordsightError(f"no words were {what} yet; do so on the {page} page first.")
