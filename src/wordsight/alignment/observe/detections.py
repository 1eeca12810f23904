"""Observations from detections: things near a hand or in motion, and how they move.

A detector with a class for hands marks them itself. Without one, a moving box that reaches in from
the edge of the frame is taken for an arm.
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wordsight.alignment.observe.intervals import chunks_of_frames
from wordsight.alignment.observe.tracks import Handling, Manners, TrackedThings
from wordsight.alignment.records import Observed
from wordsight.perception import Codebook, load_detector, observe
from wordsight.progress import Progress
from wordsight.records import Detections
from wordsight.video import VideoReader

__all__ = [
    "HAND_LABELS",
    "DetectedThings",
    "HandlingSettings",
    "box_distances",
    "detect_videos",
    "displacements",
    "grip_points",
    "hand_mask",
    "label_by_appearance",
    "near_frame_edge",
    "relative_speeds",
]

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


Array = NDArray[np.float64]

HAND_LABELS = (
    "hand",
    "hands",
    "left hand",
    "right hand",
    "left_hand",
    "right_hand",
    "glove",
    "arm",
)
"""Labels that mean a hand, compared in lower case."""

_EDGE = 0.012  # of the frame's longer side: a box this close to the edge reaches over it
_CROWD = 5  # number of boxes from which their common motion is attributed to the camera
_FINGERS = 0.3  # position of the grip between finger tips and wrist, as a share of the hand
_LONGEST_HAND = 0.22  # of the frame's longer side; anything longer includes the arm


def hand_mask(detections: Detections, labels: Sequence[str] = HAND_LABELS) -> NDArray[np.bool_]:
    """Return ``(T, J)`` which boxes are hands by their label."""
    wanted = [n for n, name in enumerate(detections.label_names) if name.lower() in labels]
    return detections.mask & np.isin(detections.labels, wanted)


def relative_speeds(detections: Detections) -> Array:
    """Return ``(T, J)`` speeds of boxes, in frame diagonals per second.

    Measured by optical flow if available, else by the distance to the nearest box of the same label
    one frame before. The motion common to all boxes is that of the camera and is subtracted.
    """
    diagonal = float(np.hypot(*detections.frame_size))
    if detections.flow is not None:
        flow = detections.flow
    else:
        elapsed = np.diff(detections.times, prepend=detections.times[:1] - 1.0)
        flow = _box_motion(detections, 1) / elapsed[:, None, None]
    moved = np.where(detections.mask[..., None], flow, np.nan)
    crowded = detections.mask.sum(axis=1) >= _CROWD
    if crowded.any():
        moved[crowded] -= np.nanmedian(moved[crowded], axis=1, keepdims=True)
    return np.asarray(np.nan_to_num(np.linalg.norm(moved, axis=2)) / diagonal, dtype=np.float64)


def displacements(detections: Detections, seconds: float = 0.5) -> Array:
    """Return ``(T, J)`` pixels between each box and the past or future position of its label.

    Things that are about to move or have just moved are those a hand handles.
    """
    if len(detections) < 2:
        return np.zeros(detections.mask.shape)
    frames = max(1, round(seconds / float(np.median(np.diff(detections.times)))))
    past = np.linalg.norm(_box_motion(detections, frames), axis=2)
    future = np.linalg.norm(_box_motion(detections, -frames), axis=2)
    return np.asarray(np.maximum(past, future), dtype=np.float64)


def grip_points(boxes: Array, frame_size: tuple[int, int]) -> Array:
    """Return ``(N, 2)`` the points at which the hands in ``(N, 4)`` boxes hold things.

    A hand that reaches in over an edge of the frame holds at the far end; one that touches no edge
    is assumed to come from below.
    """
    width, height = frame_size
    margin = _EDGE * max(frame_size)
    x1, y1, x2, y2 = boxes.T
    longest = _LONGEST_HAND * max(frame_size)
    down = _FINGERS * np.minimum(y2 - y1, longest)
    across = _FINGERS * np.minimum(x2 - x1, longest)
    points = np.stack([(x1 + x2) / 2, y1 + down], axis=1)
    from_below = height - y2 <= margin
    from_left, from_right = x1 <= margin, width - x2 <= margin
    from_above = (y1 <= margin) & ~from_below & ~from_left & ~from_right
    points[from_above, 1] = (y2 - down)[from_above]
    sideways = (from_left ^ from_right) & ~from_below
    points[sideways, 1] = ((y1 + y2) / 2)[sideways]
    points[sideways & from_left, 0] = (x2 - across)[sideways & from_left]
    points[sideways & from_right, 0] = (x1 + across)[sideways & from_right]
    return points


def box_distances(points: Array, boxes: Array) -> Array:
    """Return ``(N, M)`` distances from points to boxes; 0 inside."""
    low, high = boxes[None, :, :2] - points[:, None], points[:, None] - boxes[None, :, 2:]
    return np.asarray(np.linalg.norm(np.maximum(np.maximum(low, high), 0.0), axis=2))


def near_frame_edge(points: Array, frame_size: tuple[int, int], share: float) -> NDArray[np.bool_]:
    """Return ``(N,)`` which points lie within a share of the frame from its edge."""
    sides = np.array(frame_size, dtype=np.float64)
    return np.asarray(((points < share * sides) | (points > (1 - share) * sides)).any(axis=1))


def _box_motion(detections: Detections, frames: int) -> Array:
    """Return ``(T, J, 2)`` motion since the nearest box of the same label some frames before."""
    centres = (detections.boxes[..., :2] + detections.boxes[..., 2:]) / 2
    moved = np.zeros_like(centres)
    for t in range(len(detections)):
        other = t - frames
        if not (0 <= other < len(detections) and detections.mask[other].any()):
            continue
        steps = centres[t][:, None] - centres[other][None]
        alike = detections.labels[t][:, None] == detections.labels[other][None]
        far = np.where(alike & detections.mask[other], np.linalg.norm(steps, axis=2), np.inf)
        nearest = far.argmin(axis=1)
        known = detections.mask[t] & np.isfinite(far.min(axis=1))
        moved[t, known] = steps[known, nearest[known]]
    return moved


_UNIT = 0.05  # of the diagonal: the size of a thing in the hand
_REACH = 0.625  # units from a hand to a thing that was followed
_SECONDS = 0.25  # of the chunks where things were followed
_FURTHEST = 0.075  # of the diagonal; larger displacements count as this one

MOVES = ("resting", "lifting", "lowering", "shifting")
"""Motions of a handled thing, by the optical flow inside its box."""


@dataclass(frozen=True)
class HandlingSettings:
    """When a detected thing counts as handled; lengths are shares of the frame's diagonal.

    Attributes:
        reach: Largest distance between a hand's grip and a thing it touches.
        speed: Least speed, per second, of a thing in motion.
        most: Most things that one hand touches, nearest first; things that have just moved or are
            about to move count as nearer.
        rest: Hands whose grip is within this share of the frame's edge rest and touch nothing.
        seconds: Length of the chunks.
        least_share: Least share of a chunk's frames in which a thing must be handled.
        hands: Labels that mean a hand, lower case.
        people: Labels that act but are not handled, lower case.
        heads: Labels that mean a head, lower case.
        nameless: Labels that do not say what a thing is, lower case; such things are not followed.
    """

    reach: float = 0.02
    speed: float = 0.05
    most: int = 1
    rest: float = 0.12
    seconds: float = 0.5
    least_share: float = 0.5
    hands: tuple[str, ...] = HAND_LABELS
    people: tuple[str, ...] = ("person", "people", "head", "face")
    heads: tuple[str, ...] = ("head", "face")
    nameless: tuple[str, ...] = ("other", "unknown")


@dataclass(frozen=True, eq=False)
class DetectedThings:
    """Things near a hand or in motion, by label.

    With a detector that knows hands, a thing is handled while a hand's grip is at it. Without one,
    as with ``regions``, it is handled while it moves, or while something that moves in from the
    edge of the frame reaches it; labels are then words of an appearance codebook. Where boxes have
    identities, things and hands are followed, and how they move is measured.

    Attributes:
        video_id: The video.
        detections: Detections of the video, preferably with optical flow.
        settings: When a thing counts as handled.
        duration: Length of the video in seconds; by default up to the last frame.
    """

    video_id: str
    detections: Detections
    settings: HandlingSettings = field(default_factory=HandlingSettings)
    duration: float | None = None

    def observe(self) -> Observed:
        """Return the things handled in each chunk, and how they move."""
        detections, settings = self.detections, self.settings
        if detections.ids is not None and hand_mask(detections, settings.hands).any():
            return self._followed(detections, detections.ids)
        handled = self._handled()
        names = detections.label_names
        present = _by_label(handled, detections.labels, len(names))
        chunks = chunks_of_frames(
            detections.times,
            names,
            present,
            seconds=settings.seconds,
            least_share=settings.least_share,
            verbs=MOVES,
            verb_present=self._moves(handled),
        )
        last = float(detections.times[-1]) if len(detections) else 0.0
        step = float(np.median(np.diff(detections.times))) if len(detections) > 1 else 0.0
        end = max([last + step, *(chunk.end for chunk in chunks)])
        return Observed(self.video_id, chunks, end if self.duration is None else self.duration)

    def _followed(self, detections: Detections, ids: NDArray[np.int64]) -> Observed:
        """Return what is handled and how it moves, from boxes with identities."""
        settings, diagonal = self.settings, float(np.hypot(*detections.frame_size))
        reaching = _reaches_in(detections)
        hands: list[Array] = []
        heads: list[Array] = []
        things: dict[str, Array] = {}
        for label, name in enumerate(detections.label_names):
            of_label = detections.mask & (detections.labels == label)
            for number in np.unique(ids[of_label]).tolist():
                frames, columns = np.nonzero(of_label & (ids == number))
                track = np.full((len(detections), 4), np.nan)
                track[frames] = detections.boxes[frames, columns]
                middle = (track[:, :2] + track[:, 2:]) / 2
                if name.lower() in settings.hands:
                    over = reaching[frames, columns]
                    grips = grip_points(track[frames[over]], detections.frame_size)
                    middle[frames[over]] = grips
                    hands.append(middle)
                elif name.lower() in settings.heads:
                    heads.append(middle)
                elif name.lower() not in settings.people + settings.nameless:
                    same = sum(other.partition("#")[0] == name for other in things)
                    things[f"{name}#{same + 1}" if same else name] = track
        # The longest track of a head is that of the one who acts.
        head = max(heads, key=lambda one: int(np.isfinite(one[:, 0]).sum()), default=None)
        unit = _UNIT * diagonal
        handling = Handling(
            reach=_REACH * unit, speed=unit, seconds=_SECONDS, least_share=0.5, hands_too=True
        )
        manners = Manners(unit=unit, slow=0.4, window=0.3)
        source = TrackedThings(
            self.video_id, detections.times, things, hands, handling, manners, head
        )
        seen = source.observe()
        return seen if self.duration is None else replace(seen, duration=self.duration)

    def _handled(self) -> NDArray[np.bool_]:
        """Return ``(T, J)`` which boxes show a handled thing."""
        detections, settings = self.detections, self.settings
        hands = hand_mask(detections, settings.hands)
        moving = relative_speeds(detections) >= settings.speed
        if hands.any():
            things = detections.mask & ~hands & ~hand_mask(detections, settings.people)
            return self._gripped(hands, things)
        arms = moving & _reaches_in(detections)
        others = detections.mask & ~arms
        return (others & moving) | self._gripped(arms, others)

    def _gripped(self, hands: NDArray[np.bool_], things: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return ``(T, J)`` the things nearest to each hand's grip, within reach."""
        detections, settings = self.detections, self.settings
        diagonal = float(np.hypot(*detections.frame_size))
        moved = np.minimum(displacements(detections), _FURTHEST * diagonal)
        gripped = np.zeros_like(things)
        for t in np.flatnonzero(hands.any(axis=1) & things.any(axis=1)):
            columns = np.flatnonzero(things[t])
            boxes = detections.boxes[t, columns]
            points = grip_points(detections.boxes[t, hands[t]], detections.frame_size)
            points = points[~near_frame_edge(points, detections.frame_size, settings.rest)]
            gaps = box_distances(points, boxes)
            middles = (boxes[:, :2] + boxes[:, 2:]) / 2
            distances = np.linalg.norm(points[:, None] - middles[None], axis=2)
            for gap, distance in zip(gaps, distances - moved[t, columns], strict=True):
                near = np.flatnonzero(gap <= settings.reach * diagonal)
                order = near[np.argsort(distance[near], kind="stable")]
                gripped[t, columns[order[: settings.most]]] = True
        return gripped

    def _moves(self, handled: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return ``(T, 4)`` which of ``MOVES`` a handled thing makes."""
        flow = self.detections.flow
        moves = np.zeros((len(self.detections), len(MOVES)), dtype=bool)
        if flow is None:
            return moves
        slow = self.settings.speed * float(np.hypot(*self.detections.frame_size))
        across, down = np.abs(flow[..., 0]), flow[..., 1]
        speed = np.linalg.norm(flow, axis=2)
        steep = np.abs(down) > 0.6 * across
        kinds = (
            speed < slow,
            (speed >= slow) & steep & (down < 0),
            (speed >= slow) & steep & (down > 0),
            (speed >= slow) & (across > 0.6 * np.abs(down)),
        )
        for column, kind in enumerate(kinds):
            moves[:, column] = (kind & handled).any(axis=1)
        return moves


def _by_label(
    handled: NDArray[np.bool_], labels: NDArray[np.int32], count: int
) -> NDArray[np.bool_]:
    present = np.zeros((len(handled), count), dtype=bool)
    rows, columns = np.nonzero(handled)
    present[rows, labels[rows, columns]] = True
    return present


def _reaches_in(detections: Detections) -> NDArray[np.bool_]:
    """Return ``(T, J)`` which boxes touch an edge of the frame and are not tiny."""
    width, height = detections.frame_size
    margin = _EDGE * max(width, height)
    x1, y1, x2, y2 = np.moveaxis(detections.boxes, -1, 0)
    at_edge = (x1 <= margin) | (y1 <= margin) | (width - x2 <= margin) | (height - y2 <= margin)
    large = (x2 - x1) * (y2 - y1) >= 0.01 * width * height
    return np.asarray(detections.mask & at_edge & large)
