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

_MOST_WORDS = 32  # of the appearance codebook


def detect_videos(
    paths: Sequence[str | os.PathLike[str]],
    *,
    detector: str = "regions",
    options: Mapping[str, Any] | None = None,
    rate: float = 6.0,
    progress: Progress | None = None,
) -> list[Detections]:
    """Run one detector on videos.

    Args:
        paths: The video files.
        detector: Name of the detector.
        options: Its options.
        rate: Most frames per second to process.
        progress: Called with the number of videos done, in fractions.

    Returns:
        Detections of each video. Regions without classes are labelled by their appearance, with the
        same codebook for all videos.

    Raises:
        VideoError: If a file is not a video.
        DetectorError: If there is no such detector.
    """
    results = []
    for number, path in enumerate(paths):
        model = load_detector(detector, **dict(options or {}))
        with VideoReader(path) as video:
            report = _part(progress, number, len(paths), Path(path).name)
            results.append(observe(video, model, rate=rate, progress=report))
    return label_by_appearance(results)


def label_by_appearance(videos: Sequence[Detections], *, random_state: int = 0) -> list[Detections]:
    """Label regions without classes by their appearance; other detections stay unchanged.

    Args:
        videos: Detections of all videos that share labels.
        random_state: Seed of the codebook.
    """
    regions = [one for one in videos if len(one.label_names) == 1 and one.appearance is not None]
    looks = [one.appearance[one.mask] for one in regions if one.appearance is not None]
    if len(regions) != len(videos) or not sum(len(look) for look in looks):
        return list(videos)
    book = Codebook(max_words=_MOST_WORDS, random_state=random_state).fit(np.concatenate(looks))
    return [book.label(one) for one in videos]


def _part(progress: Progress | None, number: int, count: int, name: str) -> Progress | None:
    """Return the progress of one video as a part of that of all videos."""
    if progress is None:
        return None

    def report(done: float, total: float | None, what: str) -> None:
        share = done / total if total else 0.0
        progress(number + min(share, 1.0), count, name)

    return report
