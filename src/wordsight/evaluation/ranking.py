"""Measures of ranked lists with judged documents: AP, nDCG, precision, recall and others.

Each takes a :class:`JudgedRanking` and returns one number, defined as trec_eval defines it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["RANKING_MEASURES", "JudgedRanking", "judge"]


@dataclass(frozen=True, eq=False)
class JudgedRanking:
    """What a query's ranking found, against what there was to find.

    Attributes:
        grades: ``(n,)`` grade of the document on each rank; 0 if nobody judged it.
        judged: ``(n,)`` whether somebody did.
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
    """Share of the first ranks that somebody judged."""
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
