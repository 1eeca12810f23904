"""SORT, ByteTrack and OC-SORT from their papers: trackers to compare with, one frame at a time.

All three predict boxes with a Kalman filter of constant velocity and assign detections by overlap.
SORT (Bewley et al. 2016) ends a track that is missed for longer than ``patience`` frames. ByteTrack
(Zhang et al. 2022) first assigns confident detections and then offers the others to tracks that are
left. OC-SORT (Cao et al. 2023) prefers detections in the direction of motion, offers detections
that are left to the places where tracks were last seen, and corrects the filter of a track that is
found again as if it had been seen on a line in between. Classes play no part in any of them.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from wordsight.perception.detectors.suppression import box_iou
from wordsight.records import Detections, FrameDetections

__all__ = ["BYTETRACK", "OC_SORT", "SORT", "OnlineTracker"]

Array = NDArray[np.float64]

_STEP = np.eye(7) + np.diag(np.ones(3), 4)  # centre and area move; the aspect ratio stays
_MEASURED = np.eye(4, 7)
_MOTION_NOISE = np.diag([1.0, 1.0, 1.0, 1.0, 0.01, 0.01, 1e-4])
_BOX_NOISE = np.diag([1.0, 1.0, 10.0, 10.0])
_FIRST_NOISE = np.diag([10.0, 10.0, 10.0, 10.0, 1e4, 1e4, 1e4])


@dataclass(frozen=True)
class OnlineTracker:
    """A tracker of the SORT family.

    Attributes:
        confident: Score from which a detection starts a track and is assigned first.
        low: Score from which a detection may extend a track that is left; none below.
        least_overlap: Intersection over union of a prediction and its detection.
        least_overlap_low: The same for detections of low score.
        patience: Frames that a track may be missed.
        min_hits: Detections in a row before a track is reported.
        direction: Weight of the direction of motion in the assignment; 0 for none.
        look_back: Frames over which the direction is measured.
        filtered: Whether boxes are reported as the filter has them, and not as detected.
        recover: Whether tracks that are left are compared with where they were last seen, and
            corrected when they are found again.
    """

    confident: float = 0.0
    low: float | None = None
    least_overlap: float = 0.3
    least_overlap_low: float = 0.5
    patience: int = 1
    min_hits: int = 3
    direction: float = 0.0
    look_back: int = 3
    filtered: bool = True
    recover: bool = False

    def track(self, detections: Detections) -> Detections:
        """Return the detections of tracks, with identities."""
        alive: list[_Target] = []
        frames, number = [], 0
        for row in range(len(detections)):
            frame = detections.frame(row)
            for target in alive:
                target.predict()
            alive = [target for target in alive if np.isfinite(target.box).all()]
            used = self._assign(alive, frame)
            for place in np.flatnonzero((frame.scores >= self.confident) & ~used).tolist():
                number += 1
                alive.append(_Target(number, frame.boxes[place], int(frame.labels[place])))
            shown = [t for t in alive if t.missed == 0 and self._is_reported(t, row)]
            frames.append(_frame(frame.time, shown, self.filtered))
            alive = [target for target in alive if target.missed <= self.patience]
        return Detections.from_frames(
            frames, label_names=detections.label_names, frame_size=detections.frame_size
        )

    def _is_reported(self, target: "_Target", row: int) -> bool:
        return target.hits >= self.min_hits or row < self.min_hits

    def _assign(self, alive: list["_Target"], frame: FrameDetections) -> NDArray[np.bool_]:
        """Update targets with detections; return which detections were used."""
        used = np.zeros(len(frame.boxes), dtype=np.bool_)
        sure = frame.scores >= self.confident
        rounds = [(sure, self.least_overlap, False)]
        if self.low is not None:
            rounds.append((~sure & (frame.scores >= self.low), self.least_overlap_low, False))
        if self.recover:
            rounds.append((sure, self.least_overlap, True))
        left = list(alive)
        for allowed, least, last_seen in rounds:
            places = np.flatnonzero(allowed & ~used)
            boxes = frame.boxes[places]
            known = [target.seen[-1] if last_seen else target.box for target in left]
            overlap = box_iou(np.array(known).reshape(-1, 4), boxes)
            gain = overlap.copy()
            if self.direction and not last_seen and len(left) and len(boxes):
                gain += self.direction * np.array(
                    [t.agreement(boxes, self.look_back) for t in left]
                )
            for one, other in zip(*linear_sum_assignment(-gain), strict=True):
                if overlap[one, other] >= least:
                    left[one].update(boxes[other], int(frame.labels[places[other]]), self.recover)
                    used[places[other]] = True
            left = [target for target in left if target.missed]
        return used


SORT = OnlineTracker()
"""Published settings of SORT."""

BYTETRACK = OnlineTracker(confident=0.6, low=0.1, least_overlap=0.2, patience=30, min_hits=1)
"""Published settings of ByteTrack."""

OC_SORT = OnlineTracker(confident=0.6, patience=30, direction=0.2, filtered=False, recover=True)
"""Published settings of OC-SORT."""


class _Target:
    """One track: a Kalman filter over centre, area and aspect ratio."""

    def __init__(self, number: int, box: Array, label: int) -> None:
        self.number, self.label = number, label
        self.seen, self.missed, self.hits = [box], 0, 1
        self._mean = np.append(_measure(box), np.zeros(3))
        self._spread = _FIRST_NOISE.copy()
        self._at_last = (self._mean, self._spread)

    @property
    def box(self) -> Array:
        """The box as the filter has it."""
        x, y, area, ratio = self._mean[:4]
        width = np.sqrt(area * ratio) if area * ratio > 0 else np.nan
        half = np.array([width, area / width]) / 2.0
        return np.concatenate([np.array([x, y]) - half, np.array([x, y]) + half])

    def predict(self) -> None:
        """Go on by one frame."""
        if self._mean[2] + self._mean[6] <= 0:
            self._mean[6] = 0.0
        self._mean = _STEP @ self._mean
        self._spread = _STEP @ self._spread @ _STEP.T + _MOTION_NOISE
        self.hits = 0 if self.missed else self.hits
        self.missed += 1

    def update(self, box: Array, label: int, recover: bool) -> None:
        """Take in a detection; after a gap, with ``recover``, on a line from the last one."""
        if recover and self.missed > 1:
            self._mean, self._spread = self._at_last
            for share in np.arange(1, self.missed) / self.missed:
                self._mean, self._spread = _STEP @ self._mean, self._advanced()
                self._correct((1 - share) * self.seen[-1] + share * box)
            self._mean, self._spread = _STEP @ self._mean, self._advanced()
        self._correct(box)
        self._at_last = (self._mean, self._spread)
        self.seen.append(box)
        self.label, self.missed, self.hits = label, 0, self.hits + 1

    def agreement(self, boxes: Array, look_back: int) -> Array:
        """Return how well the way to each box agrees with the way so far, -0.5 to 0.5."""
        if len(self.seen) < 2:
            return np.zeros(len(boxes))
        before, last = self.seen[-min(look_back, len(self.seen) - 1) - 1], self.seen[-1]
        way = _centre(last) - _centre(before)
        ways = _centre(boxes) - _centre(before)
        lengths = np.maximum(np.hypot(*way) * np.hypot(ways[:, 0], ways[:, 1]), 1e-9)
        angle = np.arccos(np.clip(ways @ way / lengths, -1.0, 1.0))
        return np.asarray((np.pi / 2.0 - angle) / np.pi)

    def _advanced(self) -> Array:
        return np.asarray(_STEP @ self._spread @ _STEP.T + _MOTION_NOISE)

    def _correct(self, box: Array) -> None:
        gain = self._spread @ _MEASURED.T
        gain = gain @ np.linalg.inv(_MEASURED @ self._spread @ _MEASURED.T + _BOX_NOISE)
        self._mean = self._mean + gain @ (_measure(box) - self._mean[:4])
        self._spread = self._spread - gain @ _MEASURED @ self._spread


def _measure(box: Array) -> Array:
    width, height = box[2:] - box[:2]
    return np.array([*_centre(box), width * height, width / height])


def _centre(boxes: Array) -> Array:
    return np.asarray((boxes[..., :2] + boxes[..., 2:]) / 2.0)


def _frame(time: float, shown: list[_Target], filtered: bool) -> FrameDetections:
    boxes = [target.box if filtered else target.seen[-1] for target in shown]
    return FrameDetections(
        time,
        np.array(boxes).reshape(-1, 4),
        np.ones(len(shown)),
        np.array([target.label for target in shown], dtype=np.int32),
        ids=np.array([target.number for target in shown], dtype=np.int64),
    )
