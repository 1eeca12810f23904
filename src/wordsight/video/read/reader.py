"""`VideoReader`: iterates over the frames of a video file with exact times and frame numbers."""

import os
import warnings
from collections.abc import Generator, Iterator
from contextlib import closing
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import av
import numpy as np
from av.container import InputContainer
from av.video.stream import VideoStream
from numpy.typing import NDArray

from wordsight.closing import Closing
from wordsight.errors import VideoError, VideoWarning
from wordsight.video.read.frame import Converter, Frame
from wordsight.video.read.timeline import Timeline, open_video, scan_timeline

__all__ = ["Damage", "Sampler", "VideoInfo", "VideoReader", "decode_from"]

if TYPE_CHECKING:  # the class is generic in its stubs only
    VideoPacket: TypeAlias = av.Packet[VideoStream]
else:
    VideoPacket = av.Packet

_SEEK_ATTEMPTS = 3
"""Number of earlier key frames to try before decoding from the beginning of the file."""


@dataclass
class Damage:
    """Errors while decoding.

    Attributes:
        errors: Number of packets the decoder rejected.
        spoiled: Number of frames that are incomplete.
        stopped: FFmpeg's message if reading ended early, else empty.
    """

    errors: int = 0
    spoiled: int = 0
    stopped: str = ""

    def __bool__(self) -> bool:
        return bool(self.errors or self.spoiled or self.stopped)


def decode_from(
    path: str | os.PathLike[str], timeline: Timeline, first: int, damage: Damage
) -> Iterator[tuple[int, av.VideoFrame]]:
    """Decode from frame number ``first`` to the end, in presentation order.

    Args:
        path: The video file.
        timeline: Its scanned timeline.
        first: Number of the first frame.
        damage: Updated when frames are lost or incomplete.

    Yields:
        The number of each frame, counting from 0 at the start of the video, and its picture.
    """
    following = first
    for single_thread in (False, True):
        errors = Damage()
        with closing(_decode_once(path, timeline, following, errors, single_thread)) as pictures:
            for index, picture in pictures:
                # Several threads report a broken frame late or never and may drop good ones with
                # it, so after the first gap the rest is decoded again in one thread.
                if not single_thread and (errors.errors or index > following):
                    break
                damage.spoiled += picture.is_corrupt
                yield index, picture
                following = index + 1
        if single_thread or not (errors.errors or following < len(timeline)):
            damage.errors += errors.errors
            damage.stopped = errors.stopped
            return


def _decode_once(
    path: str | os.PathLike[str],
    timeline: Timeline,
    first: int,
    damage: Damage,
    single_thread: bool,
) -> Generator[tuple[int, av.VideoFrame], None, None]:
    for key in _starting_points(timeline, first):
        with open_video(path, threads=not single_thread) as (container, stream):
            packets = _from_key(container, stream, timeline, key)
            if packets is None:  # the seek went too far: try an earlier key frame
                continue
            for index, picture in _numbered(_pictures(packets, stream, damage), timeline):
                if index >= first:  # earlier frames are only references
                    yield index, picture
            return


def _starting_points(timeline: Timeline, first: int) -> Iterator[int | None]:
    """Yield the key frames to try, as indices into the timeline; None is the start of the file."""
    if timeline.stamped and 0 < first < len(timeline):
        key = int(np.searchsorted(timeline.key_stamps, timeline.stamps[first], side="right")) - 1
        yield from range(key, max(key - _SEEK_ATTEMPTS, 0), -1)
    yield None


def _from_key(
    container: InputContainer, stream: VideoStream, timeline: Timeline, key: int | None
) -> Iterator[VideoPacket] | None:
    """Return the packets from a key frame on; None if seeking to it fails."""
    if key is None:
        return iter(container.demux(stream))
    wanted = int(timeline.key_stamps[key])
    try:
        container.seek(int(timeline.seek_stamps[key]), stream=stream)
        packets = iter(container.demux(stream))
        for packet in packets:
            if packet.is_keyframe and packet.pts == wanted:
                return chain([packet], packets)
            # No packet is decoded after its presentation, so the key frame was passed. Formats
            # without an index seek by estimate and may land anywhere, even between key frames.
            if packet.dts is not None and packet.dts > wanted:
                return None
    except (av.FFmpegError, OSError):
        return None
    return None


def _pictures(
    packets: Iterator[VideoPacket], stream: VideoStream, damage: Damage
) -> Iterator[av.VideoFrame]:
    try:
        for packet in packets:
            if packet.size:
                yield from _decode(stream, packet, damage)
    except (av.FFmpegError, OSError) as error:
        damage.stopped = getattr(error, "strerror", None) or str(error)
    yield from _decode(stream, None, damage)


def _decode(stream: VideoStream, packet: VideoPacket | None, damage: Damage) -> list[av.VideoFrame]:
    try:
        return stream.codec_context.decode(packet)
    except (av.FFmpegError, OSError):
        damage.errors += 1
        return []


