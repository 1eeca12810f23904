"""How far the camera turned between the scene as remembered and the picture at hand."""

import cv2
import numpy as np
from numpy.typing import NDArray

from wordsight.perception.figure_ground.colour import Picture

__all__ = ["Camera", "moved"]

_LEAST_RESPONSE = 0.08  # of phase correlation; below it the two pictures share no pattern
_LEAST_SHIFT = 1.0  # pixels; the background takes a shake of one pixel for nothing
_LEAST_GAIN = 0.9  # the difference left after the shift, of that without it
_SHRINK = 2  # work at half size: four times faster, and the result is rounded anyway


class Camera:
    """Estimates the shift of the whole picture by phase correlation.

    Args:
        shape: Height and width of the pictures.
    """

    def __init__(self, shape: tuple[int, int]) -> None:
        self._size = max(2, shape[1] // _SHRINK), max(2, shape[0] // _SHRINK)
        self._window = cv2.createHanningWindow(self._size, cv2.CV_32F)

    def shift(self, scene: Picture, lab: Picture) -> tuple[int, int]:
        """Return how many pixels right and down the scene lies in the picture from where it was.

        Args:
            scene: ``(H, W, 3)`` remembered scene in CIELAB.
            lab: ``(H, W, 3)`` picture in CIELAB.

        Returns:
            Whole pixels: a scene that is only ever moved by whole pixels never blurs.
        """
        before, now = self._light(scene), self._light(lab)
        (x, y), response = cv2.phaseCorrelate(before, now, self._window)
        x *= lab.shape[1] / self._size[0]
        y *= lab.shape[0] / self._size[1]
        if response < _LEAST_RESPONSE or max(abs(x), abs(y)) < _LEAST_SHIFT:
            return 0, 0
        dx, dy = round(x), round(y)
        return (dx, dy) if _fits_better(scene, lab, dx, dy) else (0, 0)

    def _light(self, lab: Picture) -> NDArray[np.float32]:
        small = cv2.resize(lab, self._size, interpolation=cv2.INTER_AREA)
        return np.asarray(small[..., 0], np.float32)


def _fits_better(scene: Picture, lab: Picture, dx: int, dy: int) -> bool:
    """Check that the shift explains the picture: large things that move also look like a shift."""
    height, width = lab.shape[:2]
    if abs(dx) >= width // 2 or abs(dy) >= height // 2:
        return False
    now = lab[max(0, dy) : height + min(0, dy), max(0, dx) : width + min(0, dx)]
    then = scene[max(0, -dy) : height + min(0, -dy), max(0, -dx) : width + min(0, -dx)]
    there = scene[max(0, dy) : height + min(0, dy), max(0, dx) : width + min(0, dx)]
    shifted, kept = cv2.mean(cv2.absdiff(now, then)), cv2.mean(cv2.absdiff(now, there))
    return sum(shifted) < _LEAST_GAIN * sum(kept)


def moved(plane: NDArray[np.generic], dx: int, dy: int) -> NDArray[np.generic]:
    """Return an ``(H, W, ...)`` array moved right and down, its old edge repeated behind it."""
    height, width = plane.shape[:2]
    rows = np.clip(np.arange(height) - dy, 0, height - 1)
    columns = np.clip(np.arange(width) - dx, 0, width - 1)
    return plane[rows][:, columns]
