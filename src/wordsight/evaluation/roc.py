"""The receiver operating characteristic: how many true ones a threshold finds at what price."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["RocCurve", "roc_curve"]


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
