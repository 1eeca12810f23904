"""What a region looks like, in a few numbers that change little with light, place and size.

Four blocks, each scaled to about unit length so that none drowns the others in a distance: how its
pixels spread over 8 hues and 3 greys; mean and spread of its colours; its shape; and the directions
of its edges with how lightness runs from top to bottom.
"""

from itertools import pairwise

import cv2
import numpy as np
from numpy.typing import NDArray

from wordsight.perception.regions.blob import Blob, Picture

__all__ = ["APPEARANCE_SIZE", "describe"]

_HUES = 8
_GREYS = 3
_DIRECTIONS = 8
_LEAST_CHROMA = 9.0  # CIELAB units; below this the hue is noise
_DARK, _BRIGHT = 0.6, 1.2  # of the mean lightness of the picture: where the greys part
_LEAST_EDGE = 80.0  # Sobel response, a lightness step of about 20 of 255; less is no edge
_STEP = 40.0  # CIELAB units that count as one
APPEARANCE_SIZE = (_HUES + _GREYS) + 6 + 4 + (_DIRECTIONS + 1 + 3)
"""How many numbers describe a region."""


def describe(blobs: list[Blob], lab: Picture) -> NDArray[np.float32]:
    """Describe regions of a picture.

    Lightness is taken relative to the mean of the picture, so that a lamp switched on changes
    little.

    Args:
        blobs: N regions; one that brings its appearance keeps it.
        lab: ``(H, W, 3)`` the picture in CIELAB.

    Returns:
        ``(N, APPEARANCE_SIZE)`` numbers, most of them between -1 and 1.
    """
    rows = np.zeros((len(blobs), APPEARANCE_SIZE), dtype=np.float32)
    light = float(cv2.mean(lab)[0]) if blobs else 0.0
    area = lab.shape[0] * lab.shape[1]
    for row, blob in zip(rows, blobs, strict=True):
        if blob.appearance is not None:
            row[:] = blob.appearance
        else:
            row[:11] = _tones(blob.crop(lab), blob, light)
            row[11:17] = _colours(blob.crop(lab), blob, light)
            row[17:21] = _shape(blob, area, lab.shape[0])
            row[21:30] = _edges(blob.crop(lab), blob)
            row[30:] = _run(blob.crop(lab), blob)
    return rows


def _tones(lab: Picture, blob: Blob, light: float) -> NDArray[np.float32]:
    tones = _HUE_OF[lab[..., 1], lab[..., 2]]
    grey = _HUES + (lab[..., 0] > _DARK * light).view(np.uint8) + (lab[..., 0] > _BRIGHT * light)
    return _histogram(np.where(tones == _HUES, grey, tones), blob, _HUES + _GREYS)


def _colours(lab: Picture, blob: Blob, light: float) -> NDArray[np.float64]:
    mean, spread = cv2.meanStdDev(lab, mask=blob.mask)
    values = np.concatenate([mean.ravel() - (light, 128.0, 128.0), spread.ravel()])
    return np.clip(values / _COLOUR_SCALE, -1, 1)


_COLOUR_SCALE = 2 * _STEP * np.array([2.0, 1.0, 1.0, 2.0, 1.0, 1.0])  # lightness counts 0 to 255


def _shape(blob: Blob, area: int, height: int) -> tuple[float, ...]:
    box = blob.width * blob.height
    return (
        0.5 * float(np.log2(blob.height / blob.width)),
        0.2 * float(np.log2(100.0 * box / area)),
        0.5 * blob.area / box,
        blob.height / height,
    )


def _edges(lab: Picture, blob: Blob) -> NDArray[np.float32]:
    light = np.ascontiguousarray(lab[..., 0])
    dx = cv2.Sobel(light, cv2.CV_32F, 1, 0, ksize=3)
    dy = cv2.Sobel(light, cv2.CV_32F, 0, 1, ksize=3)
    size, angle = cv2.cartToPolar(dx, dy)
    # Opposite directions are one edge seen from its two sides.
    direction = (angle * (_DIRECTIONS / np.pi)).astype(np.uint8) % _DIRECTIONS
    direction[size < _LEAST_EDGE] = _DIRECTIONS
    return _histogram(direction, blob, _DIRECTIONS + 1)


def _run(lab: Picture, blob: Blob) -> NDArray[np.float64]:
    """Say how lightness runs from the upper third over the middle to the lower third."""
    cuts = [blob.height * third // 3 for third in range(4)]
    means = np.array(
        [cv2.mean(lab[top:bottom], blob.mask[top:bottom])[0] for top, bottom in pairwise(cuts)]
    )
    run: NDArray[np.float64] = (means - means.mean()) / (2 * _STEP)
    return run


def _histogram(values: Picture, blob: Blob, bins: int) -> NDArray[np.float32]:
    counts = cv2.calcHist([values.astype(np.uint8, copy=False)], [0], blob.mask, [bins], [0, bins])
    # Square roots turn Euclidean distance into Hellinger's, which suits shares.
    return np.sqrt(counts.ravel() / max(1, blob.area))


def _hue_table() -> Picture:
    """Give the number of the hue for every pair of 8-bit a and b; greys get the next number."""
    a, b = np.meshgrid(np.arange(256) - 128.0, np.arange(256) - 128.0, indexing="ij")
    hue = np.floor((np.arctan2(b, a) + np.pi) * (_HUES / (2 * np.pi))).astype(int) % _HUES
    return np.where(np.hypot(a, b) < _LEAST_CHROMA, _HUES, hue).astype(np.uint8)


_HUE_OF = _hue_table()
