"""The simplest tracker worth comparing with: each box goes to the track it overlaps most."""

import numpy as np
from numpy.typing import NDArray

from wordsight.perception.detectors.suppression import box_iou
from wordsight.records import Detections, FrameDetections

__all__ = ["track_greedily"]


def track_greedily(
    detections: Detections, *, least_overlap: float = 0.3, patience: float = 0.2
) -> Detections:
    """Follow boxes by overlap with the last box of each track, best pairs first.

    Args:
        detections: What was seen.
        least_overlap: Intersection over union below which a box starts a track of its own.
        patience: How many seconds a track may go without a box before it ends.

    Returns:
        The same boxes with identities; scores, gaps and motion play no part.
    """
    last_box: dict[int, NDArray[np.float64]] = {}
    last_time: dict[int, float] = {}
    frames, next_id = [], 1
    for t in range(len(detections)):
        frame = detections.frame(t)
        # A track of the frame before is always alive, however slowly frames follow each other.
        since = min(frame.time - patience, float(detections.times[max(t - 1, 0)]))
        alive = [identity for identity, seen in last_time.items() if seen >= since - 1e-9]
        known = np.array([last_box[k] for k in alive]).reshape(-1, 4)
        ids = _matched(box_iou(known, frame.boxes), alive, least_overlap)
        for column in np.flatnonzero(ids < 0):
            ids[column] = next_id
            next_id += 1
        for identity, box in zip(ids.tolist(), frame.boxes, strict=True):
            last_box[identity], last_time[identity] = box, frame.time
        frames.append(FrameDetections(frame.time, frame.boxes, frame.scores, frame.labels, ids=ids))
    return Detections.from_frames(
        frames, label_names=detections.label_names, frame_size=detections.frame_size
    )


def _matched(overlap: NDArray[np.float64], tracks: list[int], least: float) -> NDArray[np.int64]:
    """Give each box (column) the track (row) it overlaps most, best pairs first; -1 for none."""
    ids = np.full(overlap.shape[1], -1, dtype=np.int64)
    free = np.ones(len(tracks), dtype=bool)
    for row, column in zip(
        *np.unravel_index(np.argsort(-overlap, axis=None, kind="stable"), overlap.shape),
        strict=True,
    ):
        if overlap[row, column] < least:
            break
        if free[row] and ids[column] < 0:
            ids[column], free[row] = tracks[row], False
    return ids
