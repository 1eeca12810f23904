"""Tracking by detection: detection score plus temporal coherence, optimised exactly.

:func:`best_track` is Eq. 1 of Yu & Siskind (2013) for one object. :class:`Tracker` extends it to
any number of objects, which appear, disappear and are occluded for a while.
"""

from dataclasses import dataclass, field, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from wordsight.perception.tracking.coherence import Coherence, States, log_odds
from wordsight.perception.tracking.joining import GapCosts, extend, fill, join_tracklets, smooth
from wordsight.perception.tracking.paths import best_path
from wordsight.perception.tracking.tracklets import (
    LabelDetections,
    form_tracklets,
    nearest_steps,
    neighbour_links,
    support,
)
from wordsight.records import Detections, Track

__all__ = ["Tracker", "best_track"]

_TRACKLET_SHARE = 0.25  # of the cost of ends: doubtful links are cut in tracklets, not in tracks


@dataclass(frozen=True)
class Tracker:
    r"""Finds the set of tracks with the largest total gain.

    A track through detections :math:`j^1 \dots j^n` gains
    :math:`\sum_k F(j^k) + \sum_k G(j^k, j^{k+1})` minus the cost of its ends and gaps, where F is
    the log-odds that a detection is real and G the coherence of a step. No detection is used twice
    and a track keeps its label. The maximum is exact, first over neighbouring frames, then over
    the resulting tracklets. All costs are log-odds; all times are presentation times in seconds, so
    that nothing depends on the frame rate or the image size.

    Attributes:
        entry_cost: Cost of starting and of ending a track; higher values give fewer tracks.
        missed_cost: Cost of a gap.
        gap_cost: Cost of a gap per second.
        max_gap: Longest gap in seconds.
        prior: Log-odds subtracted from every detection; higher values give fewer false alarms and
            more misses.
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
    prior: float = 0.4
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
        tracks: list[Track] = []
        for label in range(len(detections.label_names)):
            places = np.argwhere(detections.mask & (detections.labels == label))
            if len(places):
                tracks += self._track_label(detections, places, label, video_id)
        tracks.sort(key=lambda track: (track.start, track.label, track.boxes[0].tolist()))
        return [replace(track, track_id=number) for number, track in enumerate(tracks, start=1)]

    def _track_label(
        self, detections: Detections, places: NDArray[np.intp], label: int, video_id: str
    ) -> list[Track]:
        seen = _observations(detections, places)
        tracklets = form_tracklets(
            seen,
            self.coherence,
            ends_cost=2.0 * self.entry_cost * _TRACKLET_SHARE,
            prior=self.prior,
            velocity_window=self.velocity_window,
        )
        costs = GapCosts(2.0 * self.entry_cost, self.missed_cost, self.gap_cost, self.max_gap)
        paths, gains = join_tracklets(seen, tracklets, self.coherence, costs, self.velocity_window)
        name = detections.label_names[label]
        return [
            self._finished(detections, places[path], name, gain, video_id)
            for path, gain in zip(paths, gains.tolist(), strict=True)
            if len(path) >= self.min_detections
        ]

    def _finished(
        self,
        detections: Detections,
        places: NDArray[np.intp],
        label: str,
        gain: float,
        video_id: str,
    ) -> Track:
        rows, times = places[:, 0], detections.times
        every, boxes = fill(rows, detections.boxes[rows, places[:, 1]], times)
        boxes = smooth(boxes, times[every], self.smoothing)
        if self.extension > 0:
            every, boxes = extend(every, boxes, times, self.extension, self.velocity_window)
        return _as_track(detections, places, every, boxes, label, gain, video_id)


def best_track(
    detections: Detections,
    video_id: str = "",
    *,
    coherence: Coherence | None = None,
    prior: float = 0.0,
) -> Track | None:
    r"""Track one object through every frame with a detection of its class: Eq. 1, by Viterbi.

    .. math:: \max_{j^1 \dots j^T}
        \sum_{t=1}^T F(D^t, j^t) + \sum_{t=2}^T G(D^{t-1}, j^{t-1}, D^t, j^t)

    Args:
        detections: The detections. Frames without a detection of the class are skipped.
        video_id: Id of the video, stored in the track.
        coherence: Gain of a link.
        prior: Log-odds subtracted from every detection.

    Returns:
        The best track over all classes, with the maximum as its score; ``None`` if there is no
        detection.
    """
    coherence = coherence or Coherence()
    best: Track | None = None
    for label, name in enumerate(detections.label_names):
        places = np.argwhere(detections.mask & (detections.labels == label))
        if not len(places):
            continue
        path, score = _viterbi(_observations(detections, places), coherence, prior)
        if best is None or score > best.score:
            chosen = places[path]
            boxes = detections.boxes[chosen[:, 0], chosen[:, 1]]
            best = _as_track(detections, chosen, chosen[:, 0], boxes, name, score, video_id)
    return best


def _viterbi(
    seen: LabelDetections, coherence: Coherence, prior: float
) -> tuple[NDArray[np.intp], float]:
    """Return the best detection of each frame, and the sum of F and G along them."""
    jitter = coherence.jitter(nearest_steps(seen), moving_unknown=True)
    links = neighbour_links(seen, seen.states, coherence, jitter, np.inf)
    odds = log_odds(seen.scores, support(seen, links, coherence.tolerance), prior=prior)
    frames = np.split(np.arange(len(seen.rows)), np.flatnonzero(np.diff(seen.rows)) + 1)
    steps = []
    for before, after in pairwise(frames):
        tails, heads = np.repeat(before, len(after)), np.tile(after, len(before))
        distances = coherence.distances(seen.states[tails], seen.states[heads], jitter)
        steps.append(coherence.gains(distances).reshape(len(before), len(after)))
    path, score = best_path([odds[frame] for frame in frames], steps)
    return np.array([frame[j] for frame, j in zip(frames, path, strict=True)]), score


def _observations(detections: Detections, places: NDArray[np.intp]) -> LabelDetections:
    rows, columns = places[:, 0], places[:, 1]
    boxes, flow = detections.boxes[rows, columns], detections.flow
    states = States(
        times=detections.times[rows],
        centres=(boxes[:, :2] + boxes[:, 2:]) / 2.0,
        sizes=boxes[:, 2:] - boxes[:, :2],
        velocities=np.zeros((len(rows), 2)) if flow is None else flow[rows, columns],
        variances=np.zeros((len(rows), 2)),
    )
    return LabelDetections(
        rows, states, detections.scores[rows, columns], len(detections), _frame_seconds(detections)
    )


def _frame_seconds(detections: Detections) -> float:
    times = detections.times
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
    end = times[after] if after < len(times) else times[-1] + _frame_seconds(detections)
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
