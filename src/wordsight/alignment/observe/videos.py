"""Detection in video files for alignment, with labels that mean the same in all videos."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from wordsight.perception import Codebook, load_detector, observe
from wordsight.progress import Progress
from wordsight.records import Detections
from wordsight.video import VideoReader

__all__ = ["detect_videos", "label_by_appearance"]

_MOST_LOOKS = 32


def detect_videos(
    paths: Sequence[str | os.PathLike[str]],
    *,
    detector: str = "regions",
    options: Mapping[str, Any] | None = None,
    rate: float = 6.0,
    progress: Progress | None = None,
) -> list[Detections]:
    """Look at videos with one detector.

    Args:
        paths: The video files.
        detector: Name of the detector.
        options: Its options.
        rate: Frames to look at per second, at most.
        progress: Told how many of the videos are done, in fractions.

    Returns:
        What was seen in each; regions without classes are labelled by their look, alike in all
        videos.

    Raises:
        VideoError: If a file is no video.
        DetectorError: If there is no such detector.
    """
    seen = []
    for number, path in enumerate(paths):
        eye = load_detector(detector, **dict(options or {}))
        with VideoReader(path) as video:
            report = _part(progress, number, len(paths), Path(path).name)
            seen.append(observe(video, eye, rate=rate, progress=report))
    return label_by_appearance(seen)


def label_by_appearance(seen: Sequence[Detections], *, random_state: int = 0) -> list[Detections]:
    """Label regions that have no classes by their look; detections with classes stay as they are.

    Args:
        seen: Detections of all videos that shall share labels.
        random_state: Seed of the codebook.
    """
    nameless = [one for one in seen if len(one.label_names) == 1 and one.appearance is not None]
    looks = [one.appearance[one.mask] for one in nameless if one.appearance is not None]
    if len(nameless) != len(seen) or not sum(len(look) for look in looks):
        return list(seen)
    book = Codebook(max_words=_MOST_LOOKS, random_state=random_state).fit(np.concatenate(looks))
    return [book.label(one) for one in seen]


def _part(progress: Progress | None, number: int, count: int, name: str) -> Progress | None:
    if progress is None:
        return None
    told = progress

    def report(done: float, total: float | None, what: str) -> None:
        share = done / total if total else 0.0
        told(number + min(share, 1.0), count, name)

    return report
