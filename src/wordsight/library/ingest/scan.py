"""Everything that is found out about a video, in a single pass over its frames.

Decoding with shot finding, detecting, and measuring flow run in a thread each, one ahead of the
other, so that more than one core works on a video.
"""

import threading
import time
from collections.abc import Generator, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from queue import Empty, Full, Queue
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from wordsight.engine import send_note
from wordsight.perception import Detector, watch
from wordsight.perception.detectors.observe import explain_nothing
from wordsight.records import Detections, FrameDetections, Scene, Shot
from wordsight.video import Frame, Sampler, ShotFinder, VideoInfo, VideoReader, group_scenes

__all__ = ["THUMBNAIL_SIDE", "ScanResult", "ahead", "scan"]


# Doing the next piece of work in a thread while the last one is being used.

Item = TypeVar("Item")

_CHECK_SECONDS = 0.1


class _End:
    """Comes last, with what went wrong if anything did."""

    def __init__(self, error: BaseException | None = None):
        self.error = error


def ahead(items: Iterator[Item], depth: int) -> Generator[Item, None, None]:
    """Yield the items of an iterator that runs in its own thread, up to ``depth`` items ahead.

    An exception of the iterator comes out here, after the items before it. The thread has ended
    and the iterator is closed when this one ends, is closed or fails.

    Args:
        items: A generator; only the thread touches it from now on.
        depth: How many items may wait.
    """
    queue: Queue[Item | _End] = Queue(maxsize=depth)
    stop = threading.Event()
    thread = threading.Thread(target=_fill, args=(items, queue, stop), daemon=True)
    thread.start()
    try:
        while not isinstance(item := queue.get(), _End):
            yield item
        if item.error is not None:
            raise item.error
    finally:
        stop.set()
        _empty(queue)
        thread.join()


def _fill(items: Iterator[Item], queue: "Queue[Item | _End]", stop: threading.Event) -> None:
    end = _End()
    try:
        for item in items:
            if not _put(queue, item, stop):
                break
    except BaseException as error:
        end = _End(error)
    finally:
        close = getattr(items, "close", None)
        if close is not None:
            close()
    _put(queue, end, stop)


def _put(queue: "Queue[Item | _End]", item: Item | _End, stop: threading.Event) -> bool:
    while not stop.is_set():
        try:
            queue.put(item, timeout=_CHECK_SECONDS)
        except Full:
            continue
        return True
    return False


def _empty(queue: "Queue[Item | _End]") -> None:
    try:
        while True:
            queue.get_nowait()
    except Empty:
        return


_FRAMES_AHEAD = 8  # enough to even out slow frames; each holds one uncompressed picture
THUMBNAIL_SIDE = 320
"""Pixels of the longer side of a thumbnail."""

_THUMBNAIL_AT = 1 / 3  # of the duration; the very beginning is often black or a title
_TELL_SECONDS = 0.2


@dataclass(frozen=True)
class ScanResult:
    """What a pass over a video found.

    Attributes:
        info: What the video is like.
        num_frames: How many frames could be decoded.
        detections: What the detector saw, with optical flow.
        shots: Its shots.
        scenes: Its scenes.
        thumbnail: ``(H, W, 3)`` a small RGB picture of it.
    """

    info: VideoInfo
    num_frames: int
    detections: Detections
    shots: tuple[Shot, ...]
    scenes: tuple[Scene, ...]
    thumbnail: NDArray[np.uint8]


def scan(
    video: VideoReader, detector: Detector, *, rate: float | None, video_id: str
) -> ScanResult:
    """Decode a video once and find everything.

    Args:
        video: The video.
        detector: Looks at the chosen frames.
        rate: Choose at most so many frames a second; ``None`` for all.
        video_id: Given to the shots.
    """
    decoding = _Decoding(video, Sampler(rate), video_id)
    with closing(ahead(decoding.frames(), _FRAMES_AHEAD)) as frames:
        size = (video.info.width, video.info.height)
        detections = watch(frames, _Ahead(detector, video.info), size)
    end = video.info.start_time + video.info.duration
    shots = decoding.shots.finish(end)
    return ScanResult(
        info=video.info,
        num_frames=decoding.num_frames,
        detections=detections,
        shots=tuple(shots),
        scenes=tuple(group_scenes(shots, decoding.shots.descriptors)),
        thumbnail=decoding.thumbnail,
    )


class _Decoding:
    """Reads all frames, finds shots and a thumbnail, and hands on the chosen frames."""

    def __init__(self, video: VideoReader, sampler: Sampler, video_id: str):
        self._video, self._sampler = video, sampler
        self.shots = ShotFinder(video_id)
        self.num_frames = 0
        self.thumbnail = np.zeros((1, 1, 3), np.uint8)

    def frames(self) -> Iterator[Frame]:
        info = self._video.info
        scale = min(1.0, THUMBNAIL_SIDE / max(info.width, info.height))
        size = max(1, round(info.width * scale)), max(1, round(info.height * scale))
        middle = info.start_time + info.duration * _THUMBNAIL_AT
        wanted = -np.inf  # the first frame, then a better one if the video reaches that far
        for frame in self._video.frames():
            self.num_frames += 1
            self.shots.push(frame)
            if frame.time >= wanted:
                self.thumbnail = frame.scaled(*size)
                wanted = np.inf if frame.time >= middle else middle
            if self._sampler.takes(frame.time):
                yield frame


class _Ahead:
    """A detector that works in its own thread, and tells how far it has come."""

    def __init__(self, detector: Detector, info: VideoInfo):
        self._detector, self._info = detector, info
        self.name, self.label_names = detector.name, detector.label_names

    def settings(self) -> dict[str, Any]:
        return self._detector.settings()

    def explain_nothing(self) -> str:
        return explain_nothing(self._detector)

    def detect(self, frames: Iterable[Frame]) -> Iterator[FrameDetections]:
        told = time.monotonic()
        with closing(ahead(self._detector.detect(frames), _FRAMES_AHEAD)) as results:
            for found in results:
                yield found
                now = time.monotonic()
                if now - told > _TELL_SECONDS and self._info.duration > 0:
                    told = now
                    send_note(min(1.0, (found.time - self._info.start_time) / self._info.duration))