def _numbered(
    pictures: Iterator[av.VideoFrame], timeline: Timeline
) -> Iterator[tuple[int, av.VideoFrame]]:
    index = -1
    for picture in pictures:
        if timeline.stamped and picture.pts is not None:
            index = timeline.index_of(picture.pts, index)
        else:
            index += 1
        yield index, picture


_ROUNDING = 1e-6
"""Share of a sampling interval by which a rounded time stamp may be early."""


class Sampler:
    """Selects at most ``rate`` frames per second by their time stamps.

    Selects the first frame, then the first one of each following interval of ``1 / rate`` seconds.

    Args:
        rate: Frames per second; ``None`` for all frames.

    Raises:
        ValueError: If the rate is not above 0.

    Examples:
        >>> sampler = Sampler(2)
        >>> [time for time in (0.0, 0.3, 0.6, 0.9, 1.2) if sampler.takes(time)]
        [0.0, 0.6, 1.2]
    """

    def __init__(self, rate: float | None):
        if rate is not None and not rate > 0:
            raise ValueError(f"rate must be above 0 frames per second, got {rate}.")
        self._rate = rate
        self._first: float | None = None
        self._taken = -1

    def takes(self, seconds: float) -> bool:
        """Return whether the frame at this time is selected; call once per frame, in order."""
        if self._rate is None:
            return True
        if self._first is None:
            self._first = seconds
        interval = int((seconds - self._first) * self._rate + _ROUNDING)
        if interval <= self._taken:
            return False
        self._taken = interval
        return True


@dataclass(frozen=True)
class VideoInfo:
    """Properties of a video file.

    Attributes:
        path: The file.
        width: Width of an upright frame in pixels.
        height: Height of an upright frame in pixels.
        duration: Seconds from the first frame to the end of the last.
        frame_rate: Mean number of frames per second.
        num_frames: Number of frames in the file.
        codec: FFmpeg's name of the codec, such as ``h264``.
        variable_rate: Whether the intervals between frames vary.
        start_time: Presentation time of the first frame, in seconds.
    """

    path: Path
    width: int
    height: int
    duration: float
    frame_rate: float
    num_frames: int
    codec: str
    variable_rate: bool
    start_time: float


