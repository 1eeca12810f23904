"""Textures for backgrounds and surfaces: cloudy noise, gradients, and how to paint them."""

from collections.abc import Sequence

import cv2
import numpy as np
from numpy.typing import NDArray

__all__ = ["cloudy", "flat", "gradient", "roughen"]


def flat(size: tuple[int, int], colour: Sequence[float]) -> NDArray[np.uint8]:
    """Return a ``(H, W, 3)`` picture of one colour; ``size`` is width and height."""
    return np.full((size[1], size[0], 3), colour, dtype=np.uint8)


def gradient(
    size: tuple[int, int], above: Sequence[float], below: Sequence[float]
) -> NDArray[np.uint8]:
    """Return a ``(H, W, 3)`` picture that changes from one colour at the top to another."""
    share = np.linspace(0.0, 1.0, size[1])[:, None, None]
    column = np.asarray(above) * (1.0 - share) + np.asarray(below) * share
    return np.repeat(np.round(column).astype(np.uint8), size[0], axis=1)


def cloudy(
    size: tuple[int, int], cell: float, rng: np.random.Generator, *, octaves: int = 3
) -> NDArray[np.float32]:
    """Return ``(H, W)`` smooth noise around 0, roughly from -1 to 1.

    Args:
        size: Width and height in pixels.
        cell: Size of the largest lumps in pixels; each octave halves it.
        rng: Where the chance comes from.
        octaves: How many sizes of lumps are added up.
    """
    width, height = size
    total = np.zeros((height, width), dtype=np.float32)
    for octave in range(octaves):
        step = max(cell / 2**octave, 1.0)
        shape = (int(height / step) + 2, int(width / step) + 2)
        grid = rng.uniform(-1.0, 1.0, shape).astype(np.float32)
        total += np.asarray(cv2.resize(grid, (width, height), interpolation=cv2.INTER_CUBIC)) / (
            2**octave
        )
    return total * np.float32(0.7)


def roughen(
    image: NDArray[np.uint8],
    strength: float,
    rng: np.random.Generator,
    *,
    cell: float = 24.0,
    octaves: int = 4,
) -> None:
    """Make a ``(H, W, 3)`` surface uneven in place; ``strength`` 1 varies it by about 30 %."""
    if strength <= 0.0:
        return
    height, width = image.shape[:2]
    field = 1.0 + 0.3 * strength * cloudy((width, height), cell, rng, octaves=octaves)
    image[...] = np.clip(image * field[..., None], 0, 255).astype(np.uint8)
