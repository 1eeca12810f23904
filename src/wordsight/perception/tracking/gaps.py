"""What happens to a track once its detections are known: smoothing, filling gaps, reaching on."""

import numpy as np
from numpy.typing import NDArray

from wordsight.perception.tracking.motion import local_lines

__all__ = ["extend", "fill", "smooth"]


def fill(
    rows: NDArray[np.intp], boxes: NDArray[np.float64], times: NDArray[np.float64]
) -> tuple[NDArray[np.intp], NDArray[np.float64], NDArray[np.bool_]]:
    """Give a track a box in every frame from its first to its last.

    Args:
        rows: ``(N,)`` the frames it was seen in, rising.
        boxes: ``(N, 4)`` its boxes there.
        times: ``(T,)`` when each frame of the video is shown, in seconds.

    Returns:
        The frames ``(M,)``, the boxes ``(M, 4)``, straight lines in time between those seen, and
        ``(M,)`` true where it was seen.
    """
    every = np.arange(rows[0], rows[-1] + 1)
    filled = np.column_stack(
        [np.interp(times[every], times[rows], boxes[:, side]) for side in range(4)]
    )
    return every, filled, np.isin(every, rows)


def smooth(
    boxes: NDArray[np.float64], times: NDArray[np.float64], half_window: float
) -> NDArray[np.float64]:
    """Take the jitter out of a track: straight lines fitted to the boxes around each one.

    Args:
        boxes: ``(N, 4)`` boxes in order of time.
        times: ``(N,)`` when, in seconds.
        half_window: How far the neighbours reach to either side, in seconds; 0 changes nothing.

    Returns:
        ``(N, 4)`` boxes; centre and logarithm of the size are smoothed, so that none turns inside
        out.
    """
    if half_window <= 0 or len(boxes) < 3:
        return boxes
    sizes = boxes[:, 2:] - boxes[:, :2]
    values = np.concatenate([(boxes[:, :2] + boxes[:, 2:]) / 2.0, np.log(sizes)], axis=1)
    alone = np.zeros(len(boxes), dtype=np.intp)
    fitted = local_lines(times, values, alone, np.arange(len(boxes)), half_window).heights()
    half = np.exp(fitted[:, 2:]) / 2.0
    return np.concatenate([fitted[:, :2] - half, fitted[:, :2] + half], axis=1)


def extend(
    rows: NDArray[np.intp],
    boxes: NDArray[np.float64],
    times: NDArray[np.float64],
    seconds: float,
    velocity_window: float,
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Let a track move on at both ends as it moved there last.

    Args:
        rows: ``(N,)`` its frames, without gaps.
        boxes: ``(N, 4)`` its boxes.
        times: ``(T,)`` when each frame of the video is shown, in seconds.
        seconds: How far to reach on.
        velocity_window: How much of each end tells its velocity, in seconds.

    Returns:
        The frames and boxes with those added in front and behind.
    """
    start, end = times[rows[0]], times[rows[-1]]
    before = np.flatnonzero((times >= start - seconds) & (times < start))
    after = np.flatnonzero((times > end) & (times <= end + seconds))
    lines = local_lines(
        times[rows],
        (boxes[:, :2] + boxes[:, 2:]) / 2.0,
        np.zeros(len(rows), dtype=np.intp),
        np.array([0, len(rows) - 1]),
        velocity_window,
    )
    first, last = lines.slopes()
    early = boxes[0] + np.tile(first, 2) * (times[before] - start)[:, None]
    late = boxes[-1] + np.tile(last, 2) * (times[after] - end)[:, None]
    return np.concatenate([before, rows, after]), np.concatenate([early, boxes, late])
