"""`RecentFrames`: the last seconds of a stream, to make a film of a moment that is over."""

import os
from collections import deque

import cv2
import numpy as np
from numpy.typing import NDArray

from wordsight.errors import VideoError
from wordsight.video.read.frame import Frame
from wordsight.video.write import VideoWriter

__all__ = ["RecentFrames"]

_QUALITY = 88


class RecentFrames:
    """Keeps the frames of the last seconds as JPEG pictures.

    Args:
        seconds: How long a frame is kept.
        long_side: Longer side of the kept pictures; smaller frames are not scaled.

    Examples:
        >>> recent = RecentFrames(2.0)
        >>> for number in range(50):
        ...     recent.add(Frame.from_array(np.zeros((48, 64, 3), np.uint8), number / 10))
        >>> len(recent)
        21
    """

    def __init__(self, seconds: float, *, long_side: int = 960) -> None:
        self._seconds, self._long_side = seconds, long_side
        self._kept: deque[tuple[float, bytes]] = deque()

    def __len__(self) -> int:
        return len(self._kept)

    def add(self, frame: Frame) -> None:
        """Keep a frame, and forget those that are too old."""
        shrink = min(1.0, self._long_side / max(frame.size))
        width, height = (max(2, round(side * shrink)) for side in frame.size)
        pixels = cv2.cvtColor(frame.scaled(width, height), cv2.COLOR_RGB2BGR)
        _, data = cv2.imencode(".jpg", pixels, [cv2.IMWRITE_JPEG_QUALITY, _QUALITY])
        self._kept.append((frame.time, data.tobytes()))
        while self._kept and self._kept[0][0] < frame.time - self._seconds - 1e-9:
            self._kept.popleft()

    def between(self, start: float, end: float) -> list[tuple[float, bytes]]:
        """Return the times and JPEG pictures of the frames from ``start`` to ``end`` seconds."""
        return [one for one in self._kept if start <= one[0] < end]

    @staticmethod
    def write(path: str | os.PathLike[str], pictures: list[tuple[float, bytes]]) -> None:
        """Write pictures that :meth:`between` returned as an mp4 file.

        Raises:
            VideoError: If there are none, or the file cannot be written.
        """
        if not pictures:
            raise VideoError(f"there are no frames for {path}.")
        begun = pictures[0][0]
        gaps = np.diff([time for time, _ in pictures])
        rate = 1.0 / float(np.median(gaps)) if len(gaps) else 10.0
        first = _decoded(pictures[0][1])
        size = (first.shape[1], first.shape[0])
        with VideoWriter(path, size, min(max(rate, 1.0), 120.0), overwrite=True) as writer:
            for time, data in pictures:
                image = _decoded(data)
                if image.shape == first.shape:
                    writer.write(image, time - begun)


def _decoded(data: bytes) -> NDArray[np.uint8]:
    pixels = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_COLOR)
    assert pixels is not None  # it was encoded here
    return np.asarray(cv2.cvtColor(pixels, cv2.COLOR_BGR2RGB), np.uint8)
