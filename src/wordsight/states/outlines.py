"""Polygons around objects: the boxes around them and their areas."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from wordsight.states.errors import StateError

__all__ = ["boxes_of_outlines", "outline_areas"]

Array = NDArray[np.float64]


def boxes_of_outlines(outlines: Sequence[Array]) -> Array:
    """Return ``(T, n, 4)`` boxes around n polygons of ``(T, corners, 2)``; NaN where one is NaN."""
    for outline in outlines:
        if outline.ndim != 3 or outline.shape[1] < 3 or outline.shape[2] != 2:
            raise StateError(
                f"an outline must be (T, corners, 2) with 3 corners or more, got {outline.shape}."
            )
    boxes = [np.concatenate([o.min(axis=1), o.max(axis=1)], axis=-1) for o in outlines]
    return np.stack(boxes, axis=1) if boxes else np.zeros((0, 0, 4))


def outline_areas(outlines: Sequence[Array]) -> Array:
    """Return ``(T, n)`` areas of simple polygons, whichever way round they run."""
    areas = []
    for outline in outlines:
        x, y = outline[..., 0], outline[..., 1]
        turned = x * np.roll(y, -1, axis=1) - np.roll(x, -1, axis=1) * y
        areas.append(np.abs(turned.sum(axis=1)) / 2)
    return np.stack(areas, axis=1) if areas else np.zeros((0, 0))
