"""`View`: where metres of a scene seen from the side come to lie in the picture."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["View"]


@dataclass(frozen=True)
class View:
    """A camera that looks straight at a vertical plane.

    Attributes:
        scale: Pixels per metre.
        centre: Column of x = 0, in pixels.
        ground: Row of y = 0, in pixels; y grows upwards in the scene and downwards in the picture.
    """

    scale: float
    centre: float
    ground: float

    def pixels(self, points: ArrayLike) -> NDArray[np.float64]:
        """Turn ``(..., 2)`` metres into ``(..., 2)`` columns and rows."""
        points = np.asarray(points, dtype=np.float64)
        return points * (self.scale, -self.scale) + (self.centre, self.ground)

    def metres(self, pixels: ArrayLike) -> NDArray[np.float64]:
        """Turn ``(..., 2)`` columns and rows into ``(..., 2)`` metres."""
        pixels = np.asarray(pixels, dtype=np.float64)
        return (pixels - (self.centre, self.ground)) / (self.scale, -self.scale)

    def box(self, points: ArrayLike) -> NDArray[np.float64]:
        """Return the pixel box x1, y1, x2, y2 around ``(N, 2)`` metres."""
        pixels = self.pixels(points)
        return np.concatenate([pixels.min(axis=0), pixels.max(axis=0)])
