"""Following regions through a clip, so that one thing is one track with one look.

A region detector knows no classes and says nothing about which region is which in the next frame.
Linked regions are fewer and steadier than single ones, and the mean look of a track tells things
apart better than the look of one frame.
"""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from wordsight.perception.tracking.tracker import Tracker
from wordsight.records import Clip, Detections, FrameDetections, Track

__all__ = ["follow"]

Looks = NDArray[np.float32]


def follow(clip: Clip, tracker: Tracker | None = None) -> Clip:
    """Link the regions of a clip whatever their label.

    Args:
        clip: What a detector saw, with appearances.
        tracker: How to link; by default without smoothing, so that boxes stay as detected.

    Returns:
        The clip with identities; every box has the mean appearance of its track.
    """
    seen = clip.detections
    alike = replace(
        seen.relabelled(np.zeros_like(seen.labels), ("thing",)), ids=None, appearance=None
    )
    tracks = (tracker or Tracker(smoothing=0.0)).track(alike, clip.video_id)
    looks = [_mean_look(track, seen) for track in tracks]
    size = 0 if seen.appearance is None else seen.appearance.shape[2]
    frames = [_frame(float(time), tracks, looks, size) for time in seen.times]
    followed = Detections.from_frames(frames, label_names=("thing",), frame_size=seen.frame_size)
    return replace(clip, detections=followed)


def _mean_look(track: Track, seen: Detections) -> Looks:
    if seen.appearance is None:
        return np.zeros(0, np.float32)
    found = []
    for time, box in zip(track.times[track.observed], track.boxes[track.observed], strict=True):
        row = int(np.argmin(np.abs(seen.times - time)))
        gap = np.where(seen.mask[row], np.abs(seen.boxes[row] - box).max(axis=1), np.inf)
        found.append(seen.appearance[row, int(np.argmin(gap))])
    return np.asarray(np.mean(found, axis=0), dtype=np.float32)


def _frame(time: float, tracks: list[Track], looks: list[Looks], size: int) -> FrameDetections:
    here = [(number, np.flatnonzero(track.times == time)) for number, track in enumerate(tracks)]
    places = [(number, int(rows[0])) for number, rows in here if len(rows)]
    return FrameDetections(
        time,
        np.array([tracks[n].boxes[row] for n, row in places]).reshape(-1, 4),
        np.array([tracks[n].scores[row] for n, row in places], dtype=np.float64),
        np.zeros(len(places), dtype=np.int32),
        np.array([looks[n] for n, _ in places]).reshape(len(places), size),
        np.array([n for n, _ in places], dtype=np.int64),
    )
