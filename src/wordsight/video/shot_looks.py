"""`ShotLooks`: what the shots of a video look like, sampled sparsely while frames stream by."""

import cv2
import numpy as np
from numpy.typing import NDArray

from wordsight.video.thumbnails import Thumbnail

__all__ = ["VIEWS", "ShotLooks", "describe", "likeness", "shared_colours"]

VIEWS = 3
"""Views kept of a shot: early, in the middle, late."""

_HUE_BINS, _SATURATION_BINS, _VALUE_BINS = 12, 4, 4
_LAYOUT = (8, 5)
_COLOURS = _HUE_BINS * _SATURATION_BINS * _VALUE_BINS
_LENGTH = _COLOURS + 3 * _LAYOUT[0] * _LAYOUT[1]

_INTERVAL_SECONDS = 0.2
"""Sampling interval: shorter than the shortest shot."""

_MAX_OPEN = 64
"""Samples kept of a shot that goes on; every other one is dropped when there are more."""


def describe(pixels: NDArray[np.uint8]) -> NDArray[np.float32]:
    """Describe a small RGB picture by its colours and where brightness and colour lie.

    Args:
        pixels: ``(H, W, 3)`` RGB.

    Returns:
        ``(D,)``: square roots of a hue-saturation-value histogram, so that the dot product of two
        is their Bhattacharyya coefficient, then a coarse RGB layout in 0..1.
    """
    layout = cv2.resize(pixels, _LAYOUT, interpolation=cv2.INTER_AREA).ravel()
    return np.concatenate([_colours(pixels), layout / 255.0]).astype(np.float32)


def shared_colours(first: NDArray[np.uint8], second: NDArray[np.uint8]) -> float:
    """Return how far the colours of two small RGB pictures agree, wherever they lie, 0 to 1."""
    return float(_colours(first) @ _colours(second))


def _colours(pixels: NDArray[np.uint8]) -> NDArray[np.float32]:
    hsv = cv2.cvtColor(pixels, cv2.COLOR_RGB2HSV)
    bins = [_HUE_BINS, _SATURATION_BINS, _VALUE_BINS]
    counts = cv2.calcHist([hsv], [0, 1, 2], None, bins, [0, 180, 0, 256, 0, 256]).ravel()
    roots: NDArray[np.float32] = np.sqrt(counts / counts.sum(), dtype=np.float32)
    return roots


def likeness(first: NDArray[np.float32], second: NDArray[np.float32]) -> float:
    """Tell how alike two shots look, by the best pair of their views.

    Args:
        first: ``(V, D)`` views of one shot.
        second: ``(V', D)`` views of the other.

    Returns:
        0 to 1: the colours two views share times how closely their layouts agree; 0 if one is
        black throughout.
    """
    colours = first[:, :_COLOURS] @ second[:, :_COLOURS].T
    apart = first[:, None, _COLOURS:] - second[None, :, _COLOURS:]
    layout = 1.0 - np.abs(apart).mean(axis=2)
    return float((colours * layout).max())


class ShotLooks:
    """Samples frames and sorts the samples into shots as these become known."""

    def __init__(self) -> None:
        self._open: list[tuple[int, NDArray[np.float32]]] = []
        self._closed: list[NDArray[np.float32]] = []
        self._due = -np.inf

    def see(self, frame: Thumbnail) -> None:
        """Take a sample if it is time for one; black frames look like no place in particular."""
        if frame.dark or frame.time < self._due:
            return
        self._due = frame.time + _INTERVAL_SECONDS
        self._open.append((frame.index, describe(frame.pixels)))
        if len(self._open) > _MAX_OPEN:
            del self._open[1 : _MAX_OPEN // 2 : 2]

    def close(self, index: int | None = None) -> None:
        """Declare the oldest open shot to end before frame ``index``, or with the video."""
        inside = [look for at, look in self._open if index is None or at < index]
        self._open = self._open[len(inside) :]
        if not inside:
            self._closed.append(np.zeros((VIEWS, _LENGTH), np.float32))
            return
        chosen = np.linspace(0, len(inside) - 1, VIEWS).round().astype(int)
        self._closed.append(np.stack([inside[at] for at in chosen]))

    @property
    def descriptors(self) -> NDArray[np.float32]:
        """``(S, V, D)`` the views of each closed shot; zeros for a shot of black frames only."""
        return np.stack(self._closed) if self._closed else np.zeros((0, VIEWS, _LENGTH), np.float32)
