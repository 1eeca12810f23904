"""From video to `Detections` in one pass over the frames: detect, and measure flow in the boxes."""

from collections import deque
from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from wordsight.perception.detectors.registry import Detector, DetectorError
from wordsight.progress import Progress
from wordsight.records import Detections, FrameDetections
from wordsight.video import FlowMeter, Frame, VideoReader

__all__ = ["observe", "watch"]


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
    """Look at a video with a detector, decoding it once.

    Args:
        video: The video.
        detector: What looks at it.
        rate: Look at no more frames per second than this; at all frames if left out.
        start: First time to look at, in seconds; the beginning if left out.
        end: Time to stop at, in seconds (exclusive); the end if left out.
        flow: Whether to measure the optical flow inside the boxes.
        progress: Told how many seconds of the video are done.

    Returns:
        What was seen, one row per frame looked at, boxes in pixels of the video.
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
    """Look at any frames with a detector, passing over them once.

    Whoever else needs the frames can look at them as they pass: give a generator that does so and
    yields each frame on.

    Args:
        frames: Frames in order of time, from one video.
        detector: What looks at them.
        frame_size: Width and height of the frames, for the record.
        flow: Whether to measure the optical flow inside the boxes.

    Returns:
        What was seen, one row per frame.

    Raises:
        DetectorError: If the detector does not give one result per frame in order.
    """
    flows: list[NDArray[np.float64]] = []
    seen = _measured(_paired(frames, detector), flows if flow else None)
    return Detections.from_frames(
        seen, label_names=detector.label_names, frame_size=frame_size, flow=flows if flow else None
    )


def _measured(
    pairs: Iterable[tuple[Frame, FrameDetections]], flows: list[NDArray[np.float64]] | None
) -> Iterator[FrameDetections]:
    """Pass results on one by one, and note the flow in their boxes, which is known a frame late."""
    meter = FlowMeter() if flows is not None else None
    for frame, found in pairs:
        yield found
        before = meter.push(frame, found.boxes) if meter is not None else None
        if before is not None and flows is not None:
            flows.append(before)
    last = meter.finish() if meter is not None else None
    if last is not None and flows is not None:
        flows.append(last)


def _paired(frames: Iterable[Frame], detector: Detector) -> Iterator[tuple[Frame, FrameDetections]]:
    """Yield each frame with its result; a detector may take in a few frames before it answers."""
    waiting: deque[Frame] = deque()

    def tap() -> Iterator[Frame]:
        for frame in frames:
            waiting.append(frame)
            yield frame

    for found in detector.detect(tap()):
        frame = waiting.popleft() if waiting else None
        if frame is None or frame.time != found.time:
            raise DetectorError(
                f"the detector {detector.name!r} must give one result per frame in order, but gave "
                f"one for {found.time} s where {frame.time if frame else 'no frame'} was due."
            )
        yield frame, found
    if waiting:
        raise DetectorError(
            f"the detector {detector.name!r} must give one result per frame, but gave none for "
            f"{len(waiting)} frame{'s' * (len(waiting) != 1)} from {waiting[0].time} s on."
        )


def _reporting(
    frames: Iterable[Frame], progress: Progress, begin: float, seconds: float, what: str
) -> Iterator[Frame]:
    for frame in frames:
        yield frame
        progress(min(max(frame.time - begin, 0.0), seconds), seconds, what)
    progress(seconds, seconds, what)
