"""Which frames of a video a detector looked at: those on which its boxes can be expected."""

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

__all__ = ["frames_looked_at"]

_LEAST_FRAMES = 4  # frames with boxes; fewer may be regular by chance
_ADJACENT_SHARE = 0.05  # of neighbouring frames with boxes in boxes that count as sparse
_REGULAR_SHARE = 0.5  # of steps between frames with boxes that are the usual step


def frames_looked_at(mask: NDArray[np.bool_]) -> NDArray[np.intp]:
    """Return the frames in which boxes were looked for.

    Boxes that come on every n-th frame leave the frames between empty, and that is no evidence
    that nothing is there. Such boxes are recognised by their regular steps; where one of them is
    missing, the frame was looked at in vain.

    Args:
        mask: ``(T, J)`` true where there is a box.

    Returns:
        Ascending indices of frames; all T, unless the boxes are sparse.
    """
    everything = np.arange(len(mask))
    seen = np.flatnonzero(mask.any(axis=1))
    if len(seen) < _LEAST_FRAMES:
        return everything
    steps = np.diff(seen)
    usual = float(np.median(steps))
    regular = np.abs(steps - usual) <= 1.0
    if (steps == 1).mean() > _ADJACENT_SHARE or regular.mean() < _REGULAR_SHARE:
        return everything
    mean = float(steps[regular].mean())  # 25 frames a second with 10 of them looked at: 2, 3, 2 ...
    before, after = seen[0] // mean, (len(mask) - 1 - seen[-1]) // mean
    knots = [seen[0] - before * mean, *seen.tolist(), seen[-1] + after * mean]
    parts = [
        np.linspace(start, end, max(1, round((end - start) / mean)), endpoint=False)
        for start, end in pairwise(knots)
    ]
    return np.unique(np.round(np.concatenate([*parts, knots[-1:]])).astype(np.intp))
