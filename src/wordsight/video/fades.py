"""`DarkRun`: the dark stretches between a fade-out and a fade-in, and where to divide them."""

from array import array
from dataclasses import dataclass

from wordsight.video.thumbnails import Thumbnail, change

__all__ = ["DarkRun", "Middle"]

_BLINK_FRAMES = 5
"""A darkness shorter than this divides only if what comes after it is something else."""


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
    a frame in which nothing can be seen: a night scene is dark, but not faded out.
    """

    def __init__(self) -> None:
        self._indices: array[int] = array("q")
        self._times: array[float] = array("d")
        self._blank = False
        self._before: Thumbnail | None = None

    def push(self, frame: Thumbnail) -> Middle | None:
        """Take the next frame; return the middle of the faded-out stretch that it ends, if any."""
        if frame.dark:
            self._indices.append(frame.index)
            self._times.append(frame.time)
            self._blank |= frame.blank
            return None
        middle = self._middle() if self._blank and not self._blink(frame) else None
        self.clear()
        self._before = frame
        return middle

    def clear(self) -> None:
        """Forget the stretch at hand, because a cut showed that it is not one."""
        self._indices, self._times = array("q"), array("d")
        self._blank = False

    def _blink(self, after: Thumbnail) -> bool:
        if len(self._indices) >= _BLINK_FRAMES or self._before is None:
            return False
        return change(self._before, after) < 0.5 * after.contrast

    def _middle(self) -> Middle:
        at = min((len(self._indices) + 1) // 2, len(self._indices) - 1)
        return Middle(self._indices[at], self._times[at])
