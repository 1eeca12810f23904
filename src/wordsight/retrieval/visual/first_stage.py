"""Which few of a query's samples to look at first: a spread over what the picture shows."""

import numpy as np
from numpy.typing import NDArray

from wordsight.retrieval.visual.packing import Array

__all__ = ["representative_samples"]


def representative_samples(values: Array, count: int) -> NDArray[np.int64]:
    """Choose samples that stand for all, without chance.

    Samples are sorted along the direction in which they differ most and taken at even steps, so
    that common looks are chosen often and rare ones still have their turn.

    Args:
        values: ``(N, n)`` samples on the collection's scale; columns of NaN do not count.
        count: How many to choose.

    Returns:
        ``(min(count, N),)`` their rows, rising.
    """
    if len(values) <= count:
        return np.arange(len(values))
    known = values[:, ~np.isnan(values).all(axis=0)]
    away = known - known.mean(axis=0)
    _, directions = np.linalg.eigh(away.T @ away)
    order = np.argsort(away @ directions[:, -1], kind="stable")
    steps = (np.arange(count) + 0.5) * len(values) / count
    return np.sort(order[steps.astype(np.int64)])
