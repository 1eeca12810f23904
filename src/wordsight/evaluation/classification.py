"""F1 of true-or-false decisions, with what chance and a blind guesser would reach.

A blind guesser never looks at the video: per sentence it says always "true" or always "false".
The best one can do that way bounds what any figure must beat before it says something of vision.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wordsight.errors import WordsightError

__all__ = [
    "Decisions",
    "RocCurve",
    "StepScores",
    "best_threshold",
    "blind_f1",
    "blind_f1_of_counts",
    "chance_f1",
    "decisions",
    "roc_curve",
    "score_steps",
    "separating_threshold",
]


@dataclass(frozen=True)
class Decisions:
    """How a set of true-or-false decisions turned out.

    Attributes:
        true_positives: Said true and was.
        false_positives: Said true and was not.
        false_negatives: Said false and was true.
        true_negatives: Said false and was.
    """

    true_positives: int
    false_positives: int
    false_negatives: int
    true_negatives: int

    @property
    def precision(self) -> float:
        """Share of what was said true that is; 0 if nothing was."""
        return _ratio(self.true_positives, self.true_positives + self.false_positives)

    @property
    def recall(self) -> float:
        """Share of what is true that was said; 0 if nothing is."""
        return _ratio(self.true_positives, self.true_positives + self.false_negatives)

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall; 0 if there is nothing true and nothing said."""
        hits = 2 * self.true_positives
        return _ratio(hits, hits + self.false_positives + self.false_negatives)


def decisions(truth: ArrayLike, said: ArrayLike) -> Decisions:
    """Count decisions of any shape against the truth of the same shape.

    Examples:
        >>> decisions([True, True, False], [True, False, False]).f1
        0.6666666666666666
    """
    is_true, is_said = _booleans(truth), _booleans(said)
    if is_true.shape != is_said.shape:
        raise ValueError(f"truth {is_true.shape} and decisions {is_said.shape} differ in shape.")
    return Decisions(
        int((is_true & is_said).sum()),
        int((~is_true & is_said).sum()),
        int((is_true & ~is_said).sum()),
        int((~is_true & ~is_said).sum()),
    )


def chance_f1(truth: ArrayLike, rate: float = 0.5) -> float:
    """Return the F1 of saying true at random with the given rate, in expected counts.

    With rate 1/2 and a share r of true pairs this is r / (r + 1/2).
    """
    share = float(_booleans(truth).mean())
    return _ratio(2 * share * rate, share + rate)


def blind_f1(truth: ArrayLike) -> float:
    """Return the best F1 a guesser can reach that answers each sentence the same for every clip.

    Chooses, per sentence, always or never, so that all pairs together have the best F1
    (Dinkelbach's method on the ratio of errors to hits; exact, ends after a few steps).

    Args:
        truth: ``(clips, sentences)`` which pairs are true.

    Returns:
        The bound; 0 if nothing is true.
    """
    table = _booleans(truth)
    if table.ndim != 2:
        raise ValueError(f"truth must be (clips, sentences), got {table.shape}.")
    hits = table.sum(axis=0).astype(np.float64)
    return blind_f1_of_counts(hits, len(table) - hits)


def blind_f1_of_counts(hits: ArrayLike, false_alarms: ArrayLike) -> float:
    """Return the bound of :func:`blind_f1` where not every sentence is asked of every clip.

    Args:
        hits: ``(sentences,)`` of how many clips each is true that it was asked of.
        false_alarms: ``(sentences,)`` of how many it is false.
    """
    hits = np.asarray(hits, dtype=np.float64)
    false_alarms = np.asarray(false_alarms, dtype=np.float64)
    if not hits.any():
        return 0.0
    # Start with every sentence always true; each step can only lower the ratio.
    ratio = false_alarms.sum() / (2 * hits.sum())
    while True:
        always = false_alarms - hits - 2 * ratio * hits < 0
        if not always.any():
            return float(1 / (1 + ratio))
        errors = false_alarms[always].sum() + hits[~always].sum()
        better = errors / (2 * hits[always].sum())
        if not better < ratio:
            return float(1 / (1 + ratio))
        ratio = better


def best_threshold(scores: ArrayLike, truth: ArrayLike) -> tuple[float, float]:
    """Find the threshold with the best F1 when everything at or above it is said true.

    Args:
        scores: Scores of any shape; higher means truer.
        truth: Truth of the same shape.

    Returns:
        The threshold, half way to the next lower score so that it carries over to new clips, and
        its F1. Among equals the highest threshold wins. Without anything true the threshold is
        infinite: nothing is ever said true.
    """
    values = np.asarray(scores, dtype=np.float64).ravel()
    is_true = _booleans(truth).ravel()
    if values.shape != is_true.shape:
        raise ValueError(f"{values.size} scores do not match {is_true.size} truths.")
    if not is_true.any():
        return np.inf, 0.0
    order = np.argsort(-values, kind="stable")
    values, is_true = values[order], is_true[order]
    hits = np.cumsum(is_true)
    f1 = 2 * hits / (np.arange(1, len(values) + 1) + is_true.sum())
    # A threshold can only stand between two different scores.
    last_of_ties = np.append(values[1:] < values[:-1], True)
    best = int(np.argmax(np.where(last_of_ties, f1, -1.0)))
    below = values[best + 1] if best + 1 < len(values) else -np.inf
    return _between(float(below), float(values[best])), float(f1[best])


