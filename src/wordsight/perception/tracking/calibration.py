"""Detection scores into log-odds that one tracker understands, whatever the detector's scale.

Confidences of different detectors and videos have different ranges and meanings. What they share
is that a real object is seen again in the neighbouring frames and a false alarm mostly is not. So
the share of detections with a fitting neighbour, as a rising function of the score, stands in for
the unknown share of true ones.
"""

import numpy as np
from numpy.typing import NDArray

__all__ = ["log_odds"]

_BIN_SIZE = 20  # detections; fewer give a share too coarse to tell 0.9 from 1
_MAX_BINS = 20
_CEILING = 0.97  # no detection is believed more than this, so that none outweighs a whole track
_LEAST_SUPPORT = 0.3  # below this even the best scores say little, and are not blown up to 1


def log_odds(
    scores: NDArray[np.float64], support: NDArray[np.float64], *, prior: float = 0.0
) -> NDArray[np.float64]:
    """Return F, the log-odds that each detection is real, rising with its score.

    Args:
        scores: ``(N,)`` the detector's confidences on any scale.
        support: ``(N,)`` the share of the neighbouring frames, 0 to 1, in which something fits.
        prior: How much evidence is asked for: taken off all log-odds.

    Returns:
        ``(N,)`` log-odds. Equal scores give equal log-odds; the highest scores get the ceiling,
        since their missing support is the detector's misses and not false alarms.
    """
    from scipy.optimize import isotonic_regression  # slow to load, and not every use tracks

    if len(scores) == 0:
        return np.zeros(0)
    bins = int(np.clip(len(scores) // _BIN_SIZE, 1, _MAX_BINS))
    groups = np.array_split(np.argsort(scores, kind="stable"), bins)
    centres = np.array([scores[group].mean() for group in groups])
    # One imagined detection with and one without support keep the share off 0 and 1.
    shares = np.array([(support[group].sum() + 1.0) / (len(group) + 2.0) for group in groups])
    weights = np.array([len(group) for group in groups], dtype=np.float64)
    rising = isotonic_regression(shares, weights=weights).x
    believed = np.minimum(_CEILING * rising / max(rising[-1], _LEAST_SUPPORT), _CEILING)
    odds = np.log(believed / (1.0 - believed)) - prior
    return np.asarray(np.interp(scores, centres, odds), dtype=np.float64)
