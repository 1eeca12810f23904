"""Answering many queries at once, as a TREC run."""

from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from wordsight.errors import WordsightError
from wordsight.studio.jobs.task import JobContext, device_at_hand

__all__ = ["QUERIES", "answer_queries"]

QUERIES = "queries"
"""Name of the folder of files of queries in the studio's folder."""


def answer_queries(arguments: Mapping[str, Any], workplace: JobContext) -> dict[str, Any]:
    """Rank the shots of the library for every query of a file, and keep the ranking.

    Args:
        arguments: ``name`` of the folder of the file and of the ranking; ``file``; ``top`` shots
            of each; ``expand``; ``engine``; ``device``.
        workplace: Where to work.
    """
    from wordsight.engine import open_engine
    from wordsight.library import Library
    from wordsight.retrieval.trec import write_run
    from wordsight.studio.exports import exporting
    from wordsight.workflows.reporter import RecordingReporter
    from wordsight.workflows.search_query import read_queries
    from wordsight.workflows.searcher import Searcher

    name = Path(arguments["name"]).name
    source = workplace.folder / QUERIES / name / Path(arguments["file"]).name
    if not source.is_file():
        raise WordsightError("the queries are not there any more; send them again.")
    device, notes = device_at_hand(arguments.get("device"))
    book = RecordingReporter(workplace.progress)
    queries = read_queries(source)
    with (
        Library.open(workplace.library) as library,
        open_engine(arguments.get("engine")) as engine,
        closing(
            Searcher(book, library, top=int(arguments["top"]), engine=engine, device=device)
        ) as searching,
    ):
        answers = searching.run(queries, bool(arguments.get("expand")))
    title, file = f"Ranking of {source.name}", f"{source.stem}.run"
    with exporting(workplace.folder, name, "", "run", title, file) as path:
        write_run(path, answers)
    hits = sum(map(len, answers.values()))
    return {"made": name, "file": file, "queries": len(queries), "hits": hits, "notes": notes}
