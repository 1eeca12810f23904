"""Shot detection: cuts and fades to black, found in a single pass over the frames.

`ShotFinder` compares thumbnails of the last dozen frames, so it can share a pass with other work.
`detect_shots` and `detect_scenes` read a file only for the shots.
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
from wordsight.video.shots.scenes import (
    FLAT,
    FadeFinder,
    ShotAppearance,
    Thumbnail,
    aligned_difference,
    change,
    group_scenes,
    is_relit,
    shared_colours,
)

__all__ = ["ShotBoundary", "ShotFinder", "detect_scenes", "detect_shots", "find_shots"]

_WINDOW = 4
"""Number of frames on either side that a cut is compared with; also the longest flash."""

_LONGEST_SOFT_CUT = 3
"""Number of frames over which frame rate conversion may blend a cut."""

_LEAST_SCORE = 0.1
"""Smallest score of a candidate cut."""

_OTHER_COLOURS = 0.6
"""Share of common colours below which two frames show different places; within a shot, even with
fast motion, it stays near 0.8 and above."""

_LEAST_SPREAD = 0.3
"""Share of the mean change that two fifths of the frame must reach; a jumping object does not."""

_PROGRESS_FRAMES = 50


@dataclass(frozen=True)
class ShotBoundary:
    """Start of a shot.

    Attributes:
        index: Number of its first frame.
        time: Time of that frame in seconds.
        score: Confidence, 0 to 1.
        before: The last frame before, to recognise a flash; None after a fade.
    """

    index: int
    time: float
    score: float
    before: Thumbnail | None = None


class ShotFinder:
    """Finds shots in frames that are pushed one by one.

    *Cuts.* The change between two neighbouring frames is the mean absolute difference of their
    thumbnails. A cut is a change that is large relative to the contrast, spread over the frame,
    lasting, and not explained by camera shake or a change of light. It must be ``ratio`` times as
    large as any other change within four frames, or bring other colours. Steady motion, pans and
    flashes therefore do not count. A cut blended over up to three frames is recognised because its
    steps add up.

    *Fades.* A black interval separates two shots at its middle; so do cuts to and from black.
    Dissolves are not detected.

    Args:
        video_id: Id of the video, stored in every shot.
        ratio: How much larger than the changes around it a cut must be if colours stay the same.
        min_length: Shortest shot in seconds; a boundary that follows sooner is dropped.
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
        self._centre = 0  # number of frames judged
        self._pushed = 0
        self._finished = False
        self._boundaries: list[ShotBoundary] = []
        self._dark = FadeFinder()
        self._appearance = ShotAppearance()

    def push(self, frame: Frame) -> None:
        """Add the next frame; frames must be in order, but some may be skipped."""
        if self._finished:
            raise ValueError("this ShotFinder has finished; create a new one for another video.")
        last = self._recent[-1] if self._recent else None
        if last is not None and frame.index <= last.index:
            raise ValueError(f"frames must be in order, got {frame.index} after {last.index}.")
        self._recent.append(Thumbnail.of(frame, last))
        self._pushed += 1
        if not self._boundaries:
            self._boundaries.append(ShotBoundary(frame.index, frame.time, 1.0))
        if self._pushed - self._centre > _WINDOW + _LONGEST_SOFT_CUT:
            self._judge_next()

    def finish(self, end_time: float | None = None) -> list[Shot]:
        """Process the remaining frames and return all shots.

        Args:
            end_time: End of the last frame in seconds; by default one frame interval after it.

        Returns:
            Shots without gaps, from the first frame to the last.
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
        """``(S, V, D)`` appearance of each shot, after `finish`; see `group_scenes`."""
        return self._appearance.descriptors

    def _judge_rest(self) -> None:
        while self._centre < self._pushed:
            self._judge_next()
        if len(self._boundaries) > 1:
            self._appearance.close(self._boundaries[-1].index)
        self._appearance.close()

    def _judge_next(self) -> None:
        """Decide whether the oldest pending frame starts a shot, given its neighbours."""
        recent = list(self._recent)
        at = len(recent) - (self._pushed - self._centre)
        self._centre += 1
        frame = recent[at]
        self._appearance.push(frame)
        faded = self._dark.push(frame)
        if faded is not None:
            self._add(ShotBoundary(faded.index, faded.time, 1.0))
        elif at > 0:
            self._judge_cut(recent, at)

    def _judge_cut(self, recent: Sequence[Thumbnail], at: int) -> None:
        before = recent[at - 1]
        candidate = _candidate_cut(recent, at, self.min_length)
        if candidate is None:
            return
        length, score = candidate
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
        """Return whether this ends a flash: soon after a boundary, the scene before it returns."""
        last = self._boundaries[-1]
        if last.before is None or now.time - last.time >= self.min_length:
            return False
        return change(last.before, after) < 0.5 * _least_change(last.before, after)

    def _add(self, boundary: ShotBoundary) -> None:
        last = self._boundaries[-1]
        if boundary.time - last.time < self.min_length:
            return
        if len(self._boundaries) > 1:  # the last boundary is final now
            self._appearance.close(last.index)
        self._boundaries.append(boundary)


def _is_elsewhere(before: Thumbnail, after: Thumbnail, score: float, ratio: float) -> bool:
    """Return whether two frames show different scenes, not one that moved or changed its light."""
    difference, widespread = aligned_difference(before, after)
    if difference < _least_change(before, after) or widespread < _LEAST_SPREAD * difference:
        return False
    if is_relit(before, after):
        return False
    surrounding = (1.0 - score) * difference
    if score >= 1.0 - 1.0 / ratio and widespread >= surrounding:
        return True
    # Fast motion hides a cut from the measure above, but keeps its colours. Flat frames are
    # excluded: while they fade, all pixels pass from one colour bin to another.
    flat = min(before.contrast, after.contrast) < FLAT
    return not flat and shared_colours(before.pixels, after.pixels) < _OTHER_COLOURS


def _least_change(before: Thumbnail, after: Thumbnail) -> float:
    """Return the change below which two frames may belong to one shot, given their contrast."""
    contrast = 0.5 * (before.contrast + after.contrast)
    return float(np.clip(0.35 * contrast, 4.0, 12.0))


def _candidate_cut(
    recent: Sequence[Thumbnail], at: int, min_length: float
) -> tuple[int, float] | None:
    """Return the length in frames and the score of a possible cut at ``at``."""
    best: tuple[int, float] | None = None
    for length in range(1, min(_LONGEST_SOFT_CUT, len(recent) - at) + 1):
        steps = [thumb.step for thumb in recent[at : at + length]]
        whole = change(recent[at - 1], recent[at + length - 1])
        # Motion goes back and forth over the same pixels; the steps of a blend add up.
        if whole < 4.0 or (length > 1 and whole < 0.8 * sum(steps)):
            continue
        if length > 1 and min(steps) < 0.15 * whole:  # a shorter cut describes it better
            continue
        around = _surrounding_change(recent, at, at + length, min_length)
        # A slow fade or drift changes as much in as many frames, hence the factor.
        score = 1.0 - (length * around + 0.5) / (whole + 0.5)
        if score > max(_LEAST_SCORE, best[1] if best else 0.0) and _lasts(recent, at, length):
            best = (length, score)
    return best


def _lasts(recent: Sequence[Thumbnail], at: int, length: int) -> bool:
    """Return whether the following frames stay different from the one before, unlike a flash."""
    before = recent[at - 1]
    whole = change(before, recent[at + length - 1])
    following = recent[at + length : at + length + _WINDOW]
    return all(change(before, thumb) >= 0.5 * whole for thumb in following)


def _surrounding_change(
    recent: Sequence[Thumbnail], start: int, end: int, min_length: float
) -> float:
    """Return the largest change near the frames ``start`` to ``end``, ignoring other cuts.

    One change on either side is ignored, because shots can be as short as the window, unless the
    two changes are the edges of a flash: close in time, with the same scene outside.
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
        video_id: Id stored in every shot; the file name if None.
        progress: Called with the number of frames done.

    Returns:
        Shots in order, without gaps, each with ``start`` and ``end`` in seconds, ``start_frame``
        and ``end_frame``; the score is the confidence of its start.

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
        video_id: Id stored in every shot and scene; the file name if None.
        progress: Called with the number of frames done.

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
