"""`Timeline`: presentation times of all frames of a video, read from packets without decoding.

The time stamps give each frame its exact number after a seek, distinguish variable from constant
frame rates, and show where a damaged file ends.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any, BinaryIO

import av
import numpy as np
from av.container import InputContainer
from av.stream import Disposition
from av.video.stream import VideoStream
from numpy.typing import NDArray

from wordsight.errors import VideoError
from wordsight.files import BOX_SUFFIXES

__all__ = ["Timeline", "missing_bytes", "open_video", "scan_timeline"]

_NOT_MOVING = ("image2", "tty", "lrc")
"""Formats FFmpeg calls video that are an image or text, like all that end in ``_pipe``."""


@contextmanager
def open_video(
    path: str | os.PathLike[str], *, threads: bool = True
) -> Iterator[tuple[InputContainer, VideoStream]]:
    """Open a file and its first video stream; close it when the block ends.

    Args:
        path: The video file; its name may contain any characters.
        threads: Whether to decode with several threads.

    Yields:
        The open container and the stream.

    Raises:
        VideoError: If the file is missing, empty, a folder, or has no video stream.
    """
    file = Path(path)
    _check_is_file(file)
    try:
        # "file:" keeps FFmpeg from reading a colon in a name as a network address; the protocol
        # list keeps a playlist inside the file from accessing the network.
        container = av.open(f"file:{file}", container_options={"protocol_whitelist": "file"})
    except (av.FFmpegError, OSError, UnicodeError, ValueError) as error:
        raise VideoError(_why_not_opened(file, error)) from None
    with container:
        stream = _moving_picture(container, file)
        stream.codec_context.thread_type = "AUTO" if threads else "NONE"
        yield container, stream


def _check_is_file(file: Path) -> None:
    if file.is_dir():
        raise VideoError(f"{file} is a folder, not a video; name the files inside it.")
    if not file.exists():
        raise VideoError(f"there is no file {file}; check the name and the folder.")
    if not file.is_file():
        raise VideoError(f"{file} is not a regular file, so it cannot be read as video.")
    if not os.access(file, os.R_OK):
        raise VideoError(f"no permission to read {file}; ask its owner for access.")
    if file.stat().st_size == 0:
        raise VideoError(f"{file} is empty; copy or download it again.")


def _without_pictures(file: Path) -> str:
    return f"{file} holds text or boxes without pictures, and this needs a video's pictures."


def _why_not_opened(file: Path, error: Exception) -> str:
    if file.suffix.lower() in BOX_SUFFIXES:
        return _without_pictures(file)
    reason = getattr(error, "strerror", None) or str(error)
    return (
        f"{file} cannot be read as video ({reason}). Expected a video file such as MP4, WebM, AVI "
        "or MPEG; if it is one, it may have been cut off before its index was written: copy it "
        "again or convert it with another program."
    )


def _moving_picture(container: InputContainer, file: Path) -> VideoStream:
    kind = container.format.name
    if kind in _NOT_MOVING or kind.endswith("_pipe"):
        if file.suffix.lower() in BOX_SUFFIXES:
            raise VideoError(_without_pictures(file))
        raise VideoError(f"{file} is a still image or text ({kind}), not a video.")
    for stream in container.streams.video:
        if stream.disposition & Disposition.attached_pic:  # cover art of a music file
            continue
        if stream.codec_context is None:
            raise VideoError(
                f"{file} uses a codec that this FFmpeg cannot decode; convert it, for example to "
                "H.264 in MP4."
            )
        return stream
    what = "only sound" if container.streams.audio else "no video"
    raise VideoError(f"{file} has {what} in it; expected a file with a video stream.")


# Truncation: FFmpeg reads a file that was cut off as if it ended there; the sizes stored in MP4,
# AVI and Matroska files reveal it.

_EBML_HEADER = 0x1A45DFA3
_MATROSKA_SEGMENT = 0x18538067
_MP4_FIRST_BOXES = (b"ftyp", b"moov", b"mdat", b"free", b"skip", b"wide", b"styp")


def missing_bytes(path: str | os.PathLike[str]) -> int:
    """Return the least number of bytes missing at the end of a file; 0 if it may be complete."""
    size = Path(path).stat().st_size
    with Path(path).open("rb") as file:
        head = file.read(12)
        file.seek(0)
        if head[:4] == b"RIFF":
            # Interrupted recorders leave all bits 0 or 1.
            stated = int.from_bytes(head[4:8], "little")
            end = stated + 8 if stated != 0xFFFFFFFF else 0
        elif int.from_bytes(head[:4], "big") == _EBML_HEADER:
            end = _end_of_segment(file)
        elif head[4:8] in _MP4_FIRST_BOXES:
            end = _end_of_boxes(file, size)
        else:
            end = 0
    return max(end - size, 0)


def _end_of_segment(file: BinaryIO) -> int:
    """Return the stated end of a Matroska file's segment; 0 if it is unknown."""
    _read_vint(file, keep_marker=True)
    header_size = _read_vint(file)
    if header_size is None:
        return 0
    file.seek(header_size, os.SEEK_CUR)
    if _read_vint(file, keep_marker=True) != _MATROSKA_SEGMENT:
        return 0
    segment_size = _read_vint(file)
    return 0 if segment_size is None else file.tell() + segment_size


