"""Scenes: neighbouring shots grouped by where they seem to be.

Two shots that look alike and lie close together belong to one scene, and so does everything between
them: in a conversation filmed from two sides, each side comes back while the other is shown. This
is the rule of overlapping links (Hanjalic, Lagendijk and Biemond, 1999) on colours and layout.
"""

import os
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from wordsight.progress import Progress
from wordsight.records import Scene, Shot
from wordsight.video.reader import VideoReader
from wordsight.video.shot_looks import likeness
from wordsight.video.shots import find_shots

__all__ = ["detect_scenes", "group_scenes"]


def group_scenes(
    shots: Sequence[Shot],
    descriptors: NDArray[np.float32],
    *,
    min_likeness: float = 0.75,
    max_gap: float = 20.0,
    max_shots: int = 8,
) -> list[Scene]:
    """Group neighbouring shots into scenes.

    Shot ``j`` is linked to an earlier shot ``i`` if some view of one looks like some view of the
    other, at most ``max_gap`` seconds and ``max_shots`` shots lie between them. A scene ends where
    no link crosses. A shot of black frames looks like nothing and opens a scene of its own unless
    a link passes over it.

    Args:
        shots: Shots of one video, in order.
        descriptors: ``(S, V, D)`` what each shot looks like: ``ShotFinder.descriptors``.
        min_likeness: How alike two views must be, 0 to 1; see `likeness`.
        max_gap: Longest time between the end of one shot and the start of the other, in seconds.
        max_shots: Most shots that a link may pass over, which bounds the work.

    Returns:
        Scenes in order, without gaps. The score is the least likeness that holds the scene
        together, 1 for a single shot.

    Raises:
        ValueError: If there is not one descriptor per shot.
    """
    if len(shots) != len(descriptors):
        raise ValueError(
            f"expected one descriptor per shot, got {len(descriptors)} for {len(shots)} shots; "
            "take both from the same ShotFinder."
        )
    # crossing[k] is the strongest link over the gap between shots k - 1 and k.
    crossing = np.zeros(len(shots) + 1)
    for later in range(len(shots)):
        for earlier in range(max(0, later - max_shots - 1), later):
            if shots[later].start - shots[earlier].end > max_gap:
                continue
            alike = likeness(descriptors[earlier], descriptors[later])
            if alike >= min_likeness:
                between = slice(earlier + 1, later + 1)
                crossing[between] = np.maximum(crossing[between], alike)
    if not shots:
        return []
    firsts = [at for at in range(len(shots)) if crossing[at] == 0.0]
    return [
        _scene(shots, first, end, crossing)
        for first, end in zip(firsts, [*firsts[1:], len(shots)], strict=True)
    ]


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


def _scene(shots: Sequence[Shot], first: int, end: int, crossing: NDArray[np.float64]) -> Scene:
    held_by = crossing[first + 1 : end]
    return Scene(
        video_id=shots[first].video_id,
        start=shots[first].start,
        end=shots[end - 1].end,
        score=float(held_by.min()) if len(held_by) else 1.0,
        first_shot=first,
        end_shot=end,
    )
