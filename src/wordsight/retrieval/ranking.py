"""The best of many scores, exactly: highest first, equal ones in the order of their names."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wordsight.retrieval.documents import Document
from wordsight.retrieval.errors import RetrievalError

__all__ = ["Hit", "top_k"]


@dataclass(frozen=True)
class Hit:
    """A document that was found.

    Attributes:
        document: Which one.
        score: How well it fits; higher is better, comparable within one answer.
        position: Where it stands in the index.
    """

    document: Document
    score: float
    position: int


def top_k(
    scores: NDArray[np.float64], k: int, name_of: Callable[[int], str] | None = None
) -> NDArray[np.int64]:
    """Return the positions of the ``k`` highest scores.

    Args:
        scores: ``(D,)``; ``-inf`` for what must not be found, never NaN.
        k: How many at most.
        name_of: Gives the name of a position; equal scores stand in the order of their names, so
            that an answer does not depend on where documents happen to lie. By position if left
            out.

    Returns:
        ``(min(k, D),)`` positions, the best first, those of ``-inf`` left out.
    """
    if k < 1:
        raise RetrievalError(f"at least one hit must be asked for, got {k}.")
    if np.isnan(scores).any():
        raise RetrievalError("a score is not a number; the query or the index is damaged.")
    if k < len(scores):
        least = np.partition(scores, len(scores) - k)[len(scores) - k]
        positions = np.flatnonzero(scores >= least)  # more than k where the last place is shared
    else:
        positions = np.arange(len(scores))
    positions = positions[np.isfinite(scores[positions])]
    positions = positions[np.argsort(-scores[positions], kind="stable")]
    if name_of is not None and len(np.unique(scores[positions])) < len(positions):
        order = sorted(positions.tolist(), key=lambda at: (-scores[at], name_of(at)))
        positions = np.array(order, dtype=np.int64)
    return positions[:k]
