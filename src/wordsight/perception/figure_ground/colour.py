"""Colours as the eye tells them apart: the small picture in CIELAB, and distances in it."""

import cv2
import numpy as np
from numpy.typing import NDArray

__all__ = ["Picture", "above", "colour_distance", "gradient", "to_lab", "weigh"]

Picture = NDArray[np.uint8]

# OpenCV stretches lightness to 0..255 and keeps a and b in their own units, so half a step of
# lightness weighs about as much as one of colour.
_WEIGHTS = np.array([[0.5, 1.0, 1.0]], dtype=np.float32)
_CROSS = cv2.getStructuringElement(cv2.MORPH_RECT, (3, 3))


def to_lab(rgb: Picture) -> Picture:
    """Turn ``(H, W, 3)`` RGB into slightly smoothed 8-bit CIELAB."""
    smooth = cv2.GaussianBlur(rgb, (3, 3), 0)
    return np.asarray(cv2.cvtColor(smooth, cv2.COLOR_RGB2LAB), dtype=np.uint8)


def weigh(difference: Picture) -> Picture:
    """Sum up the channels of an ``(H, W, 3)`` CIELAB difference into one, ``(H, W)``."""
    return np.asarray(cv2.transform(difference, _WEIGHTS), dtype=np.uint8)


def colour_distance(one: Picture, other: Picture) -> Picture:
    """Return the ``(H, W)`` distance of two CIELAB pictures, 0 to 255; about 5 is just visible."""
    return weigh(np.asarray(cv2.absdiff(one, other), dtype=np.uint8))


def above(values: Picture, limit: float) -> Picture:
    """Return an ``(H, W)`` mask, 255 where ``values`` are above the limit."""
    return np.asarray(cv2.threshold(values, limit, 255, cv2.THRESH_BINARY)[1], dtype=np.uint8)


def gradient(lab: Picture) -> Picture:
    """Return the ``(H, W)`` largest colour step around each pixel."""
    steps = cv2.morphologyEx(lab, cv2.MORPH_GRADIENT, _CROSS)
    return weigh(np.asarray(steps, dtype=np.uint8))