def _read_vint(file: BinaryIO, *, keep_marker: bool = False) -> int | None:
    """Read an EBML variable-length integer; None if absent or 'unknown'."""
    first = file.read(1)
    if not first or not first[0]:
        return None
    length = 9 - first[0].bit_length()
    value = int.from_bytes(first + file.read(length - 1), "big")
    if keep_marker:
        return value
    value &= (1 << 7 * length) - 1
    return None if value == (1 << 7 * length) - 1 else value


def _end_of_boxes(file: BinaryIO, size: int) -> int:
    """Return the stated end of the last top-level box of an MP4 file."""
    end = 0
    while end + 8 <= size:
        file.seek(end)
        head = file.read(16)
        length = int.from_bytes(head[:4], "big")
        if length == 1:  # a 64-bit size follows
            length = int.from_bytes(head[8:16], "big")
        if length < 8 or not head[4:8].isalnum():  # extends to the end, or padding follows
            return 0
        end += length
    return end


_COUNTS_FRAMES = ("mp4", "avi")
"""Containers whose header states the number of frames."""

_SLACK_SECONDS = 0.5
"""How much earlier than its header states an FLV file may end before it counts as cut off."""


@dataclass(frozen=True)
class Timeline:
    """Time stamps of the frames of one video, in presentation order.

    Attributes:
        stamps: ``(N,)`` presentation time stamps in units of ``time_base``, ascending.
        times: ``(N,)`` the same in seconds.
        key_stamps: ``(K,)`` stamps of the key frames, ascending.
        seek_stamps: ``(K,)`` stamps to seek to for each key frame.
        time_base: Seconds per unit.
        codec: FFmpeg's name of the codec.
        end: End of the last frame, in seconds.
        stamped: Whether frames carry time stamps; if not, they are counted from the start and
            seeking is impossible.
        missing: Number of frames that the header states but the file lacks.
        broken: Why the file is incomplete; empty if it is not known to be.
    """

    stamps: NDArray[np.int64]
    times: NDArray[np.float64]
    key_stamps: NDArray[np.int64]
    seek_stamps: NDArray[np.int64]
    time_base: Fraction
    codec: str
    end: float
    stamped: bool
    missing: int
    broken: str

    def __len__(self) -> int:
        return len(self.stamps)

    def seconds(self, stamp: int) -> float:
        """Return a time stamp in seconds."""
        return stamp * self.time_base.numerator / self.time_base.denominator

    def index_of(self, stamp: int, previous: int) -> int:
        """Return the number of the frame with this stamp that follows frame ``previous``.

        Several frames may share a stamp; an unknown stamp gets the next number.
        """
        following = previous + 1
        if following < len(self.stamps) and self.stamps[following] == stamp:
            return following
        index = int(np.searchsorted(self.stamps, stamp))
        known = index < len(self.stamps) and self.stamps[index] == stamp
        return index if known and index > previous else following

    @property
    def variable_rate(self) -> bool:
        """Whether the gaps between frames differ by more than the rounding of time stamps."""
        gaps = np.diff(self.stamps)
        # Two units of rounding (1/1000 s in Matroska) are not a change of rate.
        if len(gaps) < 2:
            return False
        return bool(gaps.max() - gaps.min() > max(2, 0.05 * np.median(gaps)))


@dataclass
class _Packets:
    """Statistics of the packets of a file."""

    stamps: list[int] = field(default_factory=list)
    keys: list[tuple[int, int]] = field(default_factory=list)
    stamped: bool = True
    dated: bool = True
    count: int = 0
    spoiled: int = 0
    last_duration: int = 0
    end: float = 0.0
    error: str = ""


