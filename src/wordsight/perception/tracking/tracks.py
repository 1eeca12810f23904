"""Conversion between tracks and detections with track ids, and tracking of clips."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wordsight.errors import RecordError
from wordsight.perception.tracking.coherence import Coherence
from wordsight.perception.tracking.tracker import Tracker
from wordsight.perception.tracking.tracklets import frames_looked_at
from wordsight.records import Clip, Detections, FrameDetections, Track

__all__ = [
    "detections_from_tracks",
    "track_detections",
    "track_regions",
    "tracked_clip",
    "tracks_from_ids",
]


def detections_from_tracks(
    tracks: Sequence[Track],
    times: ArrayLike,
    frame_size: tuple[int, int],
    *,
    label_names: Sequence[str] | None = None,
    classes: Sequence[NDArray[np.int32]] | None = None,
) -> Detections:
    """Return detections with the boxes and ids of tracks.

    Args:
        tracks: The tracks.
        times: ``(T,)`` presentation times of the frames; every box must be at one of them.
        frame_size: Width and height in pixels.
        label_names: The classes; by default those of the tracks, sorted.
        classes: Per track the index of the class of each of its boxes; by default its own label.

    Returns:
        T frames; interpolated boxes have the score 0.

    Raises:
        RecordError: If a track has a box at another time or a label that is not among the names.
    """
    frame_times = np.asarray(times, dtype=np.float64)
    names = tuple(label_names or sorted({track.label for track in tracks}))
    unknown = {track.label for track in tracks} - set(names)
    if unknown:
        raise RecordError(f"the label {min(unknown)!r} of a track is not among {names}.")
    count = sum(len(track) for track in tracks)
    rows = np.zeros(count, dtype=np.intp)
    if count:
        box_times = np.concatenate([track.times for track in tracks])
        rows = np.minimum(np.searchsorted(frame_times, box_times), len(frame_times) - 1)
        if not len(frame_times) or not np.array_equal(frame_times[rows], box_times):
            raise RecordError(
                "a track has a box between two frames; pass the times it was made with."
            )
    boxes = np.concatenate([np.zeros((0, 4)), *(track.boxes for track in tracks)])
    scores = np.concatenate([np.zeros(0), *(track.scores for track in tracks)])
    lengths = [len(track) for track in tracks]
    ids = np.repeat(np.array([track.track_id for track in tracks], dtype=np.int64), lengths)
    indices = np.array([names.index(track.label) for track in tracks], dtype=np.int32)
    labels = np.repeat(indices, lengths) if not classes else np.concatenate(classes)
    order = np.argsort(rows, kind="stable")
    groups = np.split(order, np.searchsorted(rows[order], np.arange(1, len(frame_times))))
    frames = [
        FrameDetections(float(time), boxes[here], scores[here], labels[here], ids=ids[here])
        for time, here in zip(frame_times, groups, strict=False)
    ]
    return Detections.from_frames(frames, label_names=names, frame_size=frame_size)


def tracks_from_ids(detections: Detections, video_id: str = "") -> list[Track]:
    """Collect boxes with the same track id and label into tracks; boxes without id are dropped.

    Args:
        detections: Detections with track ids.
        video_id: Id of the video, stored in the tracks.

    Returns:
        One track per id and label, in order of their start; tracks are renumbered if an id is used
        for two labels. All boxes count as observed; the score is the mean of their scores.
    """
    if detections.ids is None:
        return []
    places = np.argwhere(detections.mask & (detections.ids >= 0))
    rows, columns = places[:, 0], places[:, 1]
    keys = np.stack([detections.ids[rows, columns], detections.labels[rows, columns]], axis=1)
    tracks = []
    for track_id, label in np.unique(keys, axis=0).tolist():
        own = places[(keys == [track_id, label]).all(axis=1)]
        tracks.append(_track(detections, own, track_id, label, video_id))
    tracks.sort(key=lambda track: (track.start, track.track_id, track.label))
    if len({track.track_id for track in tracks}) < len(tracks):
        tracks = [replace(track, track_id=number) for number, track in enumerate(tracks, start=1)]
    return tracks


def _track(
    detections: Detections, places: np.ndarray, track_id: int, label: int, video_id: str
) -> Track:
    rows, columns = places[:, 0], places[:, 1]
    times, name = detections.times, detections.label_names[label]
    if len(np.unique(rows)) < len(rows):
        twice = float(times[rows[np.flatnonzero(np.diff(rows) == 0)[0]]])
        raise RecordError(f"the {name} {track_id} has two boxes at {twice} s; correct the ids.")
    usual = float(np.median(np.diff(times))) if len(times) > 1 else 0.0
    last = rows[-1]
    scores = detections.scores[rows, columns]
    return Track(
        video_id,
        float(times[rows[0]]),
        float(times[last + 1]) if last + 1 < len(times) else float(times[last]) + usual,
        float(scores.mean()),
        times=times[rows],
        boxes=detections.boxes[rows, columns],
        scores=scores,
        observed=np.ones(len(rows), dtype=np.bool_),
        label=name,
        track_id=track_id,
    )


_FREE_GROWTH = 1.0
"""Coherence growth for word models: the boxes of walking people change size as limbs swing."""


def track_detections(
    detections: Detections,
    video_id: str = "",
    *,
    tracker: Tracker | None = None,
    keep_ids: bool = True,
) -> tuple[list[Track], Detections]:
    """Track boxes of the same label over time.

    Args:
        detections: Boxes, with or without track ids.
        video_id: Id of the video, stored in the tracks.
        tracker: The tracker; ``Tracker()`` if None.
        keep_ids: Whether detections that have track ids already are returned as they are.

    Returns:
        The tracks, and detections with their ids: boxes outside of any track are dropped, gaps
        are filled, boxes are smoothed.
    """
    if keep_ids and _has_ids(detections):
        return tracks_from_ids(detections, video_id), detections
    tracks = (tracker or Tracker()).track(detections, video_id)
    return tracks, detections_from_tracks(
        tracks, detections.times, detections.frame_size, label_names=detections.label_names
    )


def track_regions(detections: Detections, video_id: str = "") -> Detections:
    """Track regions whatever their label, so that one thing is one track with one appearance.

    Args:
        detections: Regions with appearance.
        video_id: Id of the video, stored in the tracks.

    Returns:
        Detections with track ids and the single label ``region``; boxes are as detected, those in
        gaps are filled in, and every box has the mean appearance of its track.
    """
    alike = replace(
        detections.relabelled(np.zeros_like(detections.labels), ("region",)),
        ids=None,
        appearance=None,
    )
    # Parts of a thing may be what tells it apart, so regions that nest all stay.
    tracker = Tracker(smoothing=0.0, max_rest=0.0, drop_shadows=False, sure=0.0)
    tracks = tracker.track(alike, video_id)
    tracked = detections_from_tracks(
        tracks, detections.times, detections.frame_size, label_names=("region",)
    )
    seen = detections.appearance
    if seen is None or tracked.ids is None:
        return tracked
    looks = np.zeros((*tracked.mask.shape, seen.shape[2]), np.float32)
    for track in tracks:
        rows = np.searchsorted(detections.times, track.times[track.observed])
        gaps = np.abs(detections.boxes[rows] - track.boxes[track.observed][:, None]).max(axis=2)
        columns = np.where(detections.mask[rows], gaps, np.inf).argmin(axis=1)
        looks[tracked.ids == track.track_id] = seen[rows, columns].mean(axis=0)
    return replace(tracked, appearance=looks)


def tracked_clip(clip: Clip, *, for_words: bool = False) -> Clip:
    """Return a clip whose boxes have track ids; one that has them already is returned as it is.

    Args:
        clip: The clip.
        for_words: Prepare the clip for word models: on the frames that were looked at, without
            boxes in gaps. Only the boxes of a detector with several classes and without appearance
            are tracked, and their size may change freely; regions stay untracked, since word
            models track them by the words themselves.

    Examples:
        >>> from wordsight.records import FrameDetections
        >>> walk = [FrameDetections(t / 10, np.array([[4.0 * t, 0, 4 * t + 20, 50]]), np.ones(1),
        ...                         np.zeros(1, int)) for t in range(10)]
        >>> seen = Detections.from_frames(walk, label_names=["person"], frame_size=(64, 48))
        >>> np.unique(tracked_clip(Clip("walk", 0.0, 1.0, seen)).detections.ids).tolist()
        [1]
    """
    detections = clip.detections
    if not for_words:
        return clip if _has_ids(detections) else _followed(clip)
    if detections.ids is not None:
        return clip
    frames = frames_looked_at(detections.mask)
    if len(frames) < len(detections):
        clip = replace(clip, detections=detections.take(frames))
    has_classes = detections.appearance is None and len(detections.label_names) > 1
    return _followed_for_words(clip) if has_classes else clip


def _followed(clip: Clip) -> Clip:
    return replace(clip, detections=track_detections(clip.detections, clip.video_id)[1])


def _followed_for_words(clip: Clip) -> Clip:
    """Follow things, but keep what was seen: boxes that were detected, with their own classes.

    Words fill short gaps themselves, and what happens in long ones is not known to them. Nouns
    learn which classes a detector takes a thing for.
    """
    seen = clip.detections
    # What a detector is unsure of may still be what a sentence mentions.
    tracker = Tracker(coherence=Coherence(growth=_FREE_GROWTH), sure=0.0)
    tracks, classes = [], []
    for track, own in tracker.track_with_classes(seen, clip.video_id):
        there = track.observed
        names = ("times", "boxes", "scores", "observed")
        tracks.append(replace(track, **{name: getattr(track, name)[there] for name in names}))
        classes.append(own[there])
    followed = detections_from_tracks(
        tracks, seen.times, seen.frame_size, label_names=seen.label_names, classes=classes
    )
    return replace(clip, detections=followed)


def _has_ids(detections: Detections) -> bool:
    return detections.ids is not None and bool((detections.ids[detections.mask] >= 0).any())
