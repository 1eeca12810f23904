"""Overlap of boxes, and non-maximum suppression."""

import numpy as np
from numpy.typing import NDArray

__all__ = ["areas", "box_iou", "intersections", "suppress"]


def areas(boxes: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the ``(N,)`` areas of ``(N, 4)`` boxes x1, y1, x2, y2; inverted boxes have none."""
    sides = np.clip(boxes[:, 2:] - boxes[:, :2], 0, None)
    area: NDArray[np.float64] = sides[:, 0] * sides[:, 1]
    return area


def intersections(one: NDArray[np.float64], other: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the ``(N, M)`` areas shared by ``(N, 4)`` and ``(M, 4)`` boxes."""
    low = np.maximum(one[:, None, :2], other[None, :, :2])
    high = np.minimum(one[:, None, 2:], other[None, :, 2:])
    sides = np.clip(high - low, 0, None)
    shared: NDArray[np.float64] = sides[..., 0] * sides[..., 1]
    return shared


def box_iou(one: NDArray[np.float64], other: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the ``(N, M)`` intersection over union of two sets of boxes, 0 where both are empty.

    Examples:
        >>> box_iou(np.array([[0, 0, 2, 2.0]]), np.array([[1, 0, 3, 2.0], [5, 5, 6, 6]])).round(3)
        array([[0.333, 0.   ]])
    """
    shared = intersections(one, other)
    union = areas(one)[:, None] + areas(other)[None, :] - shared
    return np.divide(shared, union, out=np.zeros_like(shared), where=union > 0)


def suppress(
    boxes: NDArray[np.float64],
    scores: NDArray[np.float64],
    threshold: float,
    *,
    labels: NDArray[np.int32] | None = None,
    limit: int | None = None,
) -> NDArray[np.intp]:
    """Return the indices of the boxes to keep by non-maximum suppression, best first.

    Args:
        boxes: ``(N, 4)`` corners x1, y1, x2, y2.
        scores: ``(N,)`` higher is better; of equal ones the first is kept.
        threshold: Largest intersection over union with a better box.
        labels: ``(N,)`` classes; boxes of different classes do not suppress each other.
        limit: Largest number of boxes to keep.
    """
    order = np.argsort(-scores, kind="stable")
    clash = box_iou(boxes, boxes) > threshold
    if labels is not None:
        clash &= labels[:, None] == labels[None, :]
    kept: list[int] = []
    for index in order.tolist():
        if limit is not None and len(kept) >= limit:
            break
        if not clash[index, kept].any():
            kept.append(index)
    return np.array(kept, dtype=np.intp)
