"""Observations from our own detections: things near a hand or in motion, and how they move."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from wordsight.alignment.records import Observed
from wordsight.alignment.watching.actors import (
    HAND_LABELS,
    gaps_to_boxes,
    grip_points,
    hand_columns,
    motion_of,
    strayed_of,
    withdrawn,
)
from wordsight.alignment.watching.source import chunks_of_frames
from wordsight.records import Detections

__all__ = ["DetectedThings", "Noticing"]

Array = NDArray[np.float64]

_FURTHEST = 0.075  # of the diagonal: moving further than this tells no more

MOVES = ("resting", "lifting", "lowering", "shifting")
"""How a handled thing moves, by the flow inside its box."""


@dataclass(frozen=True)
class Noticing:
    """When a detected thing counts as handled; lengths are shares of the frame's diagonal.

    Attributes:
        reach: How far from a hand's grip a thing may be and still be touched.
        speed: From which speed, per second, a thing is in motion.
        most: How many things one hand touches at most, nearest first; things that have just moved
            or are about to count as nearer.
        rest: Hands whose grip is within this share of the picture's edge rest and touch nothing.
        seconds: Length of the chunks.
        least_share: Share of a chunk's frames in which a thing must be handled.
        hands: Labels that mean a hand, lower case.
        people: Labels that act but are not handled, lower case.
    """

    reach: float = 0.02
    speed: float = 0.05
    most: int = 1
    rest: float = 0.12
    seconds: float = 0.5
    least_share: float = 0.5
    hands: tuple[str, ...] = HAND_LABELS
    people: tuple[str, ...] = ("person", "people", "head", "face")


@dataclass(frozen=True, eq=False)
class DetectedThings:
    """Things near a hand or in motion, by label.

    With a detector that knows hands, a thing is handled while a hand's grip is at it. Without one,
    as with ``regions``, it is handled while it moves, or while something that moves in from the
    edge of the picture reaches it; labels are looks of a codebook then.

    Attributes:
        video_id: Which video.
        detections: What a detector saw, by preference with optical flow.
        noticing: What counts as handled.
        duration: Length of the video in seconds; up to the last frame if left out.
    """

    video_id: str
    detections: Detections
    noticing: Noticing = field(default_factory=Noticing)
    duration: float | None = None

    def observe(self) -> Observed:
        """Return the things handled in each chunk, and how they move."""
        seen, rule = self.detections, self.noticing
        handled = self._handled()
        names = seen.label_names
        present = _by_label(handled, seen.labels, len(names))
        chunks = chunks_of_frames(
            seen.times,
            names,
            present,
            seconds=rule.seconds,
            least_share=rule.least_share,
            verbs=MOVES,
            verb_present=self._moves(handled),
        )
        last = float(seen.times[-1]) if len(seen) else 0.0
        usual = float(np.median(np.diff(seen.times))) if len(seen) > 1 else 0.0
        end = max([last + usual, *(chunk.end for chunk in chunks)])
        return Observed(self.video_id, chunks, end if self.duration is None else self.duration)

    def _handled(self) -> NDArray[np.bool_]:
        """Return ``(T, J)`` which boxes show a handled thing."""
        seen, rule = self.detections, self.noticing
        hands = hand_columns(seen, rule.hands)
        moving = motion_of(seen) >= rule.speed
        if hands.any():
            things = seen.mask & ~hands & ~hand_columns(seen, rule.people)
            return self._gripped(hands, things)
        arms = moving & _reaches_in(seen)
        return (seen.mask & moving & ~arms) | self._gripped(arms, seen.mask & ~arms)

    def _gripped(self, hands: NDArray[np.bool_], things: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return ``(T, J)`` the things nearest to each hand's grip, within reach."""
        seen, rule = self.detections, self.noticing
        diagonal = float(np.hypot(*seen.frame_size))
        strayed = np.minimum(strayed_of(seen), _FURTHEST * diagonal)
        gripped = np.zeros_like(things)
        for t in np.flatnonzero(hands.any(axis=1) & things.any(axis=1)):
            columns = np.flatnonzero(things[t])
            boxes = seen.boxes[t, columns]
            points = grip_points(seen.boxes[t, hands[t]], seen.frame_size)
            points = points[~withdrawn(points, seen.frame_size, rule.rest)]
            gaps = gaps_to_boxes(points, boxes)
            middles = (boxes[:, :2] + boxes[:, 2:]) / 2
            away = np.linalg.norm(points[:, None] - middles[None], axis=2)
            for gap, far in zip(gaps, away - strayed[t, columns], strict=True):
                near = np.flatnonzero(gap <= rule.reach * diagonal)
                gripped[t, columns[near[np.argsort(far[near], kind="stable")][: rule.most]]] = True
        return gripped

    def _moves(self, handled: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return ``(T, 4)`` which of ``MOVES`` a handled thing makes."""
        seen = self.detections
        found = np.zeros((len(seen), len(MOVES)), dtype=bool)
        if seen.flow is None:
            return found
        slow = self.noticing.speed * float(np.hypot(*seen.frame_size))
        across, down = np.abs(seen.flow[..., 0]), seen.flow[..., 1]
        speed = np.linalg.norm(seen.flow, axis=2)
        steep = np.abs(down) > 0.6 * across
        kinds = (
            speed < slow,
            (speed >= slow) & steep & (down < 0),
            (speed >= slow) & steep & (down > 0),
            (speed >= slow) & (across > 0.6 * np.abs(down)),
        )
        for column, kind in enumerate(kinds):
            found[:, column] = (kind & handled).any(axis=1)
        return found


def _by_label(
    handled: NDArray[np.bool_], labels: NDArray[np.int32], count: int
) -> NDArray[np.bool_]:
    present = np.zeros((len(handled), count), dtype=bool)
    rows, columns = np.nonzero(handled)
    present[rows, labels[rows, columns]] = True
    return present


def _reaches_in(detections: Detections) -> NDArray[np.bool_]:
    """Return ``(T, J)`` which boxes touch an edge of the picture and are larger than a trifle."""
    width, height = detections.frame_size
    margin = 0.012 * max(width, height)
    x1, y1, x2, y2 = np.moveaxis(detections.boxes, -1, 0)
    at_edge = (x1 <= margin) | (y1 <= margin) | (width - x2 <= margin) | (height - y2 <= margin)
    large = (x2 - x1) * (y2 - y1) >= 0.01 * width * height
    return np.asarray(detections.mask & at_edge & large)
