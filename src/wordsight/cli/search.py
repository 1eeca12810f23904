"""``search``, ``watch``, ``index``, ``evaluate``: find moments, and measure what was found."""

import json
from contextlib import suppress
from dataclasses import asdict
from typing import Any

import typer
from typer.core import TyperGroup

from wordsight.cli.options import DEFAULT_LIBRARY, LibraryOption, command, verb
from wordsight.cli.output import Output, show_quality
from wordsight.workflows.evaluate import EvaluateResult, EvaluateWordsResult, evaluate_words
from wordsight.workflows.evaluate import evaluate as evaluate_ranking
from wordsight.workflows.evaluate_steps import EvaluateStepsResult, evaluate_steps
from wordsight.workflows.found_moments import evidence_text
from wordsight.workflows.index import IndexResult
from wordsight.workflows.index import index as index_library
from wordsight.workflows.search import SearchResult
from wordsight.workflows.search import search as search_library
from wordsight.workflows.units import clock, count
from wordsight.workflows.watch import Watching, WatchRequest

__all__ = ["evaluate", "index", "search", "watch"]


@verb(search_library)
def search(output: Output, result: SearchResult) -> None:
    """Search for moments by words, a sentence, a picture, a part of it, or a moment.

    Words find shots in which they are said or written; a sentence that learned words can read
    finds moments it is true of; a picture finds shots that look like it. The answer says which
    evidence counted. The index is brought up to date first.
    """
    if result.answers is not None:
        hits = count(result.num_hits, "hit")
        output.line(f"Wrote {hits} of {len(result.answers)} queries to {result.run}")
        return
    if not result.moments:
        if result.answer is not None:
            output.line(result.how)
            return
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


@verb(index_library)
def index(output: Output, result: IndexResult) -> None:
    """Make or update the search index; `search` also updates it when needed."""
    report = result.report
    output.line(
        f"Indexed {count(len(report.added), 'video')}; {len(report.unchanged)} unchanged, "
        f"{len(report.removed)} removed, {len(report.failed)} failed."
    )


@command(WatchRequest)
def watch(output: Output, request: WatchRequest, library: LibraryOption = DEFAULT_LIBRARY) -> None:
    """Watch a camera or stream, and report when what a sentence says happens.

    Hits are printed as they happen; with --json as one line of JSON each. Ctrl-C ends the watch.
    """
    with Watching(request.model_copy(update={"library": library}), output) as watching:
        output.note(f"Watching {watching.source.name} with {watching.detector.name}.")
        with suppress(KeyboardInterrupt):  # how a watch usually ends
            for hit in watching.hits():
                if output.style.json:
                    print(json.dumps(hit.to_json(), ensure_ascii=False), flush=True)
                    continue
                output.line(
                    f"{clock(hit.start)} - {clock(hit.end)}  {hit.probability:.0%} sure, after "
                    f"{hit.delay:.1f} s  {hit.text}"
                )
        done = watching.result(())
        output.note(
            f"{count(watching.num_hits, 'hit')} in {clock(done.seconds)}, "
            f"{done.frames} frames looked at, {done.dropped} dropped."
        )


class _RankingByDefault(TyperGroup):
    """A group whose command ``ranking`` need not be named: ``evaluate RUN QRELS`` is enough."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        named = args[0] in self.commands
        return super().resolve_command(ctx, args if named else ["ranking", *args])


evaluate = typer.Typer(
    help="Measure rankings of `search --run`, how good words are, or aligned steps.",
    cls=_RankingByDefault,
    no_args_is_help=True,
)


@evaluate.command()
@verb(evaluate_ranking)
def ranking(output: Output, result: EvaluateResult) -> None:
    """Measure a run of `search --run` against judgements."""
    scores = result.scores
    if result.per_query:
        rows = [(q, *(f"{v:.4f}" for v in each.values())) for q, each in scores.queries.items()]
        output.table(["query", *scores.means], rows)
    rows = []
    for name, mean in scores.means.items():
        spread = result.intervals.get(name)
        shown = "" if spread is None else f"{spread.low:.4f} to {spread.high:.4f}"
        rows.append((name, f"{mean:.4f}", shown))
    output.table(["measure", "mean", "95 % interval"], rows)


@evaluate.command()
@verb(evaluate_words)
def words(output: Output, result: EvaluateWordsResult) -> None:
    """Measure how good words are on videos they were not learned from."""
    show_quality(output, result.quality, confusions=True)


@evaluate.command()
@verb(evaluate_steps)
def steps(output: Output, result: EvaluateStepsResult) -> None:
    """Align published lists of steps with scores of frames, and measure that."""
    rows = [
        (name.replace("_", "-"), *(f"{value:.4f}" for value in asdict(row).values()))
        for name, row in result.scores.items()
    ]
    output.table(["method", "MoF", "IoU", "F1@50", "step recall"], rows)
