"""Shots: where a video cuts or fades to black, found while its frames stream by.

`ShotFinder` looks at a thumbnail of every frame and keeps a dozen of them, so that it can ride
along with any other work on the same frames. `detect_shots` reads a file just for the shots.
"""

import os
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from wordsight.progress import Progress
from wordsight.records import Scene, Shot
from wordsight.video.read.frame import Frame
from wordsight.video.read.reader import VideoReader
from wordsight.video.shots.scenes import ShotAppearance, group_scenes, shared_colours
from wordsight.video.shots.thumbnails import (
    FLAT,
    FadeFinder,
    Thumbnail,
    aligned_difference,
    change,
    is_relit,
)

__all__ = ["ShotBoundary", "ShotFinder", "detect_scenes", "detect_shots", "find_shots"]

_WINDOW = 4
"""Frames on either side whose changes a cut must stand out from; flashes up to this long do not."""

_LONGEST_SOFT_CUT = 3
"""Frames a cut may be smeared over by a change of frame rate."""

_LEAST_SCORE = 0.1
"""Below this a change does not stand out at all."""

_OTHER_COLOURS = 0.6
"""Share of common colours below which two pictures are of different places; in one shot, even with
violent motion, it stays near 0.8 and above."""

_LEAST_SPREAD = 0.3
"""Share of the mean change that two fifths of the picture must show; a jumping object fails it."""

_PROGRESS_FRAMES = 50


@dataclass(frozen=True)
class ShotBoundary:
    """Where a shot starts.

    Attributes:
        index: Number of its first frame.
        time: When that is shown, in seconds.
        score: How clearly it starts, 0 to 1.
        before: What was seen last before, to recognise when it comes back; None after a fade.
    """

    index: int
    time: float
    score: float
    before: Thumbnail | None = None


