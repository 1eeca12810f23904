"""Decoding a file from a given frame: seeking, numbering frames, skipping damaged ones."""

import os
from collections.abc import Generator, Iterator
from contextlib import closing
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, TypeAlias

import av
import numpy as np
from av.container import InputContainer
from av.video.stream import VideoStream

from wordsight.video.read.source import open_video
from wordsight.video.read.timeline import Timeline

__all__ = ["Damage", "decode_from"]

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
