"""Measures of ranked lists with judged documents: AP, nDCG, precision, recall and others.

Each takes a :class:`JudgedRanking` and returns one number, defined as trec_eval defines it.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wordsight.errors import WordsightError

__all__ = [
    "RANKING_MEASURES",
    "JudgedRanking",
    "Measure",
    "RankingScores",
    "evaluate_run",
    "judge",
    "parse_measure",
]


@dataclass(frozen=True, eq=False)
class JudgedRanking:
    """What a query's ranking found, against what there was to find.

    Attributes:
        grades: ``(n,)`` grade of the document on each rank; 0 if it was not judged.
        judged: ``(n,)`` whether it was judged.
        ideal: All grades of the query's judgements, falling.
    """

    grades: NDArray[np.int64]
    judged: NDArray[np.bool_]
    ideal: NDArray[np.int64]

    def relevant(self, least: int = 1) -> NDArray[np.bool_]:
        """Return ``(n,)`` whether the document on each rank has at least this grade."""
        return self.grades >= least

    def num_relevant(self, least: int = 1) -> int:
        """Return how many documents of at least this grade there are, found or not."""
        return int((self.ideal >= least).sum())


def judge(scores: Mapping[str, float], judgements: Mapping[str, int]) -> JudgedRanking:
    """Sort a query's documents by score and look their judgements up.

    Ties are broken by the name of the document, the later one first, as trec_eval does.

    Args:
        scores: Score of each document found.
        judgements: Grade of each document judged; below 1 is not relevant.
    """
    order = sorted(scores, key=lambda name: (scores[name], name), reverse=True)
    grades = np.array([max(0, judgements.get(name, 0)) for name in order], np.int64)
    judged = np.array([name in judgements for name in order], np.bool_)
    ideal = np.sort(np.array([max(0, g) for g in judgements.values()], np.int64))[::-1]
    return JudgedRanking(grades, judged, ideal)


def average_precision(found: JudgedRanking, cutoff: int | None, least: int) -> float:
    """Mean of the precision at each relevant document, 0 for those not found."""
    hits = found.relevant(least)[:cutoff]
    at_hit = np.cumsum(hits)[hits] / (np.flatnonzero(hits) + 1)
    return float(at_hit.sum() / max(1, found.num_relevant(least)))


def ndcg(found: JudgedRanking, cutoff: int | None, least: int) -> float:
    """Grades discounted by the logarithm of their rank, as a share of the best possible."""
    best = _discounted(found.ideal[:cutoff])
    return _discounted(found.grades[:cutoff]) / best if best else 0.0


def precision(found: JudgedRanking, cutoff: int | None, least: int) -> float:
    """Share of relevant documents among the first ranks, empty ranks counted."""
    hits = found.relevant(least)[:cutoff]
    return float(hits.sum() / max(1, len(hits) if cutoff is None else cutoff))


def recall(found: JudgedRanking, cutoff: int | None, least: int) -> float:
    """Share of all relevant documents that are on the first ranks."""
    return float(found.relevant(least)[:cutoff].sum() / max(1, found.num_relevant(least)))


def reciprocal_rank(found: JudgedRanking, cutoff: int | None, least: int) -> float:
    """One over the rank of the first relevant document, 0 if there is none."""
    hits = np.flatnonzero(found.relevant(least)[:cutoff])
    return float(1 / (hits[0] + 1)) if len(hits) else 0.0


def success(found: JudgedRanking, cutoff: int | None, least: int) -> float:
    """Whether any relevant document is on the first ranks."""
    return float(found.relevant(least)[:cutoff].any())


def r_precision(found: JudgedRanking, cutoff: int | None, least: int) -> float:
    """Precision at the rank that equals the number of relevant documents."""
    total = found.num_relevant(least)
    return precision(found, total, least) if total else 0.0


def bpref(found: JudgedRanking, cutoff: int | None, least: int) -> float:
    """How few documents judged irrelevant stand above relevant ones; unjudged ones are skipped."""
    relevant = found.num_relevant(least)
    irrelevant = len(found.ideal) - relevant
    hits = found.relevant(least)
    above = np.minimum(np.cumsum(found.judged & ~hits)[hits], relevant)
    bound = min(relevant, irrelevant)
    parts = 1.0 - above / bound if bound else np.ones(len(above))
    return float(parts.sum() / max(1, relevant))


def judged_share(found: JudgedRanking, cutoff: int | None, least: int) -> float:
    """Share of the first ranks that were judged."""
    judged = found.judged[:cutoff]
    return float(judged.mean()) if len(judged) else 0.0


def num_returned(found: JudgedRanking, cutoff: int | None, least: int) -> float:
    """How many documents were returned."""
    return float(len(found.grades))


def num_relevant(found: JudgedRanking, cutoff: int | None, least: int) -> float:
    """How many relevant documents there are."""
    return float(found.num_relevant(least))


def num_relevant_returned(found: JudgedRanking, cutoff: int | None, least: int) -> float:
    """How many relevant documents were returned."""
    return float(found.relevant(least).sum())


def _discounted(grades: NDArray[np.int64]) -> float:
    return float(grades @ (1 / np.log2(np.arange(len(grades)) + 2.0)))


RankingMeasure = Callable[[JudgedRanking, int | None, int], float]

RANKING_MEASURES: dict[str, RankingMeasure] = {
    "AP": average_precision,
    "Bpref": bpref,
    "Judged": judged_share,
    "NumRel": num_relevant,
    "NumRelRet": num_relevant_returned,
    "NumRet": num_returned,
    "P": precision,
    "R": recall,
    "RR": reciprocal_rank,
    "Rprec": r_precision,
    "Success": success,
    "nDCG": ndcg,
}
"""Every measure by the name ir-measures gives it."""


# Measures by their ir-measures names (``AP``, ``nDCG@10``, ``P(rel=2)@5``), over many queries.

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

    @property
    def is_sum(self) -> bool:
        """Whether it is summed over queries instead of averaged."""
        return self.kind in _SUMMED

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

    Examples:
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
        means[str(measure)] = sum(values) / (1 if measure.is_sum else len(values))
    return RankingScores(means, queries)
