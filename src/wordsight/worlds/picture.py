"""`Picture`: what painters of films share: the last painting while nothing moves, and blur."""

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import NDArray

from wordsight.worlds.camera import FilmCamera

__all__ = ["Picture"]


class Picture(ABC):
    """Paints any frame of one film.

    Args:
        camera: Shake, exposure and grain.
        scale: Pixels per metre.
        shutter: Which part of the time between two frames the shutter is open.
    """

    def __init__(self, camera: FilmCamera, scale: float, shutter: float) -> None:
        self._camera = camera
        self._blur = scale * shutter
        self._last: tuple[int, NDArray[np.uint8]] | None = None

    def __call__(self, index: int) -> NDArray[np.uint8]:
        """Return frame ``index`` as ``(480, 640, 3)`` RGB."""
        # People and hands often keep still; then the last painting will do.
        if self._last is None or self._differ(index, self._last[0]):
            self._last = (index, self._paint(index))
        return self._camera.develop(self._last[1].copy(), index)

    @abstractmethod
    def _differ(self, one: int, other: int) -> bool:
        """Tell whether two frames look different before the camera adds its own."""

    @abstractmethod
    def _paint(self, index: int) -> NDArray[np.uint8]:
        """Paint a frame as a perfect camera would see it."""

    def _motion(self, track: NDArray[np.float64], index: int) -> tuple[float, float]:
        """Return the pixels a point moves while the shutter is open; ``track`` is in metres."""
        before, after = max(index - 1, 0), min(index + 1, len(track) - 1)
        across, up = (track[after] - track[before]) / max(after - before, 1) * self._blur
        return float(across), -float(up)
