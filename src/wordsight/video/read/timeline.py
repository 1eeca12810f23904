"""`Timeline`: presentation times of all frames of a video, read from packets without decoding.

The time stamps give each frame its exact number after a seek, distinguish variable from constant
frame rates, and show where a damaged file ends.
"""

import os
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import av
import numpy as np
from numpy.typing import NDArray

from wordsight.errors import VideoError
from wordsight.video.read.source import missing_bytes, open_video

__all__ = ["Timeline", "scan_timeline"]

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
