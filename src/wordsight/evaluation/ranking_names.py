"""Measures by their ir-measures names (``AP``, ``nDCG@10``, ``P(rel=2)@5``), over many queries."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from wordsight.errors import WordsightError
from wordsight.evaluation.ranking import RANKING_MEASURES, JudgedRanking, judge

__all__ = ["Measure", "RankingScores", "evaluate_run", "parse_measure"]

_NAME = re.compile(r"([A-Za-z]+)(?:\(rel=(\d+)\))?(?:@(\d+))?")
_ALIASES = {"map": "AP", "mrr": "RR", "precision": "P", "recall": "R", "ap": "AP", "rr": "RR"}
_NEEDS_CUTOFF = {"P", "Success", "Judged", "R"}
_SUMMED = {"NumRet", "NumRel", "NumRelRet"}
_NO_GRADE = {"nDCG", "Judged", "NumRet"}

Run = Mapping[str, Mapping[str, float]]
Qrels = Mapping[str, Mapping[str, int]]


@dataclass(frozen=True)
class Measure:
    """A measure with its settings.

    Attributes:
        kind: Which one, such as ``AP``.
        least: Least grade that counts as relevant.
        cutoff: How many ranks count; all if ``None``.
    """

    kind: str
    least: int = 1
    cutoff: int | None = None

    def __str__(self) -> str:
        grade = f"(rel={self.least})" if self.least != 1 else ""
        return f"{self.kind}{grade}{'' if self.cutoff is None else f'@{self.cutoff}'}"

    def __call__(self, found: JudgedRanking) -> float:
        """Return the measure of one query's ranking."""
        return RANKING_MEASURES[self.kind](found, self.cutoff, self.least)


@dataclass(frozen=True)
class RankingScores:
    """The measures of a run.

    Attributes:
        means: Each measure's mean over the queries; counts are summed.
        queries: For each query its measures.
    """

    means: dict[str, float]
    queries: dict[str, dict[str, float]]


def parse_measure(name: str) -> Measure:
    """Read a measure's name.

    Example:
        >>> parse_measure("P(rel=2)@5")
        Measure(kind='P', least=2, cutoff=5)

    Raises:
        WordsightError: If there is no such measure, or it needs or takes no cut-off.
    """
    match = _NAME.fullmatch(name.strip())
    kinds = {kind.lower(): kind for kind in RANKING_MEASURES} | _ALIASES
    kind = kinds.get(match[1].lower()) if match else None
    if match is None or kind is None:
        raise WordsightError(
            f"there is no measure {name!r}; there are {', '.join(RANKING_MEASURES)}, written like "
            "AP, nDCG@10 or P(rel=2)@5."
        )
    least, cutoff = int(match[2] or 1), int(match[3]) if match[3] else None
    if cutoff is None and kind in _NEEDS_CUTOFF:
        raise WordsightError(f"{kind} needs to know how many ranks count, such as {kind}@10.")
    if cutoff == 0 or (cutoff is not None and kind in (_SUMMED | {"Bpref", "Rprec"})):
        raise WordsightError(f"{name} cannot be: {kind} takes no such number of ranks.")
    if match[2] and kind in _NO_GRADE:
        raise WordsightError(f"{kind} counts every grade; leave (rel={least}) out.")
    return Measure(kind, least, cutoff)


def evaluate_run(run: Run, qrels: Qrels, measures: Sequence[str | Measure]) -> RankingScores:
    """Measure a run.

    Every query with judgements counts, with an empty ranking if the run does not hold it; queries
    without judgements do not count.

    Args:
        run: For each query the score of each document found.
        qrels: For each query the grade of each document judged.
        measures: Which ones.

    Raises:
        WordsightError: If there are no judgements, or a measure does not exist.
    """
    wanted = [m if isinstance(m, Measure) else parse_measure(m) for m in measures]
    if not qrels:
        raise WordsightError("there is no judgement to measure against.")
    queries = {}
    for query, judgements in qrels.items():
        found = judge(run.get(query, {}), judgements)
        queries[query] = {str(measure): measure(found) for measure in wanted}
    means = {}
    for measure in wanted:
        values = [scores[str(measure)] for scores in queries.values()]
        means[str(measure)] = sum(values) / (1 if measure.kind in _SUMMED else len(values))
    return RankingScores(means, queries)
