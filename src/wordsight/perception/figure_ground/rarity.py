"""How rare the colour of each pixel is among the colours around it.

Bricks with their mortar, tiles, grass and hedges are made of colours that are common where they
are; the orange of a cone or the brown of a chair before them is not, whatever the texture. That is
measured in bits: 3 bits mean that one pixel in eight around is of a colour like this one.
"""

import cv2
import numpy as np
from numpy.typing import NDArray

from wordsight.perception.figure_ground.colour import Picture

__all__ = ["rarity"]

_CELL = 16  # side in pixels of the cells colours are counted in
_WINDOW = 0.6  # of the width and height of the picture: what counts as around
_ALIKE = 7.0  # CIELAB units by which colours may differ and be taken for the same
_LIGHT_STEPS, _COLOUR_STEPS = 11, 26  # lightness in steps of 24, a and b in steps of 10
_LEAST = 1e-4  # share that the rarest colours are taken to have


def rarity(lab: Picture) -> NDArray[np.float32]:
    """Return the ``(H, W)`` rarity in bits of the colours of an ``(H, W, 3)`` CIELAB picture."""
    bins, colours = _binned(lab)
    height, width = lab.shape[:2]
    rows, columns = -(-height // _CELL), -(-width // _CELL)
    cell = (np.arange(height) // _CELL)[:, None] * columns + np.arange(width) // _CELL
    places = bins * (rows * columns) + cell
    counts = np.bincount(places.ravel(), minlength=len(colours) * rows * columns)
    around = _summed_around(counts.reshape(len(colours), rows, columns))
    around /= around.sum(axis=0)
    apart = ((colours[:, None] - colours[None]) ** 2).sum(axis=2)
    kernel = np.exp(-apart / (2 * _ALIKE**2)).astype(np.float32)
    # OpenCV's product stays on this thread; numpy's wakes all cores for a matrix this small.
    alike = cv2.gemm(kernel, around.reshape(len(colours), -1), 1.0, kernel, 0.0)
    bits = -np.log2(np.maximum(alike, _LEAST)).ravel()
    return np.asarray(cv2.blur(bits[places], (3, 3)), np.float32)


def _binned(lab: Picture) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
    """Return the ``(H, W)`` number of each pixel's colour, and the ``(K, 3)`` colours there are."""
    lightness = lab[..., 0] // 24
    code = lightness.astype(np.int32) * _COLOUR_STEPS + lab[..., 1] // 10
    code *= _COLOUR_STEPS
    code += lab[..., 2] // 10
    used = np.flatnonzero(np.bincount(code.ravel(), minlength=_LIGHT_STEPS * _COLOUR_STEPS**2))
    number = np.zeros(_LIGHT_STEPS * _COLOUR_STEPS**2, np.int32)
    number[used] = np.arange(len(used), dtype=np.int32)
    light, rest = np.divmod(used, _COLOUR_STEPS**2)
    a, b = np.divmod(rest, _COLOUR_STEPS)
    # A step of lightness weighs half, as in all colour distances here.
    return number[code], np.stack([light * 12.0, a * 10.0, b * 10.0], axis=1).astype(np.float32)


def _summed_around(counts: NDArray[np.int64]) -> NDArray[np.float32]:
    """Sum ``(K, rows, columns)`` counts over the window around each cell."""
    _, rows, columns = counts.shape
    total = np.zeros((counts.shape[0], rows + 1, columns + 1), np.float32)
    total[:, 1:, 1:] = counts.cumsum(axis=1).cumsum(axis=2)
    top, bottom = _reach(rows)
    left, right = _reach(columns)
    lower, upper = total[:, bottom], total[:, top]
    summed: NDArray[np.float32] = (
        lower[:, :, right] - lower[:, :, left] - upper[:, :, right] + upper[:, :, left]
    )
    return summed


def _reach(cells: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    half = int(cells * _WINDOW) // 2
    centre = np.arange(cells)
    return np.maximum(centre - half, 0), np.minimum(centre + half + 1, cells)
