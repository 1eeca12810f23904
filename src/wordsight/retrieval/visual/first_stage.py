"""A first look at a large collection: few samples, single precision, every document.

A few dozen of a picture's samples, taken at even steps over it, rank nearly as all of them do; the
documents they find likeliest are then scored in full. Comparing models instead of samples (the
asymptotic approximation) costs about as much and finds fewer of the right ones.
"""

import numpy as np
from numpy.typing import NDArray

from wordsight.retrieval.visual.packing import Array, PackedMixtures
from wordsight.retrieval.visual.scoring import observed_dimensions

__all__ = ["evenly_spread", "rough_gains"]

_DOCUMENTS = 512  # in a block: their factors, 8 components and 32 samples stay in the cache


def evenly_spread(number: int, count: int) -> NDArray[np.int64]:
    """Return ``min(number, count)`` of ``number`` rows at even steps; all if there are no more.

    Blocks of a picture come row by row, so that even steps cover all of it.
    """
    if number <= count:
        return np.arange(number)
    steps = (np.arange(count) + 0.5) * number / count
    return steps.astype(np.int64)


def rough_gains(
    packed: PackedMixtures, samples: Array, log_background: Array, kappa: float
) -> NDArray[np.float32]:
    """Return what :func:`~wordsight.retrieval.visual.scoring.smoothed_gains` does, roughly.

    Args:
        packed: ``D`` mixtures.
        samples: ``(N, n)`` few samples; a column of NaN is unknown.
        log_background: ``(N,)`` their log density under the background.
        kappa: Weight of the document.

    Returns:
        ``(D,)`` in single precision, with which the factors are kept: no conversion, half the time.
    """
    values, known = observed_dimensions(samples)
    columns = np.concatenate([values.T, values.T**2]).astype(np.float32)
    offset = (np.log(kappa) - np.log1p(-kappa) - log_background).astype(np.float32)
    gains = np.empty(len(packed), dtype=np.float32)
    for first in range(0, len(packed), _DOCUMENTS):
        some = packed[first : first + _DOCUMENTS].observing(known)
        rows = some.factors.reshape(-1, some.factors.shape[2])
        logs = (rows @ columns).reshape(*some.constants.shape, -1)
        logs += some.constants.astype(np.float32)[:, :, None]
        logs += offset
        # Single precision overflows beyond exp(88); so large a gain is beyond doubt anyway.
        np.minimum(logs, 80.0, out=logs)
        np.exp(logs, out=logs)
        total = logs.sum(axis=1)
        np.log1p(total, out=total)
        gains[first : first + len(some)] = total.mean(axis=1)
    return gains
