"""The cost of a transition chosen by cross-fitting: on videos whose rules were learned on others.

A rule that is broken costs per frame and a transition per change, so nothing in the rules says how
the two compare; on the videos the rules came from, all costs look surer than they are.
"""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from wordsight.states.training import TrainingVideo, compressed

__all__ = [
    "GRID",
    "choose_cost",
    "choose_transition",
    "edit_share",
    "make_folds",
    "sequence_score",
]

GRID = tuple(np.geomspace(0.5, 128.0, 33).round(3).tolist())
"""Costs that are tried, evenly spread by ratio."""

_MOST_FOLDS = 5


def make_folds(
    count: int, groups: Sequence[object] | None, random: np.random.Generator
) -> NDArray[np.int64]:
    """Return ``(count,)`` the fold of each video: by group where there are two or more."""
    names = sorted(set(map(str, groups or ())))
    if len(names) >= 2:
        numbers = np.array([names.index(str(group)) for group in groups or ()])
        return np.asarray(numbers % _MOST_FOLDS, dtype=np.int64)
    return random.permutation(np.arange(count) % min(_MOST_FOLDS, max(2, count)))


def choose_transition(
    videos: Sequence[TrainingVideo],
    weights: Sequence[NDArray[np.float64]],
    grid: Sequence[float] = GRID,
) -> tuple[float, tuple[float, ...]]:
    """Choose K by videos that were held out from their rules.

    The score is the mean of how many sequences are exactly right and how near the others come,
    smoothed over neighbouring costs: a plateau is safer than a peak.

    Args:
        videos: Held-out videos, grounded with rules learned on others.
        weights: Per video the weights of its rules.
        grid: Costs to try, rising.

    Returns:
        The cost chosen, and the score of each cost tried before smoothing.
    """

    def score(cost: float) -> float:
        pairs = zip(videos, weights, strict=True)
        return float(np.mean([sequence_score(v.predict(w, cost), v.order) for v, w in pairs]))

    return choose_cost(score, grid)


def choose_cost(
    score: Callable[[float], float], grid: Sequence[float] = GRID
) -> tuple[float, tuple[float, ...]]:
    """Return the cost in the middle of the best plateau of a score, and all scores."""
    scores = np.array([score(cost) for cost in grid])
    padded = np.pad(scores, 2, mode="edge")
    smooth = np.convolve(padded, np.array([1, 2, 3, 2, 1]) / 9, mode="valid")
    top = np.flatnonzero(smooth >= smooth.max() - 1e-9)
    return float(grid[int(top[len(top) // 2])]), tuple(scores.tolist())


def sequence_score(values: NDArray[np.bool_], order: NDArray[np.bool_]) -> float:
    """Return how well states over time ``(T, F)`` pass through the right ones in their order.

    Half the score is for being exactly right, half for coming near.
    """
    found = compressed(values)
    right = np.array_equal(found, order)
    return (right + 1.0 - min(1.0, edit_share(found, order))) / 2


def edit_share(found: NDArray[np.bool_], truth: NDArray[np.bool_]) -> float:
    """Return the edit distance of two sequences of states, as a share of the true one's length."""
    rows = np.arange(len(truth) + 1)
    for state in found:
        step = rows.copy()
        step[0] = rows[0] + 1
        differs = (truth != state).any(axis=1)
        for k in range(1, len(rows)):
            step[k] = min(rows[k] + 1, step[k - 1] + 1, rows[k - 1] + differs[k - 1])
        rows = step
    return float(rows[-1]) / max(1, len(truth))
