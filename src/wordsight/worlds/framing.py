"""Boxes and spans of frames as worlds write them: cut at the picture's edge and rounded."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["rounded_boxes", "span_of", "visible"]

_LEAST = 2.0  # pixels a box must keep inside the picture to count as visible


def visible(boxes: NDArray[np.float64], size: tuple[int, int]) -> NDArray[np.float64]:
    """Cut ``(T, 4)`` boxes at the edges of the picture; those that are outside become NaN."""
    clipped = np.clip(boxes, 0.0, np.tile(size, 2))
    clipped[(clipped[:, 2:] - clipped[:, :2]).min(axis=1) < _LEAST] = np.nan
    return clipped


def rounded_boxes(boxes: NDArray[np.float64]) -> list[list[float] | None]:
    """Round to tenths of a pixel, so that machines that differ in the last bit agree."""
    rows = np.round(boxes, 1).tolist()
    return [None if np.isnan(box[0]) else box for box in rows]


def span_of(first: int, last: int, frame_rate: float) -> dict[str, Any]:
    """Write a span of frames, both included, with its times in seconds, the end excluded."""
    return {
        "frames": [int(first), int(last)],
        "start": round(first / frame_rate, 3),
        "end": round((last + 1) / frame_rate, 3),
    }
