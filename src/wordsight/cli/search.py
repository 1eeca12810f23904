"""``search``: moments by words, pictures, regions, other moments and meanings."""

from wordsight.cli.options import DEFAULT_LIBRARY, LibraryOption, command
from wordsight.cli.output import Output
from wordsight.workflows.found_moments import evidence_text
from wordsight.workflows.search import SearchRequest, SearchResult
from wordsight.workflows.search import search as search_library
from wordsight.workflows.units import clock, count

__all__ = ["search"]


@command(SearchRequest)
def search(
    output: Output, request: SearchRequest, library: LibraryOption = DEFAULT_LIBRARY
) -> None:
    """Search for moments by words, a sentence, a picture, a part of it, or a moment.

    Words find shots in which they are said or written; a sentence that learned words can read
    finds moments it is true of; a picture finds shots that look like it. The answer says which
    evidence counted. The index is brought up to date first.
    """
    result = search_library(library, request, progress=output)
    output.result(result, lambda out: _render(out, result))


def _render(output: Output, result: SearchResult) -> None:
    if result.answers is not None:
        hits = count(result.num_hits, "hit")
        output.line(f"Wrote {hits} of {len(result.answers)} queries to {result.run}")
        return
    if not result.moments:
        output.line("Nothing found. (--all shows the nearest moments all the same.)")
        return
    grounded = any("meaning" in each.by for each in result.moments)
    rows = [
        (each.video_id, clock(each.start), clock(each.end), each.score, evidence_text(each))
        for each in result.moments
    ]
    heading = "evidence per word" if grounded else "evidence"
    output.table(["video", "from", "to", "score", heading], rows)
    output.line(result.how)
