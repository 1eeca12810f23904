"""Overlay videos: a copy of a video with detections, tracks and captions drawn on it."""

import os
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from wordsight.errors import VideoError
from wordsight.progress import Progress
from wordsight.records import Detections, FrameDetections, Track
from wordsight.video.draw.boxes import (
    ColouredText,
    draw_caption,
    draw_detections,
    draw_sentence,
    draw_tracks,
)
from wordsight.video.read.frame import Frame
from wordsight.video.read.reader import VideoReader
from wordsight.video.write import VideoWriter

__all__ = ["TimedText", "render_overlay"]

_HOLD = 1.5  # how long detections stay on screen, in intervals between them


class TimedText(Protocol):
    """Text to show from ``start`` until ``end`` (seconds), or always where they are ``None``."""

    @property
    def start(self) -> float | None:
        """When it appears, in seconds."""

    @property
    def end(self) -> float | None:
        """When it disappears, in seconds."""

    @property
    def text(self) -> str:
        """The text."""


def render_overlay(
    video: VideoReader | str | os.PathLike[str],
    path: str | os.PathLike[str],
    *,
    detections: Detections | None = None,
    tracks: Iterable[Track] = (),
    captions: Iterable[TimedText] = (),
    sentence: Callable[[float], Sequence[ColouredText]] | None = None,
    start: float | None = None,
    end: float | None = None,
    width: int | None = None,
    trail_seconds: float = 1.5,
    overwrite: bool = False,
    progress: Progress | None = None,
) -> int:
    """Write a silent mp4 copy of a video with boxes, trails and captions drawn on it.

    Frames keep their presentation times; with ``start``, times count from the first frame shown.
    Detections sampled at a lower rate than the video stay on screen until the next ones.

    Args:
        video: The video, or its file.
        path: The mp4 file to write.
        detections: Boxes to draw with labels and scores, in pixels of the video.
        tracks: Tracks to draw with trails, in pixels of the video.
        captions: Texts to show at the bottom, one per line if several are shown at once.
        sentence: Returns the pieces of a sentence as true as they are at a time, to be shown in
            the colours of the tracks.
        start: Time of the first frame, in seconds; the beginning if None.
        end: Time to stop at, in seconds; the end if None.
        width: Width of the copy in pixels; that of the video if None.
        trail_seconds: Length of the drawn path of a track, in seconds.
        overwrite: Whether an existing file may be replaced.
        progress: Called with the number of seconds done.

    Returns:
        The number of frames written.

    Raises:
        VideoError: If the video cannot be read, has no frame in that range, or the file exists.
    """
    source = video.path if isinstance(video, VideoReader) else Path(video)
    if source.resolve() == Path(path).resolve():
        raise VideoError(f"{path} is the video itself; choose another name for the copy.")
    with ExitStack() as stack:
        if not isinstance(video, VideoReader):
            video = stack.enter_context(VideoReader(video))
        info = video.info
        size = (info.width, info.height)
        if width is not None:
            size = (width, max(1, round(width * info.height / info.width)))
        scale = size[0] / info.width
        painter = _Painter(detections, tracks, captions, sentence, scale, trail_seconds)
        first = info.start_time if start is None else max(start, info.start_time)
        last = info.start_time + info.duration
        last = last if end is None else min(end, last)
        writer = stack.enter_context(
            VideoWriter(path, size, info.frame_rate or 30.0, overwrite=overwrite)
        )
        origin = min(0.0, first)
        for frame in video.frames(start, end, size=size):
            if writer.num_frames == 0 and start is not None:
                origin = frame.time
            writer.write(painter.paint(frame), frame.time - origin)
            if progress is not None:
                progress(min(frame.time, last) - first, last - first, "drawing")
        if writer.num_frames == 0:
            raise VideoError(
                f"{info.path} has no frame from {first:.2f} to {last:.2f} s; it lasts from "
                f"{info.start_time:.2f} to {info.start_time + info.duration:.2f} s."
            )
    return writer.num_frames


class _Painter:
    """Draws the detections, tracks and captions of each frame's time on it."""

    def __init__(
        self,
        detections: Detections | None,
        tracks: Iterable[Track],
        captions: Iterable[TimedText],
        sentence: Callable[[float], Sequence[ColouredText]] | None,
        scale: float,
        trail_seconds: float,
    ) -> None:
        self._detections = (
            None if detections is None else replace(detections, boxes=detections.boxes * scale)
        )
        self._tracks = [replace(track, boxes=track.boxes * scale) for track in tracks]
        self._captions = list(captions)
        self._sentence = sentence
        self._trail_seconds = trail_seconds

    def paint(self, frame: Frame) -> NDArray[np.uint8]:
        """Return the ``(H, W, 3)`` image of a frame with everything drawn on it."""
        image = frame.image
        if self._detections is not None:
            current = _detections_at(self._detections, frame.time)
            if current is not None:
                image = draw_detections(image, current, self._detections.label_names)
        if self._tracks:
            image = draw_tracks(image, self._tracks, frame.time, trail_seconds=self._trail_seconds)
        if self._sentence is not None:
            image = draw_sentence(image, self._sentence(frame.time))
        text = _text_at(self._captions, frame.time)
        return draw_caption(image, text) if text else image


def _detections_at(detections: Detections, time: float) -> FrameDetections | None:
    times = detections.times
    # Times that were stored in a file may be rounded.
    index = int(np.searchsorted(times, time + 1e-4, side="right")) - 1
    if index < 0:
        return None
    usual = float(np.median(np.diff(times))) if len(times) > 1 else 0.0
    return detections.frame(index) if time - times[index] <= _HOLD * usual + 1e-4 else None


def _text_at(captions: Sequence[TimedText], time: float) -> str:
    return "\n".join(
        caption.text
        for caption in captions
        if (caption.start is None or caption.start <= time)
        and (caption.end is None or time < caption.end)
    )
