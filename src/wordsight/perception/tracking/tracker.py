"""Tracking by detection: detection score plus temporal coherence, optimised exactly.

:class:`Tracker` extends Eq. 1 of Yu & Siskind (2013), which is for one object, to any number of
objects, which appear, disappear and are occluded for a while.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from wordsight.perception.tracking.coherence import Coherence, States
from wordsight.perception.tracking.joining import GapCosts, extend, fill, join_tracklets, smooth
from wordsight.perception.tracking.tracklets import (
    FlatDetections,
    form_tracklets,
    frames_looked_at,
)
from wordsight.records import BODY_PARTS, NAMELESS, Detections, Track

__all__ = ["Tracker", "without_shadows"]


_SAME_PLACE = 0.6  # overlap of two boxes of one thing
_INSIDE = 0.9  # share of a box that lies in the box of a thing it is part of
_ALL_ALONG = 0.8  # share of a track's frames in which another one is at its place


def without_doubles(detections: Detections, mask: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return a mask of detections without those of another class at a better one's place.

    A detector that wavers between two classes reports both; that a thing was seen counts once.
    """
    mask = mask.copy()
    for row in np.flatnonzero(mask.sum(axis=1) > 1).tolist():
        here = np.flatnonzero(mask[row])
        boxes, labels = detections.boxes[row, here], detections.labels[row, here]
        better = detections.scores[row, here][:, None] > detections.scores[row, here]
        twice = _overlaps(boxes[:, None], boxes[None])[0] >= _SAME_PLACE
        mask[row, here[(twice & better & (labels[:, None] != labels)).any(axis=0)]] = False
    return mask


def without_shadows(tracks: Sequence[Track]) -> list[Track]:
    """Drop tracks that lie on a track with a higher score nearly all of their time.

    Two things may overlap for a while, as a person and what is carried; only a second detection of
    the same thing does so from its beginning to its end.
    """
    ranked = sorted(tracks, key=lambda one: -one.score)
    spans = np.array([(one.start, one.end) for one in ranked]).reshape(-1, 2)
    kept = np.zeros(len(ranked), dtype=np.bool_)
    for number, track in enumerate(ranked):
        together = kept & (spans[:, 0] < track.end) & (spans[:, 1] > track.start)
        kept[number] = not any(_shadows(track, ranked[k]) for k in np.flatnonzero(together))
    return [track for track, stays in zip(ranked, kept, strict=True) if stays]


def _shadows(track: Track, other: Track) -> bool:
    _, own, theirs = np.intersect1d(
        track.times, other.times, assume_unique=True, return_indices=True
    )
    if len(own) < _ALL_ALONG * len(track):
        return False
    overlap, inside = _overlaps(track.boxes[own], other.boxes[theirs])
    same = overlap >= _SAME_PLACE
    if track.label == other.label:
        same |= inside >= _INSIDE
    return int(same.sum()) >= _ALL_ALONG * len(track)


