"""A camera that shakes, and the line things stand on, both read off the tracks themselves.

What rests on a table rests for a while, so whatever such things do together is done by the camera.
With that taken out, one height can be said of the table for the whole film.
"""

import numpy as np
from numpy.typing import NDArray

__all__ = ["camera_shake", "lowest_rests", "steadied"]

Array = NDArray[np.float64]

_SPAN = 0.25  # seconds to each side over which a thing must keep its place to rest
_RESTS = (0.4, 0.25, 0.16)  # way in that span, in heights of things; less as the shake is known
_LOW = 0.3  # seconds; a lower edge must stay that long to be a place on the table
_NEAR = 0.2  # height of a thing by which places on one table may differ, for boxes err


def steadied(boxes: Array, times: Array) -> Array:
    """Return boxes ``(T, n, P, 4)`` as a camera on a stand would have shown them."""
    shake = camera_shake(boxes.reshape(len(boxes), -1, 4), times)
    return np.asarray(boxes - np.tile(shake, 2)[:, None, None], dtype=np.float64)


def camera_shake(boxes: Array, times: Array) -> Array:
    """Return ``(T, 2)`` by how many pixels the camera moved the picture right and down.

    Every time in which a thing rests has one place, the median there; the shake of a moment is the
    median way of resting things from their places. The two are found in turn, beginning with an
    easy idea of rest that takes in what only the camera moves.

    Args:
        boxes: ``(T, n, 4)`` tracks, NaN where a thing is not seen.
        times: ``(T,)`` seconds.
    """
    shake = np.zeros((len(boxes), 2))
    known = ~np.isnan(boxes[..., 0])
    if len(boxes) < 2 or not known.any():
        return shake
    places = (boxes[..., :2] + boxes[..., 2:]) / 2
    height = float(np.median((boxes[..., 3] - boxes[..., 1])[known]))
    span = max(1, round(_SPAN / float(np.median(np.diff(times)))))
    for share in _RESTS:
        still = places - shake[:, None]
        ways = np.abs(_later(still, span) - _later(still, -span)).max(axis=-1)
        found = _common(places, still, known & (ways <= share * height), 2 * span)
        if found is None:
            break
        shake = found
    return shake


def _common(places: Array, still: Array, rests: NDArray[np.bool_], least: int) -> Array | None:
    """Return the median way of resting things from their places, or ``None`` if none rests."""
    ways = np.full(places.shape, np.nan)
    for thing in range(rests.shape[1]):
        edges = np.flatnonzero(np.diff(rests[:, thing], prepend=False, append=False))
        for begin, end in zip(edges[::2], edges[1::2], strict=True):
            if end - begin >= least:
                home = np.median(still[begin:end, thing], axis=0)
                ways[begin:end, thing] = places[begin:end, thing] - home
    told = np.flatnonzero(~np.isnan(ways[..., 0]).all(axis=1))
    if not len(told):
        return None
    middle = np.nanmedian(ways[told], axis=1)
    frames = np.arange(len(places))
    shake = np.stack([np.interp(frames, told, middle[:, k]) for k in (0, 1)], axis=1)
    return np.asarray(shake - np.median(shake, axis=0), dtype=np.float64)


def lowest_rests(whole: Array, times: Array) -> Array:
    """Return ``(n,)`` the row of the lower edge of each thing when it stands on the table.

    The table is the middle of the lowest places that things keep; a thing with such a place of its
    own has it for its row, so that a box drawn too large or too small does not lift it.

    Args:
        whole: ``(T, n, 4)`` boxes seen by a steady camera, NaN where a thing is not seen.
        times: ``(T,)`` seconds.
    """
    bottoms, heights = whole[..., 3], whole[..., 3] - whole[..., 1]
    if not len(times) or np.isnan(bottoms).all():
        return np.full(whole.shape[1], np.nan)
    step = float(np.median(np.diff(times))) if len(times) > 1 else 1.0
    span = min(max(1, round(_LOW / step)), len(bottoms))
    windows = np.lib.stride_tricks.sliding_window_view(bottoms, span, axis=0)
    kept = np.median(windows, axis=-1)  # NaN where it is not seen all the while
    lowest = np.where(np.isnan(kept), -np.inf, kept).max(axis=0)
    near = _NEAR * float(np.nanmedian(heights))
    on_table = lowest >= lowest.max() - near
    line = np.median(lowest[on_table]) if np.isfinite(lowest.max()) else np.nanmax(bottoms)
    return np.where(on_table & np.isfinite(lowest), lowest, line)


def _later(values: Array, frames: int) -> Array:
    rows = np.clip(np.arange(len(values)) + frames, 0, len(values) - 1)
    return values[rows]
