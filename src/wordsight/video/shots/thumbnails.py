"""`Thumbnail`: a tiny copy of a frame, differences between two of them, and fades to black."""

from array import array
from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from typing import Self

import cv2
import numpy as np
from numpy.typing import NDArray

from wordsight.video.read.frame import Frame

__all__ = [
    "FLAT",
    "HEIGHT",
    "WIDTH",
    "FadeFinder",
    "FadeMiddle",
    "Thumbnail",
    "aligned_difference",
    "change",
    "is_relit",
]


WIDTH, HEIGHT = 64, 36
"""Small enough to suppress noise and small motion, large enough to distinguish scenes."""

_DARK_LEVEL = 11.0
"""Mean brightness (0-255) below which a frame counts as faded out."""

_BLANK_LEVEL, _BLANK_CONTRAST = 5.0, 6.0
"""Mean and contrast below which nothing is visible but perhaps a caption."""

FLAT = 8.0
"""Contrast below which a frame has too little structure to be recognised."""

_RELIT_LIKENESS, _RELIT_REST = 0.9, 0.3
"""Least correlation after a change of light, and largest share of the change left unexplained."""

_JOLT = 2
"""Largest camera shake in thumbnail pixels, 1/32 of the width."""

_WIDESPREAD = int(0.6 * (WIDTH - 2 * _JOLT) * (HEIGHT - 2 * _JOLT))
"""Number of pixels that need not change in a change of the whole frame."""


@dataclass(frozen=True, slots=True)
class Thumbnail:
    """A small copy of a frame.

    Attributes:
        index: Number of the frame.
        time: Presentation time in seconds.
        pixels: ``(36, 64, 3)`` RGB.
        level: Mean over all pixels and colours, 0 to 255.
        contrast: Standard deviation over all pixels and colours.
        step: Change from the frame before; 0 for the first.
    """

    index: int
    time: float
    pixels: NDArray[np.uint8]
    level: float
    contrast: float
    step: float

    @classmethod
    def of(cls, frame: Frame, previous: "Thumbnail | None") -> Self:
        """Scale a frame down and compare it with the previous one."""
        pixels = frame.scaled(WIDTH, HEIGHT)
        # As one row, since OpenCV computes mean and deviation per channel.
        mean, deviation = cv2.meanStdDev(pixels.reshape(1, -1))
        step = 0.0 if previous is None else _difference(previous.pixels, pixels)
        return cls(frame.index, frame.time, pixels, float(mean[0, 0]), float(deviation[0, 0]), step)

    @property
    def dark(self) -> bool:
        """Whether it belongs to a fade-out or fade-in."""
        return self.level < _DARK_LEVEL

    @property
    def blank(self) -> bool:
        """Whether nothing is visible."""
        return self.level < _BLANK_LEVEL and self.contrast < _BLANK_CONTRAST


def change(first: Thumbnail, second: Thumbnail) -> float:
    """Return the mean absolute difference of two thumbnails, 0 to 255."""
    return _difference(first.pixels, second.pixels)


def aligned_difference(first: Thumbnail, second: Thumbnail) -> tuple[float, float]:
    """Compare two thumbnails after shifting one to where they agree best.

    Returns:
        Their mean absolute difference, and the difference that two fifths of the pixels exceed.
    """
    inner = second.pixels[_JOLT:-_JOLT, _JOLT:-_JOLT]
    height, width = inner.shape[:2]
    shifted = [
        first.pixels[y : y + height, x : x + width]
        for y in range(2 * _JOLT + 1)
        for x in range(2 * _JOLT + 1)
    ]
    nearest = min(shifted, key=lambda pixels: _difference(pixels, inner))
    differences = cv2.absdiff(nearest, inner)
    widespread = np.partition(differences.mean(axis=2), _WIDESPREAD, axis=None)[_WIDESPREAD]
    return float(differences.mean()), float(widespread)


def is_relit(first: Thumbnail, second: Thumbnail) -> bool:
    """Return whether two thumbnails differ only by brightness or contrast."""
    faint, strong = sorted((first, second), key=lambda thumb: thumb.contrast)
    if faint.contrast < FLAT:
        return False
    a = strong.pixels.ravel() - np.float32(strong.level)
    b = faint.pixels.ravel() - np.float32(faint.level)
    alike = float(a @ b) / (a.size * strong.contrast * faint.contrast)
    if alike < _RELIT_LIKENESS:
        return False
    gain = alike * faint.contrast / strong.contrast
    unexplained = float(np.abs(b - gain * a).mean())
    return unexplained < _RELIT_REST * _difference(first.pixels, second.pixels)


def _difference(first: NDArray[np.uint8], second: NDArray[np.uint8]) -> float:
    return float(cv2.norm(first, second, cv2.NORM_L1)) / first.size


_BLINK_FRAMES = 5
"""A shorter dark interval separates two shots only if the scene after it is another one."""

_FADE_SECONDS = 0.5
"""Longest time between a dark frame and a blank one of the same fade."""


@dataclass(frozen=True)
class FadeMiddle:
    """The frame in the middle of a dark interval.

    Attributes:
        index: Number of the frame.
        time: Presentation time in seconds.
    """

    index: int
    time: float


class FadeFinder:
    """Finds dark intervals between a fade-out and a fade-in.

    An interval runs from the first dark frame to the last and must contain blank frames: a night
    scene is dark, but not faded out. Dark frames more than half a second away from the blank ones
    belong to such a scene, not to the fade.
    """

    def __init__(self) -> None:
        self._indices: array[int] = array("q")
        self._times: array[float] = array("d")
        self._blank: tuple[float, float] | None = None
        self._before: Thumbnail | None = None

    def push(self, frame: Thumbnail) -> FadeMiddle | None:
        """Add the next frame; return the middle of the dark interval that it ends, if any."""
        if frame.dark:
            self._indices.append(frame.index)
            self._times.append(frame.time)
            if frame.blank:
                self._blank = (self._blank[0] if self._blank else frame.time, frame.time)
            return None
        middle = None if self._blank is None or self._blink(frame) else self._middle(*self._blank)
        self._indices, self._times, self._blank = array("q"), array("d"), None
        self._before = frame
        return middle

    def _blink(self, after: Thumbnail) -> bool:
        if len(self._indices) >= _BLINK_FRAMES or self._before is None:
            return False
        return change(self._before, after) < 0.5 * after.contrast

    def _middle(self, first_blank: float, last_blank: float) -> FadeMiddle:
        start = bisect_left(self._times, first_blank - _FADE_SECONDS)
        end = bisect_right(self._times, last_blank + _FADE_SECONDS)
        at = min((start + end + 1) // 2, end - 1)
        return FadeMiddle(self._indices[at], self._times[at])
