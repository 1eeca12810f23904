"""`Thumbnail`: a frame made very small, and how two of them differ; what shot finding works on."""

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
"""Small enough to blur noise and little motions away, large enough to tell places apart."""

_DARK_LEVEL = 11.0
"""Mean brightness (0-255) below which a picture counts as faded out."""

_BLANK_LEVEL, _BLANK_CONTRAST = 5.0, 6.0
"""Mean and contrast below which nothing can be seen but perhaps a caption."""

FLAT = 8.0
"""Contrast below which there is too little in a picture to recognise it by."""

_RELIT_LIKENESS, _RELIT_REST = 0.9, 0.3
"""Correlation that a change of light leaves, and share of the change that it may not explain."""

_JOLT = 2
"""Thumbnail pixels a jolt of the camera may move the picture: one part in 32 of its width."""

_WIDESPREAD = int(0.6 * (WIDTH - 2 * _JOLT) * (HEIGHT - 2 * _JOLT))
"""How many pixels may stay out of a change that counts as one of the whole picture."""


@dataclass(frozen=True, slots=True)
class Thumbnail:
    """A frame made small.

    Attributes:
        index: Number of the frame.
        time: When it is shown, in seconds.
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
        """Make a frame small and compare it with the one before."""
        pixels = frame.scaled(WIDTH, HEIGHT)
        # As one row, because OpenCV would give mean and deviation for each colour.
        mean, deviation = cv2.meanStdDev(pixels.reshape(1, -1))
        step = 0.0 if previous is None else _difference(previous.pixels, pixels)
        return cls(frame.index, frame.time, pixels, float(mean[0, 0]), float(deviation[0, 0]), step)

    @property
    def dark(self) -> bool:
        """Whether it belongs to a fade-out or fade-in."""
        return self.level < _DARK_LEVEL

    @property
    def blank(self) -> bool:
        """Whether there is nothing to be seen."""
        return self.level < _BLANK_LEVEL and self.contrast < _BLANK_CONTRAST


def change(first: Thumbnail, second: Thumbnail) -> float:
    """Return the mean absolute difference of two thumbnails, 0 to 255."""
    return _difference(first.pixels, second.pixels)


def aligned_difference(first: Thumbnail, second: Thumbnail) -> tuple[float, float]:
    """Compare two thumbnails after shifting one a little to where they agree best.

    Returns:
        Their mean absolute difference, and the one that two fifths of the picture exceed.
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
    """Whether two thumbnails show the same thing with more or less light, or white light, on it."""
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


# `FadeFinder`: the dark stretches between a fade-out and a fade-in, and where to divide them.

_BLINK_FRAMES = 5
"""A darkness shorter than this divides only if what comes after it is something else."""

_FADE_SECONDS = 0.5
"""Longest time from so dark that it counts as faded to where nothing can be seen any more."""


@dataclass(frozen=True)
class FadeMiddle:
    """The frame in the middle of a dark stretch.

    Attributes:
        index: Its number.
        time: When it is shown, in seconds.
    """

    index: int
    time: float


class FadeFinder:
    """Follows the brightness of frames and tells when a faded-out stretch has ended.

    A stretch runs from the first dark frame to the last, however it began and ended, and must hold
    frames in which nothing can be seen: a night scene is dark, but not faded out. Dark frames more
    than half a second away from those belong to such a scene, not to the fade.
    """

    def __init__(self) -> None:
        self._indices: array[int] = array("q")
        self._times: array[float] = array("d")
        self._blank: tuple[float, float] | None = None
        self._before: Thumbnail | None = None

    def push(self, frame: Thumbnail) -> FadeMiddle | None:
        """Take the next frame; return the middle of the faded-out stretch that it ends, if any."""
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