class ShotFinder:
    """Finds shots in frames pushed one after the other.

    *Cuts.* The change between two neighbouring frames is the mean absolute difference of their
    thumbnails. A cut is a change that is large for the contrast of the pictures, spread over them,
    lasting, and not explained by a jolt of the camera or by light going on. It must be ``ratio``
    times as large as any other within four frames, or bring other colours. Steady motion, pans and
    flashes therefore do not count. A cut smeared over up to three frames is recognised because its
    steps add up.

    *Fades.* A stretch so dark that nothing can be seen divides two shots in its middle; cuts to and
    from black are the same thing. Dissolves do not divide.

    Args:
        video_id: Given to every shot.
        ratio: How far a cut must stand out from the changes around it if colours stay the same.
        min_length: Shortest shot in seconds; a boundary that follows sooner is left out.
    """

    def __init__(self, video_id: str = "", *, ratio: float = 2.0, min_length: float = 0.3) -> None:
        if not ratio > 1:
            raise ValueError(f"ratio must be above 1, got {ratio}.")
        if not min_length >= 0:
            raise ValueError(f"min_length must be 0 seconds or more, got {min_length}.")
        self.video_id = video_id
        self.ratio = ratio
        self.min_length = min_length
        self._recent: deque[Thumbnail] = deque(maxlen=2 * _WINDOW + _LONGEST_SOFT_CUT + 1)
        self._centre = 0  # how many frames have been judged
        self._pushed = 0
        self._finished = False
        self._boundaries: list[ShotBoundary] = []
        self._dark = FadeFinder()
        self._looks = ShotAppearance()

    def push(self, frame: Frame) -> None:
        """Take the next frame; frames must come in order, but some may be left out."""
        if self._finished:
            raise ValueError("this ShotFinder has finished; make a new one for another video.")
        last = self._recent[-1] if self._recent else None
        if last is not None and frame.index <= last.index:
            raise ValueError(f"frames must come in order, got {frame.index} after {last.index}.")
        self._recent.append(Thumbnail.of(frame, last))
        self._pushed += 1
        if not self._boundaries:
            self._boundaries.append(ShotBoundary(frame.index, frame.time, 1.0))
        if self._pushed - self._centre > _WINDOW + _LONGEST_SOFT_CUT:
            self._judge_next()

    def finish(self, end_time: float | None = None) -> list[Shot]:
        """Judge the frames still waiting and return all shots.

        Args:
            end_time: When the last frame has been shown, in seconds; one more frame interval after
                it if left out.

        Returns:
            Shots that follow one another without gaps, from the first frame to the last.
        """
        if not self._recent:
            return []
        if not self._finished:
            self._finished = True
            self._judge_rest()
        last = self._recent[-1]
        if end_time is None:
            previous = self._recent[-2] if len(self._recent) > 1 else last
            end_time = last.time + (last.time - previous.time)
        ends = [(b.time, b.index) for b in self._boundaries[1:]]
        ends.append((max(end_time, last.time), last.index + 1))
        return [
            Shot(self.video_id, start.time, time, start.score, start.index, index)
            for start, (time, index) in zip(self._boundaries, ends, strict=True)
        ]

    @property
    def descriptors(self) -> NDArray[np.float32]:
        """``(S, V, D)`` what each shot looks like, after `finish`; see `group_scenes`."""
        return self._looks.descriptors

    def _judge_rest(self) -> None:
        while self._centre < self._pushed:
            self._judge_next()
        if len(self._boundaries) > 1:
            self._looks.close(self._boundaries[-1].index)
        self._looks.close()

    def _judge_next(self) -> None:
        """Decide about the oldest frame not judged yet, with what came before and after it."""
        recent = list(self._recent)
        at = len(recent) - (self._pushed - self._centre)
        self._centre += 1
        frame = recent[at]
        self._looks.see(frame)
        faded = self._dark.push(frame)
        if faded is not None:
            self._add(ShotBoundary(faded.index, faded.time, 1.0))
        elif at > 0:
            self._judge_cut(recent, at)

    def _judge_cut(self, recent: Sequence[Thumbnail], at: int) -> None:
        before = recent[at - 1]
        found = _stands_out(recent, at, self.min_length)
        if found is None:
            return
        length, score = found
        after = recent[at + length - 1]
        if before.blank or after.blank or not _is_elsewhere(before, after, score, self.ratio):
            return
        if self._came_back(recent[at], after):
            self._boundaries.pop()
            return
        first = next(
            thumb
            for thumb in recent[at : at + length]
            if change(before, thumb) >= change(thumb, after)
        )
        self._add(ShotBoundary(first.index, first.time, score, before))

    def _came_back(self, now: Thumbnail, after: Thumbnail) -> bool:
        """Whether this ends a flash: soon after a boundary, the picture from before it returns."""
        last = self._boundaries[-1]
        if last.before is None or now.time - last.time >= self.min_length:
            return False
        return change(last.before, after) < 0.5 * _least_change(last.before, after)

    def _add(self, boundary: ShotBoundary) -> None:
        last = self._boundaries[-1]
        if boundary.time - last.time < self.min_length:
            return
        if len(self._boundaries) > 1:  # now that another follows, the last will not be taken back
            self._looks.close(last.index)
        self._boundaries.append(boundary)


def _is_elsewhere(before: Thumbnail, after: Thumbnail, score: float, ratio: float) -> bool:
    """Whether two pictures show different things, not the same one moved, lit or partly covered."""
    difference, widespread = aligned_difference(before, after)
    if difference < _least_change(before, after) or widespread < _LEAST_SPREAD * difference:
        return False
    if is_relit(before, after):
        return False
    unrest = (1.0 - score) * difference
    if score >= 1.0 - 1.0 / ratio and widespread >= unrest:
        return True
    # Violent motion hides a cut from the measure above, but it carries its colours along. Flat
    # pictures are left out: fading, all their pixels pass from one bin of colours to another.
    flat = min(before.contrast, after.contrast) < FLAT
    return not flat and shared_colours(before.pixels, after.pixels) < _OTHER_COLOURS


def _least_change(before: Thumbnail, after: Thumbnail) -> float:
    """Return the change below which two pictures may be of one shot, given their contrast."""
    contrast = 0.5 * (before.contrast + after.contrast)
    return float(np.clip(0.35 * contrast, 4.0, 12.0))


