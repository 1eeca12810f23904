"""Compiled histograms of boosted discovery: the gain of each threshold of each feature."""

import numpy as np
from numba import njit

__all__ = ["best_condition"]


@njit(cache=True, nogil=True)
def best_condition(bins, rows, gradients, curvatures, levels, ridge, least, sign):  # type: ignore[no-untyped-def]
    """Find the condition whose rows a constant step explains best.

    Args:
        bins: ``(D, N)`` number of thresholds below each value, 255 where it is missing.
        rows: The rows to use.
        gradients: ``(N,)`` truth minus probability.
        curvatures: ``(N,)`` variance of the truth under the model.
        levels: ``(D,)`` number of thresholds of each feature.
        ridge: Added to the curvature, so that small groups do not get large steps.
        least: Least curvature that the rows must have together.
        sign: 1 for steps up, -1 for steps down, 0 for either.

    Returns:
        The gain, the feature, the threshold, and whether values must lie above it.
    """
    best, feature, level, above = 0.0, -1, -1, False
    up, curve = np.empty(256), np.empty(256)
    for d in range(len(bins)):
        up[: levels[d] + 1] = 0.0
        curve[: levels[d] + 1] = 0.0
        values = bins[d]
        total, whole = 0.0, 0.0
        for row in rows:
            value = values[row]
            if value != 255:
                up[value] += gradients[row]
                curve[value] += curvatures[row]
        for k in range(levels[d] + 1):
            total += up[k]
            whole += curve[k]
        low, below = 0.0, 0.0
        for k in range(levels[d]):
            low += up[k]
            below += curve[k]
            for side in range(2):
                push = low if side == 0 else total - low
                weight = below if side == 0 else whole - below
                if weight < least or push * sign < 0.0:
                    continue
                gain = push * push / (weight + ridge)
                if gain > best:
                    best, feature, level, above = gain, d, k, side == 1
    return best, feature, level, above
