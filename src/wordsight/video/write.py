"""`VideoWriter`: H.264 mp4 files that browsers play, with exact presentation times.

The file is written atomically, and the same frames give the same bytes. `RecentFrames` keeps the
last seconds of a source, to be written when something happened.
"""

import os
from collections import deque
from contextlib import ExitStack, suppress
from fractions import Fraction
from pathlib import Path
from types import TracebackType
from typing import Self

import av
import cv2
import numpy as np
from av.container import OutputContainer
from av.video.reformatter import ColorPrimaries, Colorspace, ColorTrc
from av.video.stream import VideoStream
from numpy.typing import NDArray

from wordsight.errors import VideoError
from wordsight.files import atomic_path
from wordsight.video.read.frame import Frame

__all__ = ["RecentFrames", "VideoWriter"]

_TICKS = 90_000  # per second; divides by 24, 25, 30 and 30000/1001, and is finer than a millisecond
_THREADS = 4  # fixed, because the encoder's output depends on it
_KEY_FRAME_SECONDS = 2  # players seek to key frames; close ones make scrubbing smooth
_MAX_SIDE = 16_384  # the encoder's limit
_PRESETS = (
    "ultrafast",
    "superfast",
    "veryfast",
    "faster",
    "fast",
    "medium",
    "slow",
    "slower",
    "veryslow",
)
_QUALITY = 88  # of JPEG pictures that are kept
_LIMITED_RANGE = 1  # luma 16-235, which players expect of H.264


