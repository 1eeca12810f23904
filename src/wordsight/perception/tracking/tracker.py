"""Following objects through a video: detection score plus temporal coherence, solved exactly.

:func:`best_track` is Eq. 1 of Yu & Siskind (2013) for one object. :class:`Tracker` extends it to
any number of them, which share the detections, come and go, and are lost from sight for a while.
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

_TRACKLET_SHARE = 0.25  # of the cost of ends: tracklets are cut where in doubt, tracks are not


@dataclass(frozen=True)
class Tracker:
    r"""Finds the set of tracks that together gain most.

    A track through detections :math:`j^1 \dots j^n` gains
    :math:`\sum_k F(j^k) + \sum_k G(j^k, j^{k+1})` less the cost of its ends and gaps, where F is
    the log-odds that a detection is real and G the coherence of a step. No detection is used twice
    and a track keeps its label. The maximum is exact, first over neighbouring frames, then over
    the tracklets found there. All costs are log-odds; all times are seconds, taken from the
    presentation times, so that nothing depends on the frame rate or the size of the picture.

    Attributes:
        entry_cost: What it costs to start a track, and again to end it; more means fewer tracks.
        missed_cost: What it costs to lose sight of an object.
        gap_cost: What every second out of sight costs.
        max_gap: The longest time out of sight that is bridged.
        prior: Evidence asked of a detection; more means fewer false alarms and more misses.
        min_detections: Tracks seen less often are dropped.
        smoothing: Half the stretch of time over which boxes are smoothed; 0 keeps them as detected.
        extension: How long a track moves on unseen at both ends; 0 for not at all.
        velocity_window: Half the stretch of time a velocity is fitted to.
        coherence: What makes a step coherent.

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
        """Follow all objects.

        Args:
            detections: What was seen; optical flow, if there, tells the velocities.
            video_id: Which video, to be noted in the tracks.

        Returns:
            The tracks, numbered from 1 in order of their start. Boxes between detections are
            filled in, marked as not observed and given the score 0.
        """
        found: list[Track] = []
        for label in range(len(detections.label_names)):
            places = np.argwhere(detections.mask & (detections.labels == label))
            if len(places):
                found += self._track_label(detections, places, label, video_id)
        found.sort(key=lambda track: (track.start, track.label, track.boxes[0].tolist()))
        return [_numbered(track, number) for number, track in enumerate(found, start=1)]

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
        every, boxes, _ = fill(rows, detections.boxes[rows, places[:, 1]], times)
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
    r"""Follow one object through every frame that shows its class: Eq. 1, by Viterbi.

    .. math:: \max_{j^1 \dots j^T}
        \sum_{t=1}^T F(D^t, j^t) + \sum_{t=2}^T G(D^{t-1}, j^{t-1}, D^t, j^t)

    Args:
        detections: What was seen. Frames without a detection of the class are skipped.
        video_id: Which video, to be noted in the track.
        coherence: What makes a step coherent.
        prior: Evidence asked of a detection.

    Returns:
        The best track over all classes, its score being the maximum; ``None`` if there is no
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
    """Return the best observation of each frame, and the sum of F and G along them."""
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
    """Make a track of boxes in ``rows``, seen at ``places``; it ends when its last frame does."""
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


def _numbered(track: Track, number: int) -> Track:
    return replace(track, track_id=number)