class VideoReader(Closing):
    """Reads a video file.

    Opening scans the time stamps of the file and decodes its first frame, so that unreadable files
    fail here. Memory does not grow with the length of the video. A damaged file yields the frames
    that can be decoded and one `VideoWarning` per reader.

    Args:
        path: The video file.

    Raises:
        VideoError: If the file is missing or not a video, or no frame of it can be decoded.

    Examples:
        >>> import av, numpy, tempfile, pathlib
        >>> from wordsight.video import VideoReader
        >>> file = pathlib.Path(tempfile.mkdtemp()) / "gray.mp4"
        >>> with av.open(str(file), "w") as out:
        ...     stream = out.add_stream("mpeg4", rate=10)
        ...     for level in range(5):
        ...         image = numpy.full((480, 640, 3), 40 * level, dtype=numpy.uint8)
        ...         out.mux(stream.encode(av.VideoFrame.from_ndarray(image)))
        ...     out.mux(stream.encode(None))
        >>> with VideoReader(file) as video:
        ...     [(frame.index, frame.time) for frame in video.frames(start=0.2)]
        [(2, 0.2), (3, 0.3), (4, 0.4)]
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self._converter = Converter()
        self._warned = False
        self._closed = False
        self._timeline: Timeline = scan_timeline(self.path)
        self._picture_size, self._quarter_turns = self._first_picture()

    def _first_picture(self) -> tuple[tuple[int, int], int]:
        for _, picture in decode_from(self.path, self._timeline, 0, Damage()):
            turns = round(picture.rotation / 90) % 4
            size = (picture.width, picture.height)
            return size if turns % 2 == 0 else size[::-1], turns
        raise VideoError(
            f"{self.path} has {len(self._timeline)} video packets, but no frame can be decoded; "
            "copy it again or convert it with another program."
        )

    @cached_property
    def info(self) -> VideoInfo:
        """Size, duration, frame rate and codec of the video."""
        times = self._timeline.times
        duration = self._timeline.end - float(times[0])
        return VideoInfo(
            path=self.path,
            width=self._picture_size[0],
            height=self._picture_size[1],
            duration=duration,
            frame_rate=len(times) / duration if duration > 0 else 0.0,
            num_frames=len(times),
            codec=self._timeline.codec,
            variable_rate=self._timeline.variable_rate,
            start_time=float(times[0]),
        )

    @property
    def times(self) -> NDArray[np.float64]:
        """``(N,)`` presentation times of all frames in seconds; read-only."""
        self._timeline.times.setflags(write=False)
        return self._timeline.times

    def frames(
        self,
        start: float | None = None,
        end: float | None = None,
        *,
        stride: int = 1,
        rate: float | None = None,
        size: tuple[int, int] | None = None,
    ) -> Iterator[Frame]:
        """Iterate over the frames shown in ``[start, end)``, in order.

        Several iterators may be used at the same time.

        Args:
            start: First presentation time, in seconds; the beginning if None.
            end: Presentation time at which to stop, in seconds; the end if None.
            stride: Yield every ``stride``-th frame.
            rate: Yield at most this many frames per second; see `Sampler`.
            size: Width and height of ``Frame.image``; as stored if None.

        Yields:
            Frames; a frame is converted to pixels only when its ``image`` is used.

        Raises:
            ValueError: If an argument is out of range.
        """
        self._check_open()
        if stride < 1:
            raise ValueError(f"stride must be 1 or more, got {stride}.")
        sampler = Sampler(rate)
        if size is not None and (len(size) != 2 or min(size) < 1):
            raise ValueError(f"size must be a width and a height of at least 1, got {size}.")
        pictures = self._between(start, end)
        return self._selected(pictures, stride, sampler, size or self._picture_size)

    def frame_at(self, time: float) -> Frame:
        """Return the frame on screen at a time in seconds.

        This is the first frame for times before the start and the last one after the end.
        """
        self._check_open()
        wanted = max(int(np.searchsorted(self.times, time, side="right")) - 1, 0)
        damage = Damage()
        for first in range(wanted, -1, -1):  # goes back only where the wanted frame is lost
            for index, picture in decode_from(self.path, self._timeline, first, damage):
                if index <= wanted or first == 0:
                    return self._frame(index, picture, self._picture_size)
                break
        raise VideoError(f"no frame of {self.path} at or before {time} s can be decoded.")

    def close(self) -> None:
        """Close the reader; running iterators close their file when they end."""
        self._closed = True

    def __repr__(self) -> str:
        return f"VideoReader({str(self.path)!r})"

    def _check_open(self) -> None:
        if self._closed:
            raise VideoError(f"the reader of {self.path} is closed; open the file again.")

    def _between(
        self, start: float | None, end: float | None
    ) -> Iterator[tuple[int, av.VideoFrame]]:
        times = self._timeline.times
        first = 0 if start is None else int(np.searchsorted(times, start))
        stop = len(times) if end is None else int(np.searchsorted(times, end))
        if first >= stop:
            return
        damage, following = Damage(), first
        lost: list[int] = []
        for index, picture in decode_from(self.path, self._timeline, first, damage):
            if index >= stop and end is not None:
                break
            lost += range(following, index)
            following = index + 1
            yield index, picture
        self._warn_of(damage, [*lost, *range(following, stop)], reached_end=stop == len(times))

    def _selected(
        self,
        pictures: Iterator[tuple[int, av.VideoFrame]],
        stride: int,
        sampler: Sampler,
        size: tuple[int, int],
    ) -> Iterator[Frame]:
        for count, (index, picture) in enumerate(pictures):
            if count % stride:
                continue
            frame = self._frame(index, picture, size)
            if sampler.takes(frame.time):
                yield frame

    def _frame(self, index: int, picture: av.VideoFrame, size: tuple[int, int]) -> Frame:
        times = self._timeline.times
        if index < len(times):
            time = float(times[index])
        else:  # more frames than packets: continue at the mean rate
            time = float(times[-1]) + (index - len(times) + 1) / max(self.info.frame_rate, 1.0)
        return Frame(
            picture,
            time,
            index,
            size,
            converter=self._converter,
            quarter_turns=self._quarter_turns,
        )

    def _warn_of(self, damage: Damage, lost: list[int], *, reached_end: bool) -> None:
        timeline = self._timeline
        # Without time stamps a packet may be half a frame, so fewer frames prove nothing.
        if not (timeline.stamped or damage.errors):
            lost = []
        cut = timeline.broken or timeline.missing
        if self._warned or not (damage or lost or (reached_end and cut)):
            return
        self._warned = True
        parts = [timeline.broken] if reached_end and timeline.broken else []
        if damage.stopped:
            parts.append(f"reading stopped early ({damage.stopped})")
        if lost or timeline.missing:
            where = timeline.times[lost[0]] if lost else timeline.end
            number = _count(len(lost) + timeline.missing, "frame")
            parts.append(f"{number} lost, the first at {where:.2f} s")
        if damage.spoiled:
            parts.append(f"{_count(damage.spoiled, 'frame')} incomplete")
        if damage.errors and not lost:
            parts.append(f"{_count(damage.errors, 'packet')} unreadable")
        warnings.warn(
            f"{self.path} is damaged: {'; '.join(parts)}. The readable frames are used; copy the "
            "file again if they do not suffice.",
            VideoWarning,
            stacklevel=4,
        )


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