def _overlaps(
    boxes: NDArray[np.float64], others: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the intersections over union of N pairs, and the shares of the first boxes in them."""
    low = np.maximum(boxes[..., :2], others[..., :2])
    high = np.minimum(boxes[..., 2:], others[..., 2:])
    common = np.prod(np.maximum(high - low, 0.0), axis=-1)
    own, theirs = (np.prod(pair[..., 2:] - pair[..., :2], axis=-1) for pair in (boxes, others))
    return common / (own + theirs - common), common / own


_NAMELESS_PRIOR = 0.5  # log-odds, beside boxes with a class
_FLIP_OVER_GAP = 3.0  # times the cost of a change of class from one frame to the next
_LEAST_VOTE = 1e-6  # of a detection of score 0 for the class of its track
_TRACKLET_SHARE = 0.25  # of the cost of ends: doubtful links are cut in tracklets, not in tracks


@dataclass(frozen=True)
class Tracker:
    r"""Finds the set of tracks with the largest total gain.

    A track through detections :math:`j^1 \dots j^n` gains
    :math:`\sum_k F(j^k) + \sum_k G(j^k, j^{k+1})` minus the cost of its ends and gaps, where F is
    the log-odds that a detection is real and G the coherence of a step. No detection is used twice.
    The maximum is exact, first over neighbouring frames, then over the resulting tracklets. All
    costs are log-odds; all times are presentation times in seconds, so that nothing depends on the
    frame rate or the image size. Where boxes come on every n-th frame only, neighbours are the
    frames with boxes.

    Detectors waver between classes, so a track may change its class at a cost, and its label is the
    class with the largest sum of scores. Of boxes of several classes at one place in a frame the
    best counts, and a track that shares its place with a better one all along is dropped. Hands and
    heads are never confused with the things they hold, nor anything with a class with boxes that
    only say that something is there: a person who leaves is not the wall behind.

    Attributes:
        entry_cost: Cost of starting and of ending a track; higher values give fewer tracks.
        missed_cost: Cost of a gap.
        gap_cost: Cost of a gap per second.
        max_gap: Longest gap in seconds.
        max_rest: Longest time in seconds that a thing at rest may be hidden and still be the same.
        flip_cost: Cost of a change of class.
        prior: Log-odds subtracted from every detection; higher values give fewer false alarms and
            more misses.
        drop_shadows: Whether to drop tracks that lie on a better one from beginning to end.
        sure: Least score of the surest detection of a track, as a share of the mean score of the
            surest track: doubtful detections continue tracks, but they alone make none. 0 for none.
        min_detections: Least number of detections of a track.
        smoothing: Half the smoothing window in seconds; 0 keeps boxes as detected.
        extension: Extrapolation at both ends in seconds; 0 for none.
        velocity_window: Half the window of velocity estimates in seconds.
        coherence: Gain of a link.

    Examples:
        >>> from wordsight.records import FrameDetections
        >>> walk = [FrameDetections(t / 10, np.array([[4.0 * t, 0, 4 * t + 20, 50]]), np.ones(1),
        ...                         np.zeros(1, int)) for t in range(10)]
        >>> seen = Detections.from_frames(walk, label_names=["person"], frame_size=(64, 48))
        >>> [(track.label, len(track)) for track in Tracker().track(seen)]
        [('person', 10)]
    """

    entry_cost: float = 2.5
    missed_cost: float = 0.75
    gap_cost: float = 2.25
    max_gap: float = 1.75
    max_rest: float = 30.0
    flip_cost: float = 1.0
    prior: float = 0.4
    drop_shadows: bool = True
    sure: float = 0.5
    min_detections: int = 3
    smoothing: float = 0.1
    extension: float = 0.0
    velocity_window: float = 0.5
    coherence: Coherence = field(default_factory=Coherence)

    def track(self, detections: Detections, video_id: str = "") -> list[Track]:
        """Track all objects.

        Args:
            detections: The detections; optical flow, if present, gives initial velocities.
            video_id: Id of the video, stored in the tracks.

        Returns:
            The tracks, numbered from 1 in order of their start. Boxes in gaps are interpolated,
            marked as not observed and have the score 0.
        """
        return [track for track, _ in self.track_with_classes(detections, video_id)]

    def track_with_classes(
        self, detections: Detections, video_id: str = ""
    ) -> list[tuple[Track, NDArray[np.int32]]]:
        """Track all objects, and return with each track the class of every box as it was detected.

        Boxes in gaps have the class of the nearest detection.
        """
        found: list[tuple[Track, NDArray[np.int32]]] = []
        names = detections.label_names
        for labels in _confusable(detections):
            mask = detections.mask & np.isin(detections.labels, labels)
            doubtful = names[labels[0]] in NAMELESS and not set(names) <= set(NAMELESS)
            if mask.any():
                tracker = self._more_doubtful() if doubtful else self
                found += tracker._track_masked(detections, mask, video_id)
        if self.drop_shadows:
            parts = [one for one in found if one[0].label in BODY_PARTS]
            things = [one for one in found if one[0].label not in BODY_PARTS]
            found = [*_without_shadows(parts), *_without_shadows(things)]
        best = max((float(one.scores[one.observed].mean()) for one, _ in found), default=0.0)
        if best > 0:
            found = [one for one in found if one[0].scores.max() >= self.sure * best]
        found.sort(key=lambda one: (one[0].start, one[0].label, one[0].boxes[0].tolist()))
        return [
            (replace(track, track_id=number), classes)
            for number, (track, classes) in enumerate(found, start=1)
        ]

    def _more_doubtful(self) -> "Tracker":
        """Return the tracker of what a detector saw and could not name: most of it is nothing."""
        return replace(self, entry_cost=2.0 * self.entry_cost, prior=self.prior + _NAMELESS_PRIOR)

    def _track_masked(
        self, detections: Detections, mask: NDArray[np.bool_], video_id: str
    ) -> list[tuple[Track, NDArray[np.int32]]]:
        looked_at = frames_looked_at(mask)
        places = np.argwhere(without_doubles(detections, mask))
        seen = _observations(detections, places, looked_at)
        tracklets = form_tracklets(
            seen,
            self.coherence,
            ends_cost=2.0 * self.entry_cost * _TRACKLET_SHARE,
            flip_cost=self.flip_cost,
            prior=self.prior,
            velocity_window=self.velocity_window,
        )
        costs = GapCosts(
            ends=2.0 * self.entry_cost,
            missed=self.missed_cost,
            per_second=self.gap_cost,
            longest=self.max_gap,
            flip=_FLIP_OVER_GAP * self.flip_cost,
            resting=self.max_rest,
        )
        paths, gains = join_tracklets(seen, tracklets, self.coherence, costs, self.velocity_window)
        return [
            self._finished(detections, places[path], gain, video_id)
            for path, gain in zip(paths, gains.tolist(), strict=True)
            if len(path) >= self.min_detections
        ]

    def _finished(
        self,
        detections: Detections,
        places: NDArray[np.intp],
        gain: float,
        video_id: str,
    ) -> tuple[Track, NDArray[np.int32]]:
        rows, times = places[:, 0], detections.times
        own = detections.labels[rows, places[:, 1]]
        votes = np.bincount(
            own, weights=np.maximum(detections.scores[rows, places[:, 1]], _LEAST_VOTE)
        )
        label = detections.label_names[int(votes.argmax())]
        every, boxes = fill(rows, detections.boxes[rows, places[:, 1]], times)
        boxes = smooth(boxes, times[every], self.smoothing)
        if self.extension > 0:
            every, boxes = extend(every, boxes, times, self.extension, self.velocity_window)
        nearest = np.abs(times[every][:, None] - times[rows]).argmin(axis=1)
        return _as_track(detections, places, every, boxes, label, gain, video_id), own[nearest]


def _without_shadows(
    found: list[tuple[Track, NDArray[np.int32]]],
) -> list[tuple[Track, NDArray[np.int32]]]:
    kept = set(map(id, without_shadows([track for track, _ in found])))
    return [one for one in found if id(one[0]) in kept]


def _confusable(detections: Detections) -> list[list[int]]:
    """Return groups of classes that one detector may confuse.

    Parts of the body are groups of their own, and so are classes that come on every n-th frame
    while the others come on more: they are from another detector. Boxes without a class are a group
    in each.
    """
    nameless = {n for n, name in enumerate(detections.label_names) if name in NAMELESS}
    groups = _of_one_detector(detections)
    split = [([n for n in g if n not in nameless], [n for n in g if n in nameless]) for g in groups]
    return [part for both in split for part in both if part]


def _of_one_detector(detections: Detections) -> list[list[int]]:
    names, masks = detections.label_names, detections.mask
    alone: list[int] = []
    together: list[int] = []
    for label, name in enumerate(names):
        own = masks & (detections.labels == label)
        if own.any():
            sparse = len(frames_looked_at(own)) < len(own)
            (alone if name in BODY_PARTS or sparse else together).append(label)
    whole = np.isin(detections.labels, together) & masks
    if len(frames_looked_at(whole)) < len(whole) or not together:  # all are as sparse
        parts = [label for label in alone if names[label] in BODY_PARTS]
        return [[*together, *(n for n in alone if n not in parts)], *([n] for n in parts)]
    return [together, *([label] for label in alone)]


def _observations(
    detections: Detections, places: NDArray[np.intp], looked_at: NDArray[np.intp]
) -> FlatDetections:
    rows, columns = places[:, 0], places[:, 1]
    boxes, flow = detections.boxes[rows, columns], detections.flow
    states = States(
        times=detections.times[rows],
        centres=(boxes[:, :2] + boxes[:, 2:]) / 2.0,
        sizes=boxes[:, 2:] - boxes[:, :2],
        velocities=np.zeros((len(rows), 2)) if flow is None else flow[rows, columns],
        variances=np.zeros((len(rows), 2)),
    )
    return FlatDetections(
        np.searchsorted(looked_at, rows),
        states,
        detections.scores[rows, columns],
        detections.labels[rows, columns],
        len(looked_at),
        _frame_seconds(detections.times[looked_at]),
    )


def _frame_seconds(times: NDArray[np.float64]) -> float:
    return float(np.median(np.diff(times))) if len(times) > 1 else 0.0


def _as_track(
    detections: Detections,
    places: NDArray[np.intp],
    rows: NDArray[np.intp],
    boxes: NDArray[np.float64],
    label: str,
    score: float,
    video_id: str,
) -> Track:
    """Return a track of boxes in ``rows``, observed at ``places``."""
    times = detections.times
    after = rows[-1] + 1
    end = times[after] if after < len(times) else times[-1] + _frame_seconds(times)
    scores = np.zeros(len(rows))
    scores[np.searchsorted(rows, places[:, 0])] = detections.scores[places[:, 0], places[:, 1]]
    return Track(
        video_id,
        float(times[rows[0]]),
        float(end),
        score,
        times=times[rows],
        boxes=boxes,
        scores=scores,
        observed=np.isin(rows, places[:, 0]),
        label=label,
        track_id=1,
    )
