"""``evaluate``: how good a ranking is, by judgements."""

from wordsight.cli.options import command
from wordsight.cli.output import Output
from wordsight.workflows.evaluate import EvaluateRequest
from wordsight.workflows.evaluate import evaluate as evaluate_ranking

__all__ = ["evaluate"]


@command(EvaluateRequest)
def evaluate(output: Output, request: EvaluateRequest) -> None:
    """Measure a run of `search --run` against judgements."""
    result = evaluate_ranking(request, progress=output)
    scores = result.scores

    def render(out: Output) -> None:
        if result.per_query:
            rows = [(q, *(f"{v:.4f}" for v in each.values())) for q, each in scores.queries.items()]
            out.table(["query", *scores.means], rows)
        out.table(["measure", "mean"], [(m, f"{v:.4f}") for m, v in scores.means.items()])

    output.result(result, render)
