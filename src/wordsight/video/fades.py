"""`DarkRun`: the dark stretches between a fade-out and a fade-in, and where to divide them."""

from array import array
from bisect import bisect_left, bisect_right
from dataclasses import dataclass

from wordsight.video.thumbnails import Thumbnail, change

__all__ = ["DarkRun", "Middle"]

_BLINK_FRAMES = 5
"""A darkness shorter than this divides only if what comes after it is something else."""

_FADE_SECONDS = 0.5
"""Longest time from so dark that it counts as faded to where nothing can be seen any more."""


@dataclass(frozen=True)
class Middle:
    """The frame in the middle of a dark stretch.

    Attributes:
        index: Its number.
        time: When it is shown, in seconds.
    """

    index: int
    time: float


class DarkRun:
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

    def push(self, frame: Thumbnail) -> Middle | None:
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

    def _middle(self, first_blank: float, last_blank: float) -> Middle:
        start = bisect_left(self._times, first_blank - _FADE_SECONDS)
        end = bisect_right(self._times, last_blank + _FADE_SECONDS)
        at = min((start + end + 1) // 2, end - 1)
        return Middle(self._indices[at], self._times[at])