class VideoWriter:
    """Write RGB images as an H.264 mp4 file (yuv420p, index first) that browsers play.

    Use it as a context manager. The file is written under a temporary name and renamed when the
    block succeeds; an error inside the block removes it.

    H.264 needs even sides: an odd width or height is padded by one, repeating the last column or
    row, so that boxes keep their coordinates.

    Args:
        path: The file to write; its name must end in ``.mp4`` (or ``.m4v``, ``.mov``).
        size: Width and height of the images in pixels.
        frame_rate: Frames per second for frames written without a time.
        crf: Quality from 0 (lossless) to 51 (worst); 18 is visually lossless.
        preset: Encoder preset, ``ultrafast`` to ``veryslow``; slower ones give smaller files.
        overwrite: Whether an existing file may be replaced.

    Raises:
        VideoError: If an argument is out of range, the file exists or cannot be written.

    Examples:
        >>> import tempfile
        >>> path = Path(tempfile.mkdtemp()) / "grey.mp4"
        >>> with VideoWriter(path, (64, 48), frame_rate=25) as writer:
        ...     for level in range(10):
        ...         writer.write(np.full((48, 64, 3), level * 20, np.uint8))
        >>> path.exists()
        True
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        size: tuple[int, int],
        frame_rate: float = 30.0,
        *,
        crf: int = 20,
        preset: str = "veryfast",
        overwrite: bool = False,
    ) -> None:
        self.path = Path(path)
        self.size = (int(size[0]), int(size[1]))
        self.frame_rate = float(frame_rate)
        self.crf = crf
        self.preset = preset
        self.overwrite = overwrite
        self.num_frames = 0
        self._check_arguments()
        self._cleanup = ExitStack()
        self._container: OutputContainer | None = None
        self._stream: VideoStream | None = None
        # Frames without a time are counted from the last one with a time, so that rounding errors
        # do not add up.
        self._anchor, self._since_anchor = 0.0, 0
        self._last_tick = -1

    def __enter__(self) -> Self:
        try:
            temporary = self._cleanup.enter_context(
                atomic_path(self.path, overwrite=self.overwrite)
            )
            self._open(temporary)
        except (av.FFmpegError, OSError, ValueError) as error:
            self._settle(error)
            raise self._refusal(error) from error
        return self

    def write(self, image: NDArray[np.uint8], time: float | None = None) -> None:
        """Append one frame.

        Args:
            image: ``(H, W, 3)`` RGB, of the writer's size.
            time: Presentation time in seconds from 0, at least 1/90000 s after the previous one.
                By default 1/``frame_rate`` after the last frame.

        Raises:
            VideoError: If the image or the time is invalid, or the disk is full.
        """
        if self._container is None or self._stream is None:
            raise VideoError("write frames inside 'with VideoWriter(...) as writer:'.")
        self._check_image(image)
        if time is None:
            tick = self._tick_of(self._anchor + self._since_anchor / self.frame_rate)
        else:
            tick = self._tick_of(float(time))
            self._anchor, self._since_anchor = float(time), 0
        frame = av.VideoFrame.from_ndarray(_padded_to_even(image), format="rgb24")
        frame = frame.reformat(format="yuv420p", dst_colorspace=Colorspace.ITU601)
        frame.pts, frame.time_base = tick, Fraction(1, _TICKS)
        frame.duration = round(_TICKS / self.frame_rate)
        try:
            self._container.mux(self._stream.encode(frame))
        except (av.FFmpegError, OSError) as error:
            raise VideoError(f"{self.path} could not be written further: {error}.") from error
        self._last_tick = tick
        self._since_anchor += 1
        self.num_frames += 1

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        failure = error
        if error is None:
            try:
                self._finish()
            except (av.FFmpegError, OSError) as problem:
                failure = VideoError(f"{self.path} could not be finished: {problem}.")
            except VideoError as problem:
                failure = problem
        self._settle(failure)
        if failure is not error and failure is not None:
            raise failure

    def _open(self, temporary: Path) -> None:
        rate = Fraction(self.frame_rate).limit_denominator(1001)
        container = av.open(str(temporary), "w", options={"movflags": "+faststart"})
        self._container = container
        options = {
            "crf": str(self.crf),
            "preset": self.preset,
            "g": str(max(1, round(_KEY_FRAME_SECONDS * self.frame_rate))),
            # With reordered frames, mp4 durations are wrong when the frame rate varies.
            "bf": "0",
        }
        stream = container.add_stream("libx264", rate=rate, options=options)
        stream.width, stream.height = (side + side % 2 for side in self.size)
        stream.pix_fmt = "yuv420p"
        stream.time_base = Fraction(1, _TICKS)
        context = stream.codec_context
        context.time_base = Fraction(1, _TICKS)
        context.thread_count = _THREADS
        # Players guess the colour matrix from the size unless it is stored.
        context.colorspace = Colorspace.SMPTE170M
        context.color_primaries = ColorPrimaries.BT709
        context.color_trc = ColorTrc.BT709
        context.color_range = _LIMITED_RANGE
        container.start_encoding()  # a full disk or a bad option fails here, not at a later frame
        self._stream = stream

    def _finish(self) -> None:
        if self.num_frames == 0:
            raise VideoError(f"no frame was written to {self.path}; write at least one.")
        if self._container is not None and self._stream is not None:
            self._container.mux(self._stream.encode(None))
            self._container.close()  # moves the index to the front; must come before the rename

    def _settle(self, failure: BaseException | None) -> None:
        """Close the container, then rename the file or, after a failure, remove it."""
        container, self._container, self._stream = self._container, None, None
        if failure is None:
            self._put_in_place()
            return
        # Report the failure itself, not that the incomplete file could not be closed.
        with suppress(av.FFmpegError, OSError):
            if container is not None:
                container.close()
        with suppress(type(failure)):  # atomic_path removes its file and raises the failure again
            self._cleanup.__exit__(type(failure), failure, failure.__traceback__)

    def _put_in_place(self) -> None:
        try:
            self._cleanup.close()
        except OSError as error:
            raise self._refusal(error) from error

    def _tick_of(self, seconds: float) -> int:
        if not (np.isfinite(seconds) and seconds >= 0):
            raise VideoError(f"a frame's time must be 0 s or later, got {seconds}.")
        tick = round(seconds * _TICKS)
        if tick <= self._last_tick:
            raise VideoError(
                f"frame times must increase, got {seconds} s after "
                f"{self._last_tick / _TICKS:.6f} s; write the frames in order."
            )
        return tick

    def _check_arguments(self) -> None:
        if self.path.suffix.lower() not in {".mp4", ".m4v", ".mov"}:
            raise VideoError(f"{self.path.name} must end in .mp4; Wordsight writes mp4 files.")
        if not all(0 < side <= _MAX_SIDE for side in self.size):
            raise VideoError(
                f"width and height must be 1 to {_MAX_SIDE:,} pixels, got {self.size}."
            )
        if not (np.isfinite(self.frame_rate) and 0.01 <= self.frame_rate <= 1000):
            raise VideoError(f"frame_rate must be 0.01 to 1000 per second, got {self.frame_rate}.")
        if not 0 <= self.crf <= 51:
            raise VideoError(f"crf must be 0 (best) to 51 (worst), got {self.crf}.")
        if self.preset not in _PRESETS:
            raise VideoError(f"preset must be one of {', '.join(_PRESETS)}, got {self.preset!r}.")

    def _check_image(self, image: NDArray[np.uint8]) -> None:
        wanted = (self.size[1], self.size[0], 3)
        if not isinstance(image, np.ndarray) or image.dtype != np.uint8 or image.shape != wanted:
            what = f"{image.dtype} {image.shape}" if isinstance(image, np.ndarray) else type(image)
            raise VideoError(
                f"a frame must be an RGB image, uint8 {wanted} (height, width, 3), got {what}."
            )

    def _refusal(self, error: Exception) -> VideoError:
        if isinstance(error, FileExistsError) and self.path.is_file():
            advice = "exists already; choose another name or pass overwrite=True."
        else:
            advice = f"cannot be written as video ({error}); check the folder and the disk."
        return VideoError(f"{self.path} {advice}")


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


def _padded_to_even(image: NDArray[np.uint8]) -> NDArray[np.uint8]:
    height, width = image.shape[:2]
    if height % 2 or width % 2:
        image = np.pad(image, ((0, height % 2), (0, width % 2), (0, 0)), mode="edge")
    return np.ascontiguousarray(image)


def _decoded(data: bytes) -> NDArray[np.uint8]:
    pixels = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_COLOR)
    assert pixels is not None  # it was encoded here
    return np.asarray(cv2.cvtColor(pixels, cv2.COLOR_BGR2RGB), np.uint8)