def scan_timeline(path: str | os.PathLike[str]) -> Timeline:
    """Read all packets of a video file without decoding and return its timeline.

    Raises:
        VideoError: If the file is not a video or has no frames.
    """
    with open_video(path) as (container, stream):
        packets = _gather(container, stream)
        if not packets.stamps:
            raise VideoError(
                f"{path} is a video without frames. If it should have some, it was cut off or "
                "damaged: copy it again."
            )
        return _timeline(path, container, stream, packets)


def _gather(container: av.container.InputContainer, stream: av.VideoStream) -> _Packets:
    packets = _Packets()
    try:
        for packet in container.demux():
            time = packet.pts if packet.pts is not None else packet.dts
            if time is not None and packet.time_base is not None:
                ends = float((time + (packet.duration or 0)) * packet.time_base)
                packets.end = max(packets.end, ends)
            if packet.stream is stream:
                packets.count += packet.size > 0 or time is not None
                packets.spoiled += packet.is_corrupt
                if packet.size and not (packet.is_discard or _hidden(packet, stream)):
                    _note(packets, packet, time)
    except (av.FFmpegError, OSError) as error:
        packets.error = getattr(error, "strerror", None) or str(error)
    return packets


def _note(packets: _Packets, packet: "av.Packet[Any]", time: int | None) -> None:
    packets.stamped &= packet.pts is not None
    packets.dated &= time is not None
    stamp = time if time is not None else len(packets.stamps)
    packets.stamps.append(stamp)
    packets.last_duration = packet.duration or 0
    if packet.is_keyframe:
        decoded = packet.dts if packet.dts is not None else stamp
        packets.keys.append((stamp, min(stamp, decoded)))


def _hidden(packet: "av.Packet[Any]", stream: av.VideoStream) -> bool:
    # VP8 has reference pictures that are never shown: bit 4 of the first byte is 0.
    return stream.codec_context.name == "vp8" and not memoryview(packet)[0] >> 4 & 1


def _timeline(
    path: str | os.PathLike[str],
    container: av.container.InputContainer,
    stream: av.VideoStream,
    packets: _Packets,
) -> Timeline:
    time_base = Fraction(stream.time_base or Fraction(1, 1000))
    if not packets.dated:  # a raw stream without a container: use the nominal frame rate
        time_base = 1 / Fraction(stream.guessed_rate or stream.average_rate or 25)
        packets.stamps = list(range(len(packets.stamps)))
    stamps = np.sort(np.array(packets.stamps, dtype=np.int64))
    times = stamps * time_base.numerator / time_base.denominator
    keys = np.array(sorted(packets.keys), dtype=np.int64).reshape(-1, 2)
    counted = any(name in container.format.name for name in _COUNTS_FRAMES)
    missing = max(stream.frames - packets.count, 0) if counted else 0
    return Timeline(
        stamps=stamps,
        times=times,
        key_stamps=keys[:, 0],
        seek_stamps=keys[:, 1],
        time_base=time_base,
        codec=stream.codec_context.codec.canonical_name,
        end=float(times[-1]) + _last_gap(times, packets.last_duration * time_base),
        stamped=packets.stamped and not _guessed(container, stream),
        missing=missing,
        broken=_broken(path, container, packets),
    )


def _guessed(container: av.container.InputContainer, stream: av.VideoStream) -> bool:
    # AVI stores no presentation times; FFmpeg's guesses are wrong if frames are reordered.
    return container.format.name == "avi" and stream.codec_context.has_b_frames


def _last_gap(times: NDArray[np.float64], duration: Fraction) -> float:
    # The packet's duration may be absent or wrong; then the median gap is used.
    gaps = np.diff(times)
    usual = float(np.median(gaps)) if len(gaps) else 0.04
    return float(duration) if 0 < duration < 10 * usual + 1 else usual


def _broken(
    path: str | os.PathLike[str], container: av.container.InputContainer, packets: _Packets
) -> str:
    if lacking := missing_bytes(path):
        return f"the file is cut off, {lacking} bytes or more are missing at its end"
    if packets.error:
        return f"the file cannot be read to its end ({packets.error})"
    if container.format.name == "flv" and container.duration:
        stated = ((container.start_time or 0) + container.duration) / av.time_base
        if stated - packets.end > _SLACK_SECONDS:
            return f"the file ends at {packets.end:.2f} s instead of {stated:.2f} s"
    return "parts of the file are unreadable" if packets.spoiled else ""
