"""``evaluate``: how good a ranking is, by judgements."""

from pathlib import Path
from typing import Annotated

import typer

from wordsight.cli.options import speaking
from wordsight.cli.output import Output
from wordsight.workflows.units import count

__all__ = ["evaluate"]

DEFAULT_MEASURES = ("AP", "nDCG@10", "P@10", "R@100", "RR")


@speaking
def evaluate(
    output: Output,
    run: Annotated[Path, typer.Argument(metavar="RUN", help="A ranking, as a TREC run file.")],
    qrels: Annotated[Path, typer.Argument(metavar="QRELS", help="Judgements, as TREC qrels.")],
    measures: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="MEASURE...",
            help="As ir-measures names them: AP, nDCG@10, P(rel=2)@5, RR, R@100, …",
            show_default=" ".join(DEFAULT_MEASURES),
        ),
    ] = None,
    per_query: Annotated[
        bool, typer.Option("--per-query", help="Show every query.", show_default=False)
    ] = False,
) -> None:
    """Measure a run of `search --run` against judgements."""
    from wordsight.evaluation import evaluate_run, parse_measure
    from wordsight.retrieval.trec import read_qrels, read_run

    wanted = [parse_measure(name) for name in measures or DEFAULT_MEASURES]
    found, judged = read_run(run), read_qrels(qrels)
    scores = evaluate_run(found, judged, wanted)
    missing = sorted(set(judged) - set(found))
    unjudged = sorted(set(found) - set(judged))
    if missing:
        output.note(f"{count(len(missing), 'judged query')} not in the run count as 0.")
    if unjudged:
        output.note(f"{count(len(unjudged), 'query')} of the run without judgements left out.")
    value = {"queries": len(judged), "means": scores.means}
    if per_query:
        value["per_query"] = scores.queries

    def render(out: Output) -> None:
        if per_query:
            rows = [(q, *(f"{v:.4f}" for v in each.values())) for q, each in scores.queries.items()]
            out.table(["query", *scores.means], rows)
        out.table(["measure", "mean"], [(m, f"{v:.4f}") for m, v in scores.means.items()])

    output.result(value, render)
