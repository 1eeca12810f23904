"""A camera that shakes, and the line things stand on, both read off the tracks themselves.

What rests on a table rests for a while, so whatever such things do together is done by the camera.
With that taken out, one height can be said of the table for the whole film.
"""

import numpy as np
from numpy.typing import NDArray

__all__ = ["camera_shake", "heights", "steadied"]

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


def heights(whole: Array, times: Array) -> Array:
    """Return ``(T, n)`` how high each thing is above the table, pixels.

    The table is the middle of the lowest places that things keep. A thing that stands there is
    measured from its own usual place, and is as high as its lower and its upper edge agree on:
    a box that something in front cuts off, or that is drawn too large, moves one edge only.

    Args:
        whole: ``(T, n, 4)`` boxes seen by a steady camera, NaN where a thing is not seen.
        times: ``(T,)`` seconds.
    """
    lowest = _lowest_kept(whole[..., 3], times)
    if not np.isfinite(lowest).any():
        return np.nanmax(whole[..., 3], initial=-np.inf) - whole[..., 3]
    near = _NEAR * float(np.nanmedian(whole[..., 3] - whole[..., 1]))
    on_table = lowest >= lowest.max() - near
    line = float(np.median(lowest[on_table]))
    found: Array = line - whole[..., 3]
    for thing in np.flatnonzero(on_table):
        edges = whole[:, thing, [1, 3]]
        stands = edges[:, 1] >= line - near
        rises = np.median(edges[stands], axis=0) - edges
        together = np.sign(rises[:, 0]) == np.sign(rises[:, 1])
        least = np.abs(rises).min(axis=1) * np.sign(rises[:, 1])
        found[:, thing] = np.where(together, least, np.where(np.isnan(rises[:, 0]), np.nan, 0.0))
    return found


def _lowest_kept(bottoms: Array, times: Array) -> Array:
    """Return ``(n,)`` the lowest row at which each lower edge stays a while, or minus infinity."""
    if not len(times):
        return np.full(bottoms.shape[1], -np.inf)
    step = float(np.median(np.diff(times))) if len(times) > 1 else 1.0
    span = min(max(1, round(_LOW / step)), len(bottoms))
    windows = np.lib.stride_tricks.sliding_window_view(bottoms, span, axis=0)
    kept = np.median(windows, axis=-1)  # NaN where it is not seen all the while
    return np.asarray(np.where(np.isnan(kept), -np.inf, kept).max(axis=0), dtype=np.float64)


def _later(values: Array, frames: int) -> Array:
    rows = np.clip(np.arange(len(values)) + frames, 0, len(values) - 1)
    return values[rows]