def _stands_out(
    recent: Sequence[Thumbnail], at: int, min_length: float
) -> tuple[int, float] | None:
    """Return over how many frames a possible cut at ``at`` stretches and its score."""
    best: tuple[int, float] | None = None
    for length in range(1, min(_LONGEST_SOFT_CUT, len(recent) - at) + 1):
        steps = [thumb.step for thumb in recent[at : at + length]]
        whole = change(recent[at - 1], recent[at + length - 1])
        # Motion goes back and forth over the same pixels; a blend of two pictures adds up.
        if whole < 4.0 or (length > 1 and whole < 0.8 * sum(steps)):
            continue
        if length > 1 and min(steps) < 0.15 * whole:  # the shorter stretch tells it better
            continue
        around = _unrest(recent, at, at + length, min_length)
        # A slow fade or drift covers as much in as many frames, so it is taken that often.
        score = 1.0 - (length * around + 0.5) / (whole + 0.5)
        if score > max(_LEAST_SCORE, best[1] if best else 0.0) and _lasts(recent, at, length):
            best = (length, score)
    return best


def _lasts(recent: Sequence[Thumbnail], at: int, length: int) -> bool:
    """Whether the frames that follow stay different from the one before, unlike after a flash."""
    before = recent[at - 1]
    whole = change(before, recent[at + length - 1])
    following = recent[at + length : at + length + _WINDOW]
    return all(change(before, thumb) >= 0.5 * whole for thumb in following)


def _unrest(recent: Sequence[Thumbnail], start: int, end: int, min_length: float) -> float:
    """Return the largest change near the frames ``start`` to ``end``, leaving out other cuts.

    On either side one change may be left out, because shots can be as short as the window, unless
    the two changes are the two edges of a flash: close in time, with the same picture outside.
    """
    before = range(max(start - _WINDOW, 1), start)
    after = range(end, min(end + _WINDOW, len(recent)))
    largest = 0.0
    for side in (before, after):
        steps = sorted((recent[at].step, at) for at in side)
        if steps:
            at = steps[-1][1]
            first, last = (at, end - 1) if side is before else (start, at)
            outside = change(recent[first - 1], recent[last])
            soon = recent[last].time - recent[first].time < min_length
            flash = soon and outside < 0.5 * steps[-1][0]
            largest = max(largest, steps[-1][0] if flash else steps[-2][0] if steps[1:] else 0.0)
    return largest


def detect_shots(
    video: str | os.PathLike[str] | VideoReader,
    *,
    video_id: str | None = None,
    progress: Progress | None = None,
) -> list[Shot]:
    """Find the shots of a video file.

    Args:
        video: The file, or a reader of it.
        video_id: Given to every shot; the name of the file if left out.
        progress: Told how many frames are done.

    Returns:
        Shots in order, without gaps, each with ``start`` and ``end`` in seconds, ``start_frame``
        and ``end_frame``; the score says how clearly it starts.

    Raises:
        VideoError: If the file cannot be read as video.
    """
    reader = video if isinstance(video, VideoReader) else VideoReader(video)
    finder = find_shots(reader, video_id=video_id, progress=progress)
    return finder.finish(reader.info.start_time + reader.info.duration)


def detect_scenes(
    video: str | os.PathLike[str] | VideoReader,
    *,
    video_id: str | None = None,
    progress: Progress | None = None,
) -> tuple[list[Shot], list[Scene]]:
    """Find the shots of a video file and group them into scenes, in one pass over its frames.

    Args:
        video: The file, or a reader of it.
        video_id: Given to every shot and scene; the name of the file if left out.
        progress: Told how many frames are done.

    Raises:
        VideoError: If the file cannot be read as video.
    """
    reader = video if isinstance(video, VideoReader) else VideoReader(video)
    finder = find_shots(reader, video_id=video_id, progress=progress)
    shots = finder.finish(reader.info.start_time + reader.info.duration)
    return shots, group_scenes(shots, finder.descriptors)


def find_shots(
    reader: VideoReader, *, video_id: str | None = None, progress: Progress | None = None
) -> ShotFinder:
    """Push all frames of a reader through a new `ShotFinder` and return it, not yet finished."""
    finder = ShotFinder(Path(reader.path).name if video_id is None else video_id)
    total = reader.info.num_frames
    for frame in reader.frames():
        finder.push(frame)
        if progress is not None and frame.index % _PROGRESS_FRAMES == 0:
            progress(frame.index, total, "shots")
    if progress is not None:
        progress(total, total, "shots")
    return finder
