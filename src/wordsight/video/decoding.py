"""Decoding a file from a given frame on: seeking, numbering frames, and surviving damage."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain

import av
import numpy as np
from av.container import InputContainer
from av.video.stream import VideoStream

from wordsight.video.source import open_video
from wordsight.video.timeline import Timeline

__all__ = ["Damage", "decode_from"]

_SEEK_ATTEMPTS = 3
"""How many key frames further back are tried before decoding from the beginning of the file."""


@dataclass
class Damage:
    """What went wrong while decoding.

    Attributes:
        errors: Packets the decoder refused.
        spoiled: Frames that came out with parts missing.
        stopped: Why reading had to end early, in FFmpeg's words; empty if it did not.
    """

    errors: int = 0
    spoiled: int = 0
    stopped: str = ""

    def __bool__(self) -> bool:
        return bool(self.errors or self.spoiled or self.stopped)


def decode_from(
    path: str | os.PathLike[str], timeline: Timeline, first: int, damage: Damage
) -> Iterator[tuple[int, av.VideoFrame]]:
    """Decode from frame number ``first`` to the end, in the order frames are shown.

    Args:
        path: The video file.
        timeline: Its scanned timeline.
        first: Number of the first frame wanted.
        damage: Written to when frames are lost or spoiled.

    Yields:
        The number of each frame, counting from 0 at the start of the video, and its picture.
    """
    for seek_stamp in _starting_points(timeline, first):
        with open_video(path) as (container, stream):
            if seek_stamp is not None and not _seek(container, stream, seek_stamp):
                continue
            pictures = _numbered(_pictures(container, stream, damage), timeline)
            opening = next(pictures, None)
            # A seek may land too late (formats without an index, open groups of pictures).
            if seek_stamp is not None and (opening is None or opening[0] > first):
                continue
            for index, picture in chain([opening] if opening else [], pictures):
                if index >= first:  # what comes before is only there to decode the wanted ones
                    damage.spoiled += picture.is_corrupt
                    yield index, picture
            return


def _starting_points(timeline: Timeline, first: int) -> Iterator[int | None]:
    if timeline.stamped and first > 0:
        key = int(np.searchsorted(timeline.key_stamps, timeline.stamps[first], side="right")) - 1
        for earlier in range(key, max(key - _SEEK_ATTEMPTS, 0), -1):
            yield int(timeline.seek_stamps[earlier])
    yield None


def _seek(container: InputContainer, stream: VideoStream, stamp: int) -> bool:
    try:
        container.seek(stamp, stream=stream)
    except (av.FFmpegError, OSError):
        return False
    return True


def _pictures(
    container: InputContainer, stream: VideoStream, damage: Damage
) -> Iterator[av.VideoFrame]:
    try:
        for packet in container.demux(stream):
            if packet.size:
                yield from _decode(stream, packet, damage)
    except (av.FFmpegError, OSError) as error:
        damage.stopped = getattr(error, "strerror", None) or str(error)
    # A broken frame among the last ones ends a flush early; what is left comes with the next.
    while rest := _decode(stream, None, damage):
        yield from rest


def _decode(
    stream: VideoStream, packet: "av.Packet[VideoStream] | None", damage: Damage
) -> list[av.VideoFrame]:
    try:
        return stream.codec_context.decode(packet)
    except EOFError:
        return []
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
