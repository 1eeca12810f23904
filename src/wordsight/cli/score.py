"""``score``: how well sentences fit a video."""

from wordsight.cli.options import DEFAULT_LIBRARY, LibraryOption, command
from wordsight.cli.output import Output
from wordsight.workflows.score import ScoreRequest, ScoreResult
from wordsight.workflows.score import score as score_sentences
from wordsight.workflows.units import clock

__all__ = ["score"]


@command(ScoreRequest)
def score(output: Output, request: ScoreRequest, library: LibraryOption = DEFAULT_LIBRARY) -> None:
    """Say how well sentences fit a video, and whether they are true of it.

    Of a long video, each is asked about the moment that it fits best.
    """
    result = score_sentences(library, request, progress=output)
    output.result(result, lambda out: _render(out, result))


def _render(output: Output, result: ScoreResult) -> None:
    timed = any(result.are_moments)
    rows = [
        (
            *((clock(one.start), clock(one.end)) if timed else ()),
            "yes" if one.holds else "no",
            one.score,
            one.text,
        )
        for one in result.scores
    ]
    output.table([*(("from", "to") if timed else ()), "true", "score", "sentence"], rows)
