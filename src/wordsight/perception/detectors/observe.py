"""Running a detector on a video and measuring optical flow in its boxes, in one pass."""

import warnings
from collections import deque
from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from wordsight.errors import VideoWarning
from wordsight.perception.detectors.registry import Detector, DetectorError
from wordsight.progress import Progress
from wordsight.records import Detections, FrameDetections
from wordsight.video import FlowMeter, Frame, VideoReader

__all__ = ["explain_nothing", "look", "observe", "watch"]


def observe(
    video: VideoReader,
    detector: Detector,
    *,
    rate: float | None = None,
    start: float | None = None,
    end: float | None = None,
    flow: bool = True,
    progress: Progress | None = None,
) -> Detections:
    """Run a detector on a video, decoding it once.

    Args:
        video: The video.
        detector: The detector.
        rate: Most frames per second to process; all frames if None.
        start: First time in seconds; the beginning if None.
        end: Time to stop at, in seconds (exclusive); the end if None.
        flow: Whether to measure the optical flow inside the boxes.
        progress: Called with the number of seconds done.

    Returns:
        The detections, one row per processed frame, boxes in pixels of the video.
    """
    info = video.info
    begin = info.start_time if start is None else max(start, info.start_time)
    finish = info.start_time + info.duration if end is None else end
    frames: Iterable[Frame] = video.frames(start, end, rate=rate)
    if progress is not None:
        frames = _reporting(frames, progress, begin, max(finish - begin, 0.0), info.path.name)
    return watch(frames, detector, (info.width, info.height), flow=flow)


def watch(
    frames: Iterable[Frame],
    detector: Detector,
    frame_size: tuple[int, int],
    *,
    flow: bool = True,
) -> Detections:
    """Run a detector on frames, in one pass.

    Args:
        frames: Frames of one video, in order of time; may be a generator that uses each frame for
            other purposes as well.
        detector: The detector.
        frame_size: Width and height of the frames, stored in the result.
        flow: Whether to measure the optical flow inside the boxes.

    Returns:
        The detections, one row per frame.

    Raises:
        DetectorError: If the detector does not give one result per frame in order.

    Warns:
        VideoWarning: If nothing was found and the detector can say why that may be.
    """
    flows: list[NDArray[np.float64]] = []

    def results() -> Iterator[FrameDetections]:
        for _, result, moved in look(frames, detector, flow=flow):
            if moved is not None:
                flows.append(moved)
            yield result

    seen = Detections.from_frames(
        results(),
        label_names=detector.label_names,
        frame_size=frame_size,
        flow=flows if flow else None,
    )
    if len(seen) and not seen.mask.any() and (why := explain_nothing(detector)):
        message = f"{detector.name} found nothing in {len(seen)} frames: {why}."
        warnings.warn(message, VideoWarning, stacklevel=2)
    return seen


def explain_nothing(detector: Detector) -> str:
    """Return why a detector may have found nothing, as far as it can say."""
    explain = getattr(detector, "explain_nothing", None)
    return "" if explain is None else str(explain())


def look(
    frames: Iterable[Frame], detector: Detector, *, flow: bool = True
) -> Iterator[tuple[Frame, FrameDetections, NDArray[np.float64] | None]]:
    """Yield each frame with what a detector finds in it as soon as that is known.

    Args:
        frames: Frames of one size, in order of time; they may go on for ever.
        detector: The detector.
        flow: Whether to measure the optical flow in the boxes, which is known one frame later.

    Yields:
        The frame, what was found, and the ``(J, 2)`` flow in its boxes if wanted.
    """
    pairs = _paired(frames, detector)
    if not flow:
        yield from ((frame, result, None) for frame, result in pairs)
        return
    meter = FlowMeter()
    before: tuple[Frame, FrameDetections] | None = None
    for frame, result in pairs:
        moved = meter.push(frame, result.boxes)
        if before is not None:
            yield *before, moved
        before = frame, result
    if before is not None:
        yield *before, meter.finish()


def _paired(frames: Iterable[Frame], detector: Detector) -> Iterator[tuple[Frame, FrameDetections]]:
    """Yield each frame with its result; a detector may consume a few frames before it yields."""
    waiting: deque[Frame] = deque()

    def tap() -> Iterator[Frame]:
        for frame in frames:
            waiting.append(frame)
            yield frame

    for result in detector.detect(tap()):
        frame = waiting.popleft() if waiting else None
        if frame is None or frame.time != result.time:
            raise DetectorError(
                f"the detector {detector.name!r} must yield one result per frame in order, but "
                f"yielded {result.time} s instead of {frame.time if frame else 'no frame'}."
            )
        yield frame, result
    if waiting:
        raise DetectorError(
            f"the detector {detector.name!r} must yield one result per frame, but yielded none for "
            f"{len(waiting)} frame{'s' * (len(waiting) != 1)} from {waiting[0].time} s on."
        )


def _reporting(
    frames: Iterable[Frame], progress: Progress, begin: float, seconds: float, what: str
) -> Iterator[Frame]:
    for frame in frames:
        yield frame
        progress(min(max(frame.time - begin, 0.0), seconds), seconds, what)
    progress(seconds, seconds, what)
