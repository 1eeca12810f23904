"""How well steps of a list are found in the frames of a video."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wordsight.errors import WordsightError

__all__ = ["StepScores", "score_steps"]

Labels = NDArray[np.int64]


@dataclass(frozen=True)
class StepScores:
    """Measures of aligned steps, means over videos.

    Attributes:
        mof: Share of the frames of steps that have the right step.
        iou: Frames in common by frames in either, mean over steps.
        f1_50: F1 of steps that overlap the true ones by half of the frames in either, or more.
        step_recall: Share of steps whose middle, as found, lies within the true step.
    """

    mof: float
    iou: float
    f1_50: float
    step_recall: float


def score_steps(truths: Sequence[Labels], found: Sequence[Labels]) -> StepScores:
    """Score the step of each frame, by its place in the list; -1 for none.

    Frames of which the truth has no step do not count for ``mof``, but do for overlaps.

    Raises:
        WordsightError: If there is no video, or one has another number of frames.
    """
    if not truths or len(truths) != len(found):
        raise WordsightError(f"expected a result for each of {len(truths)} videos.")
    rows = [_scored(*pair) for pair in zip(truths, found, strict=True)]
    return StepScores(*(float(value) for value in np.mean(rows, axis=0)))


def _scored(truth: Labels, found: Labels) -> tuple[float, float, float, float]:
    if truth.shape != found.shape or not (truth >= 0).any():
        raise WordsightError(
            f"expected a step for each of {len(truth)} frames of which some belong to a step, got "
            f"{len(found)}."
        )
    told = truth >= 0
    steps = np.unique(truth[told])
    common = np.array([((truth == k) & (found == k)).sum() for k in steps])
    either = np.array([((truth == k) | (found == k)).sum() for k in steps])
    overlaps = common / either
    claimed = len(np.unique(found[found >= 0]))
    hits = int((overlaps >= 0.5).sum())
    middles = [np.flatnonzero(found == k) for k in steps]
    right = [len(m) > 0 and truth[m[len(m) // 2]] == k for k, m in zip(steps, middles, strict=True)]
    return (
        float((truth == found)[told].mean()),
        float(overlaps.mean()),
        2 * hits / max(len(steps) + claimed, 1),
        float(np.mean(right)),
    )