def separating_threshold(scores: ArrayLike, truth: ArrayLike) -> float:
    """Find the threshold that parts true from false best: most true less false ones said true.

    Shares are compared, of the true and of the false, so that it stays the same if some of those
    taken for false are true (Youden's index shrinks, its maximum stays).

    Args:
        scores: Scores of any shape; higher means truer.
        truth: Truth of the same shape, with true and false ones.
    """
    values = np.asarray(scores, dtype=np.float64).ravel()
    is_true = _booleans(truth).ravel()
    order = np.argsort(-values, kind="stable")
    values, is_true = values[order], is_true[order]
    gain = np.cumsum(is_true) / is_true.sum() - np.cumsum(~is_true) / (~is_true).sum()
    last_of_ties = np.append(values[1:] < values[:-1], True)
    best = int(np.argmax(np.where(last_of_ties, gain, -1.0)))
    below = values[best + 1] if best + 1 < len(values) else -np.inf
    return _between(float(below), float(values[best]))


def _between(low: float, high: float) -> float:
    middle = low + (high - low) / 2
    return middle if np.isfinite(middle) and middle > low else high


def _ratio(above: float, below: float) -> float:
    return float(above / below) if below else 0.0


def _booleans(values: ArrayLike) -> NDArray[np.bool_]:
    return np.asarray(values, dtype=np.bool_)


# The receiver operating characteristic: how many true ones a threshold finds at what price.


@dataclass(frozen=True)
class RocCurve:
    """True-positive rate against false-positive rate for every threshold.

    Attributes:
        false_positive_rates: ``(N,)`` rising from 0 to 1.
        true_positive_rates: ``(N,)`` rising from 0 to 1.
        thresholds: ``(N,)`` falling; a point says true to every score at or above its threshold.
    """

    false_positive_rates: NDArray[np.float64]
    true_positive_rates: NDArray[np.float64]
    thresholds: NDArray[np.float64]

    @property
    def area(self) -> float:
        """Area under the curve: the chance that a true pair scores above a false one."""
        return float(np.trapezoid(self.true_positive_rates, self.false_positive_rates))

    def true_positive_rate_at(self, false_positive_rate: float) -> float:
        """Return the share of true ones found at a given share of false alarms."""
        return float(
            np.interp(false_positive_rate, self.false_positive_rates, self.true_positive_rates)
        )


def roc_curve(scores: ArrayLike, truth: ArrayLike) -> RocCurve:
    """Trace the curve of scores against their truth, ties counted together.

    Args:
        scores: Scores of any shape; higher means truer.
        truth: Truth of the same shape, with at least one true and one false.
    """
    values = np.asarray(scores, dtype=np.float64).ravel()
    is_true = np.asarray(truth, dtype=np.bool_).ravel()
    if values.shape != is_true.shape:
        raise ValueError(f"{values.size} scores do not match {is_true.size} truths.")
    if is_true.all() or not is_true.any():
        raise ValueError("a curve needs at least one true and one false pair.")
    order = np.argsort(-values, kind="stable")
    values, is_true = values[order], is_true[order]
    last = np.append(values[1:] < values[:-1], True)
    hits, alarms = np.cumsum(is_true)[last], np.cumsum(~is_true)[last]
    return RocCurve(
        np.concatenate([[0.0], alarms / alarms[-1]]),
        np.concatenate([[0.0], hits / hits[-1]]),
        np.concatenate([[np.inf], values[last]]),
    )


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
    labelled = truth >= 0
    steps = np.unique(truth[labelled])
    common = np.array([((truth == k) & (found == k)).sum() for k in steps])
    either = np.array([((truth == k) | (found == k)).sum() for k in steps])
    overlaps = common / either
    claimed = len(np.unique(found[found >= 0]))
    hits = int((overlaps >= 0.5).sum())
    middles = [np.flatnonzero(found == k) for k in steps]
    right = [len(m) > 0 and truth[m[len(m) // 2]] == k for k, m in zip(steps, middles, strict=True)]
    return (
        float((truth == found)[labelled].mean()),
        float(overlaps.mean()),
        2 * hits / max(len(steps) + claimed, 1),
        float(np.mean(right)),
    )
