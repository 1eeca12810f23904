"""Where hands are in what a detector saw: the boxes that act, and the spot they act with.

A detector with a class for hands says so itself. Without one, what moves and reaches in from the
edge of the picture is an arm, and whatever else moves is moved by somebody.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from wordsight.records import Detections

__all__ = [
    "HAND_LABELS",
    "gaps_to_boxes",
    "grip_points",
    "hand_columns",
    "motion_of",
    "strayed_of",
    "withdrawn",
]

Array = NDArray[np.float64]

HAND_LABELS = (
    "hand",
    "hands",
    "left hand",
    "right hand",
    "left_hand",
    "right_hand",
    "glove",
    "arm",
)
"""Labels that mean a hand, compared in lower case."""

_EDGE = 0.012  # of the frame's longer side: a box this close to the edge reaches over it
_CROWD = 5  # boxes from which the motion they share is the camera's
_FINGERS = 0.3  # where between finger tips and wrist a hand holds, as a share of its length
_LONGEST_HAND = 0.22  # of the frame's longer side; what is longer is an arm with its sleeve


def hand_columns(detections: Detections, labels: Sequence[str] = HAND_LABELS) -> NDArray[np.bool_]:
    """Return ``(T, J)`` which boxes are hands by their label."""
    wanted = [n for n, name in enumerate(detections.label_names) if name.lower() in labels]
    return detections.mask & np.isin(detections.labels, wanted)


def motion_of(detections: Detections) -> Array:
    """Return ``(T, J)`` how fast each box moves, in shares of the frame's diagonal per second.

    Measured by optical flow where there is one, else by how far the nearest box of the same label
    was a frame before. What all boxes share is the camera's motion, and is taken off.
    """
    diagonal = float(np.hypot(*detections.frame_size))
    if detections.flow is not None:
        flow = detections.flow
    else:
        elapsed = np.diff(detections.times, prepend=detections.times[:1] - 1.0)
        flow = _steps(detections, 1) / elapsed[:, None, None]
    moved = np.where(detections.mask[..., None], flow, np.nan)
    crowded = detections.mask.sum(axis=1) >= _CROWD
    if crowded.any():
        moved[crowded] -= np.nanmedian(moved[crowded], axis=1, keepdims=True)
    return np.asarray(np.nan_to_num(np.linalg.norm(moved, axis=2)) / diagonal, dtype=np.float64)


def strayed_of(detections: Detections, seconds: float = 0.5) -> Array:
    """Return ``(T, J)`` how far in pixels each box is from where its label was or will be.

    What is about to move or has just moved is what a hand has to do with.
    """
    if len(detections) < 2:
        return np.zeros(detections.mask.shape)
    frames = max(1, round(seconds / float(np.median(np.diff(detections.times)))))
    past = np.linalg.norm(_steps(detections, frames), axis=2)
    future = np.linalg.norm(_steps(detections, -frames), axis=2)
    return np.asarray(np.maximum(past, future), dtype=np.float64)


def grip_points(boxes: Array, frame_size: tuple[int, int]) -> Array:
    """Return ``(N, 2)`` where the hands in ``(N, 4)`` boxes hold things.

    A hand that reaches in over an edge holds at the far end; one that touches no edge is taken to
    come from below, as seen from where the camera usually stands.
    """
    width, height = frame_size
    margin = _EDGE * max(frame_size)
    x1, y1, x2, y2 = boxes.T
    longest = _LONGEST_HAND * max(frame_size)
    down = _FINGERS * np.minimum(y2 - y1, longest)
    across = _FINGERS * np.minimum(x2 - x1, longest)
    points = np.stack([(x1 + x2) / 2, y1 + down], axis=1)
    from_below = height - y2 <= margin
    from_left, from_right = x1 <= margin, width - x2 <= margin
    from_above = (y1 <= margin) & ~from_below & ~from_left & ~from_right
    points[from_above, 1] = (y2 - down)[from_above]
    sideways = (from_left ^ from_right) & ~from_below
    points[sideways, 1] = ((y1 + y2) / 2)[sideways]
    points[sideways & from_left, 0] = (x2 - across)[sideways & from_left]
    points[sideways & from_right, 0] = (x1 + across)[sideways & from_right]
    return points


def gaps_to_boxes(points: Array, boxes: Array) -> Array:
    """Return ``(N, M)`` distances from points to boxes; 0 inside."""
    low, high = boxes[None, :, :2] - points[:, None], points[:, None] - boxes[None, :, 2:]
    return np.asarray(np.linalg.norm(np.maximum(np.maximum(low, high), 0.0), axis=2))


def withdrawn(points: Array, frame_size: tuple[int, int], share: float) -> NDArray[np.bool_]:
    """Return ``(N,)`` which grips are so close to the picture's edge that the hand rests there."""
    sides = np.array(frame_size, dtype=np.float64)
    return np.asarray(((points < share * sides) | (points > (1 - share) * sides)).any(axis=1))


def _steps(detections: Detections, frames: int) -> Array:
    """Return ``(T, J, 2)`` the way from the nearest box of the same label some frames before."""
    centres = (detections.boxes[..., :2] + detections.boxes[..., 2:]) / 2
    moved = np.zeros_like(centres)
    for t in range(len(detections)):
        other = t - frames
        if not (0 <= other < len(detections) and detections.mask[other].any()):
            continue
        steps = centres[t][:, None] - centres[other][None]
        alike = detections.labels[t][:, None] == detections.labels[other][None]
        far = np.where(alike & detections.mask[other], np.linalg.norm(steps, axis=2), np.inf)
        nearest = far.argmin(axis=1)
        known = detections.mask[t] & np.isfinite(far.min(axis=1))
        moved[t, known] = steps[known, nearest[known]]
    return moved
