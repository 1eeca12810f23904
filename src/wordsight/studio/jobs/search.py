"""Searching by what words mean, which looks closely at many videos."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from wordsight.studio.jobs.learn import LEXICON
from wordsight.studio.jobs.task import JobContext

__all__ = ["search_meaning"]

_MOST_VIDEOS = 1000  # of more, those are looked at in which the words are said


def search_meaning(arguments: Mapping[str, Any], workplace: JobContext) -> dict[str, Any]:
    """Find the moments a sentence is true of.

    Args:
        arguments: ``text``, ``by``, ``top``, ``everything``, ``prune``; ``stamp`` only tells
            searches of a library and of words apart that have changed since.
        workplace: Where to work.
    """
    from wordsight.library import Library
    from wordsight.meaning import LearnedLexicon
    from wordsight.workflows.annotator import load_annotator
    from wordsight.workflows.compute import pruning
    from wordsight.workflows.reporter import RecordingReporter
    from wordsight.workflows.search_query import SearchQuery
    from wordsight.workflows.searcher import Searcher

    book = RecordingReporter(workplace.progress)
    words = LearnedLexicon.load(workplace.folder / LEXICON)
    with Library.open(workplace.library) as library:
        searching = Searcher(
            book,
            library,
            top=int(arguments["top"]),
            everything=bool(arguments["everything"]),
            most_videos=_MOST_VIDEOS,
            namer=load_annotator(workplace.folder / LEXICON),
        )
        by = str(arguments["by"])
        with pruning(arguments.get("prune")):
            found, how = searching.answer(
                SearchQuery(arguments["text"]), by, words, named=by == "meaning"
            )
    return {"found": [asdict(one) for one in found], "how": how, "notes": book.notes}
