"""``evaluate``: how good a ranking is, by judgements."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wordsight.errors import WordsightError
from wordsight.workflows.reporter import RecordingReporter
from wordsight.workflows.settings import Request, argument, setting
from wordsight.workflows.units import count
from wordsight.workflows.workflow import Result, as_json, workflow

if TYPE_CHECKING:
    from wordsight.evaluation import RankingScores

__all__ = ["DEFAULT_MEASURES", "EvaluateRequest", "EvaluateResult", "evaluate"]

DEFAULT_MEASURES = ("AP", "nDCG@10", "P@10", "R@100", "RR")
"""What a ranking is measured by unless measures are named."""


class EvaluateRequest(Request):
    """Which ranking to measure, against what, and by which measures."""

    run: Path = argument("A ranking, as a TREC run file.", metavar="RUN")
    qrels: Path = argument("Judgements, as TREC qrels.", metavar="QRELS")
    measures: tuple[str, ...] = argument(
        "As ir-measures names them: AP, nDCG@10, P(rel=2)@5, RR, R@100, …",
        metavar="MEASURE...",
        default=(),
        default_text=" ".join(DEFAULT_MEASURES),
    )
    per_query: bool = setting(False, "Show every query.")


@dataclass(frozen=True)
class EvaluateResult(Result):
    """How good a ranking is.

    Attributes:
        scores: Means, and the scores of each query.
        num_queries: Queries with judgements.
        missing: Queries with judgements that are not in the run; they count as 0.
        unjudged: Queries of the run without judgements; they are left out.
        per_query: Whether the scores of each query are a part of the JSON.
    """

    scores: "RankingScores"
    num_queries: int
    missing: tuple[str, ...]
    unjudged: tuple[str, ...]
    per_query: bool

    def to_json(self) -> Any:
        """Return what ``wordsight evaluate --json`` prints."""
        value = {"queries": self.num_queries, "means": self.scores.means}
        return as_json(value | ({"per_query": self.scores.queries} if self.per_query else {}))


@workflow(EvaluateRequest)
def evaluate(request: EvaluateRequest, *, reporter: RecordingReporter) -> EvaluateResult:
    """Measure a ranking against judgements."""
    from wordsight.evaluation import evaluate_run, parse_measure
    from wordsight.retrieval.trec import read_qrels, read_run

    measures = [parse_measure(name) for name in request.measures or DEFAULT_MEASURES]
    run, judged = read_run(request.run), read_qrels(request.qrels)
    if not judged:
        raise WordsightError(f"{request.qrels} holds no judgements.")
    missing, unjudged = sorted(set(judged) - set(run)), sorted(set(run) - set(judged))
    if missing:
        queries = count(len(missing), "judged query")
        reporter.note(f"{queries} not in the run count as 0.")
    if unjudged:
        queries = count(len(unjudged), "query")
        reporter.note(f"{queries} of the run without judgements left out.")
    return EvaluateResult(
        evaluate_run(run, judged, measures),
        len(judged),
        tuple(missing),
        tuple(unjudged),
        request.per_query,
        warnings=tuple(reporter.notes),
    )
