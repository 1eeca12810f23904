"""Observations from tracks of hands and things, in the image or in space, with ways of moving.

Nouns are observed as things, verbs as manners of motion. Every manner is relative to a unit of
length, so that the same words fit pixels and metres. Of things followed as boxes their motion is
measured, too: what a verb says of a thing is learned from it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wordsight.alignment.observe.intervals import chunks_of_frames
from wordsight.alignment.records import Observed, ThingMotion
from wordsight.errors import RecordError

__all__ = [
    "MANNERS",
    "Handling",
    "Manners",
    "TrackedThings",
    "manners_of",
    "smoothed",
    "speeds_of",
    "thing_motion",
]

Array = NDArray[np.float64]


MANNERS = ("still", "rising", "sinking", "sliding", "shaking", "nearing", "leaving")
"""The manners that are distinguished, in the order of the columns of :func:`manners_of`."""


@dataclass(frozen=True)
class Manners:
    """What counts as motion.

    Attributes:
        unit: A typical size of a thing, in the units of the tracks.
        slow: Speed in units per second under which a thing is still.
        window: Half the stretch of time, in seconds, over which motion is measured.
        wiggle: How many times longer than its net displacement a path must be to be a shake.
    """

    unit: float
    slow: float = 0.25
    window: float = 0.4
    wiggle: float = 2.5


def smoothed(points: Array, times: Array, seconds: float) -> Array:
    """Return ``(T, D)`` points averaged over a window; gaps (NaN) are bridged by straight lines."""
    filled = points.copy()
    known = np.isfinite(points).all(axis=1)
    if not known.any():
        return filled
    for axis in range(points.shape[1]):
        filled[:, axis] = np.interp(times, times[known], points[known, axis])
    half = _frames(times, seconds)
    padded = np.pad(filled, ((half, half), (0, 0)), mode="edge")
    sums = np.cumsum(np.vstack([np.zeros((1, points.shape[1])), padded]), axis=0)
    width = 2 * half + 1
    return np.asarray((sums[width:] - sums[:-width]) / width, dtype=np.float64)


def speeds_of(points: Array, times: Array) -> Array:
    """Return ``(T,)`` speed in units of the points per second."""
    if len(times) < 2:
        return np.zeros(len(times))
    velocities = np.asarray(np.gradient(points, times, axis=0))
    return np.asarray(np.linalg.norm(velocities, axis=1), dtype=np.float64)


def manners_of(
    points: Array, times: Array, hand: Array | None, manners: Manners
) -> NDArray[np.bool_]:
    """Say how one thing moves.

    Args:
        points: ``(T, D)`` its place, y or the second axis pointing down as in pictures.
        times: ``(T,)`` seconds.
        hand: ``(T, D)`` the hand nearest to it, if there is one.
        manners: What counts as motion.

    Returns:
        ``(T, 7)`` whether each of ``MANNERS`` is true in each frame.
    """
    found = np.zeros((len(times), len(MANNERS)), dtype=bool)
    if len(times) < 2:
        return found
    half = _frames(times, manners.window)
    early = np.maximum(np.arange(len(times)) - half, 0)
    late = np.minimum(np.arange(len(times)) + half, len(times) - 1)
    span = np.maximum(times[late] - times[early], 1e-6)
    moved = points[late] - points[early]
    steps = np.r_[0.0, np.cumsum(np.linalg.norm(np.diff(points, axis=0), axis=1))]
    path = steps[late] - steps[early]
    net = np.linalg.norm(moved, axis=1)
    slow = manners.slow * manners.unit * span
    moving = path > slow
    shaking = moving & (path > manners.wiggle * net)
    steady = moving & ~shaking
    down = moved[:, 1]
    across = np.linalg.norm(np.delete(moved, 1, axis=1), axis=1)
    found[:, 0] = ~moving
    found[:, 1] = steady & (-down > across * 0.6)
    found[:, 2] = steady & (down > across * 0.6)
    found[:, 3] = steady & (across > np.abs(down) * 0.6)
    found[:, 4] = shaking
    if hand is not None:
        gap = np.linalg.norm(hand - points, axis=1)
        closing = gap[early] - gap[late]
        found[:, 5] = ~moving & (closing > slow)
        found[:, 6] = ~moving & (-closing > slow)
    return found


def _frames(times: Array, seconds: float) -> int:
    usual = float(np.median(np.diff(times))) if len(times) > 1 else 1.0
    return max(1, round(seconds / max(usual, 1e-6)))


@dataclass(frozen=True)
class Handling:
    """When a thing counts as handled.

    Attributes:
        reach: Distance between hand and thing up to which it is touched, in units of the tracks.
        speed: Speed from which a thing is in motion, in units per second; infinite to let touch
            alone decide.
        nearest: Whether each hand touches only the thing nearest to it.
        seconds: Length of the chunks.
        least_share: Share of a chunk in which a thing must be handled.
        smoothing: Half the stretch of time in seconds over which tracks are averaged.
        hands_too: Whether hands are observed as well: as the thing ``hand`` while one moves and
            nothing is handled, and how they move at all times.
    """

    reach: float
    speed: float
    nearest: bool = False
    seconds: float = 1.0
    least_share: float = 0.3
    smoothing: float = 0.1
    hands_too: bool = False


@dataclass(frozen=True, eq=False)
class TrackedThings:
    """Things near a hand or in motion.

    Works with points and boxes in pictures and with points in space. Where a track has no value
    (NaN), its thing is neither touched nor in motion.

    Attributes:
        video_id: Which video.
        times: ``(T,)`` seconds.
        things: By name ``(T, 2)`` or ``(T, 3)`` points, or ``(T, 4)`` boxes x1, y1, x2, y2.
        hands: ``(T, 2)`` or ``(T, 3)`` each; there may be none.
        handling: What counts as handling.
        manners: What counts as motion for verbs; by default with ``reach`` as the unit.
        head: ``(T, 2)`` where the person's head is, if known; what is held near it is eaten or
            drunk.

    Raises:
        RecordError: If shapes do not fit.
    """

    video_id: str
    times: ArrayLike
    things: Mapping[str, ArrayLike]
    hands: Sequence[ArrayLike]
    handling: Handling
    manners: Manners | None = field(default=None)
    head: ArrayLike | None = None

    def observe(self) -> Observed:
        """Return the things handled in each chunk, and how they move.

        Things of one kind, numbered as in ``plate#2``, are one thing.
        """
        times = np.asarray(self.times, dtype=np.float64)
        names, verbs = list(self.things), list(MANNERS)
        tracks = [_checked(name, self.things[name], len(times)) for name in names]
        hands = [_checked("hand", hand, len(times)) for hand in self.hands]
        head = None if self.head is None else _checked("head", self.head, len(times))
        followed = dict(zip(names, tracks, strict=True))
        if head is not None:
            around = _AROUND_HEAD * self._rule().unit
            names.append("head")
            tracks.append(np.hstack([head - around, head + around]))
        present = self._handled(tracks, hands, times)
        how = self._manners(tracks, hands, times, present)
        rule = self.handling
        if rule.hands_too and hands:
            free, manners = self._free_hands(hands, times)
            present = np.hstack([present, free[:, None] & ~present.any(axis=1, keepdims=True)])
            how = np.hstack([how, manners])
            names.append("hand")
            verbs += [f"hand {manner}" for manner in MANNERS]
        chunks = chunks_of_frames(
            times,
            names,
            present,
            seconds=rule.seconds,
            least_share=rule.least_share,
            verbs=verbs,
            verb_present=how,
        )
        chunks = tuple(
            replace(chunk, things=frozenset(map(_kind, chunk.things))) for chunk in chunks
        )
        usual = float(np.median(np.diff(times))) if len(times) > 1 else 0.0
        duration = float(times[-1]) + usual if len(times) else 0.0
        seen = Observed(self.video_id, chunks, duration)
        boxes = {name: track for name, track in followed.items() if track.shape[1] == 4}
        if not chunks or not boxes or not hands:
            return seen
        by_frame = thing_motion(times, boxes, hands, head, self._rule().unit)
        return replace(seen, motion=_by_chunk(by_frame, times, seen.times))

    def _handled(self, tracks: list[Array], hands: list[Array], times: Array) -> NDArray[np.bool_]:
        """Return ``(T, K)`` whether each thing is touched or in motion."""
        rule = self.handling
        gaps = (
            np.stack([np.stack([_gap(track, hand) for track in tracks], axis=1) for hand in hands])
            if hands and tracks
            else np.full((0, len(times), len(tracks)), np.inf)
        )
        near = gaps <= rule.reach
        if rule.nearest and len(tracks):
            near &= gaps <= gaps.min(axis=2, keepdims=True)
        moving = np.zeros((len(times), len(tracks)), dtype=bool)
        for column, track in enumerate(tracks):
            centres = _centres(track)
            speed = speeds_of(smoothed(centres, times, rule.smoothing), times)
            moving[:, column] = np.isfinite(centres).all(axis=1) & (speed >= rule.speed)
        return moving | near.any(axis=0)

    def _manners(
        self, tracks: list[Array], hands: list[Array], times: Array, present: NDArray[np.bool_]
    ) -> NDArray[np.bool_]:
        """Return ``(T, 7)`` how the handled things move."""
        rule = self._rule()
        found = np.zeros((len(times), len(MANNERS)), dtype=bool)
        ways = [smoothed(hand, times, self.handling.smoothing) for hand in hands]
        for column, track in enumerate(tracks):
            points = smoothed(_centres(track), times, self.handling.smoothing)
            if not np.isfinite(points).all():
                continue
            how = manners_of(points, times, _nearest_hand(points, ways), rule)
            found |= how & present[:, column : column + 1]
        return found

    def _free_hands(
        self, hands: list[Array], times: Array
    ) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Return ``(T,)`` whether a hand moves, and ``(T, 7)`` how hands move."""
        rule = self._rule()
        # Hands are hardly ever as still as things.
        restless = replace(rule, slow=2 * rule.slow)
        moving = np.zeros(len(times), dtype=bool)
        found = np.zeros((len(times), len(MANNERS)), dtype=bool)
        for hand in hands:
            points = smoothed(hand, times, self.handling.smoothing)
            if np.isfinite(points).all():
                moving |= speeds_of(points, times) >= self.handling.speed
                found |= manners_of(points, times, None, restless)
        return moving, found

    def _rule(self) -> Manners:
        return self.manners or Manners(max(self.handling.reach, 1e-9))


_LAG = 0.27  # seconds before and after a frame between which velocities are measured
_FAR = 1.0  # seconds of the past and of the future that displacements look at
_AROUND_HEAD = 0.9  # units from the head within which a hand feeds the mouth
_OF_MOTION = 2.0  # units that a thing in motion counts as nearer to the hand than one at rest


def thing_motion(
    times: Array,
    boxes: Mapping[str, Array],
    hands: Sequence[Array],
    head: Array | None,
    unit: float,
) -> ThingMotion:
    """Measure how each kind of thing moves, by itself and towards hands, head and other things.

    Of several things of one kind the one that is handled most counts, frame by frame.

    Args:
        times: ``(T,)`` seconds.
        boxes: ``(T, 4)`` each; NaN where a box is missing, which is filled from its neighbours.
        hands: ``(T, 2)`` each, at least one.
        head: ``(T, 2)``, or ``None``.
        unit: Length in which everything is measured.
    """
    ways = np.stack([smoothed(hand, times, 0.1) for hand in hands])
    there = np.isfinite(np.stack(list(hands))).all(axis=2)
    lost = ~there & there.any(axis=0)  # unless no hand is seen, one that is not seen is far away
    top = np.zeros((len(times), 2)) if head is None else smoothed(head, times, 0.1)
    frames = np.arange(len(times))
    spans = []
    for seconds in (_LAG, _FAR):
        half = _frames(times, seconds)
        spans.append((np.maximum(frames - half, 0), np.minimum(frames + half, len(times) - 1)))
    (early, late), (past, future) = spans
    elapsed = np.maximum(times[late] - times[early], 1e-6)
    kinds: dict[str, list[Array]] = {}
    for name, track in boxes.items():
        if np.isfinite(track).all(axis=1).any():
            box = smoothed(track, times, 0.1)
            middle = _centres(box)
            gaps = np.where(lost, np.inf, [_gap(box, way) for way in ways])
            hand = ways[gaps.argmin(axis=0), frames]
            velocity = (middle[late] - middle[early]) / elapsed[:, None]
            pace = (hand[late] - hand[early]) / elapsed[:, None]
            apart = np.linalg.norm(hand - middle, axis=1)
            area = np.log(np.maximum((box[:, 2:] - box[:, :2]).clip(1e-6).prod(axis=1), 1e-6))
            columns = [
                np.linalg.norm(velocity, axis=1),
                velocity[:, 1],
                gaps.min(axis=0),
                (apart[late] - apart[early]) / elapsed,
                np.linalg.norm(pace, axis=1),
                pace[:, 1],
                np.linalg.norm(hand - top, axis=1),
                np.linalg.norm(middle[future] - middle, axis=1),
                np.linalg.norm(middle - middle[past], axis=1),
                np.linalg.norm(middle - middle[0], axis=1),
                np.linalg.norm(middle - middle[-1], axis=1),
                (area[late] - area[early]) * unit,
                np.linalg.norm(middle - top, axis=1),
            ]
            kinds.setdefault(_kind(name), []).append(np.stack(columns, axis=1) / unit)
    names = tuple(sorted(kinds))
    if not names:
        return ThingMotion((), np.zeros((0, len(times), 0)))
    values = np.stack([_most_handled(np.stack(kinds[name])) for name in names])
    activity = values[..., 0] + values[..., 7] + values[..., 8]
    others = [np.delete(activity, n, axis=0).max(axis=0, initial=0.0) for n in range(len(names))]
    fastest = np.max([speeds_of(way, times) for way in ways], axis=0) / unit
    nearest = np.min([np.linalg.norm(way - top, axis=1) for way in ways], axis=0) / unit
    shared = np.broadcast_to(np.stack([fastest, nearest], axis=1), (len(names), len(times), 2))
    return ThingMotion(names, np.concatenate([values, np.stack(others)[..., None], shared], axis=2))


def _most_handled(values: Array) -> Array:
    """Return ``(T, F)``, of several things ``(O, T, F)`` the nearest to a hand or in motion."""
    moved = np.minimum(values[..., 7] + values[..., 8], 2.0)
    chosen = (values[..., 2] - _OF_MOTION * moved).argmin(axis=0)
    return np.asarray(values[chosen, np.arange(values.shape[1])])


def _by_chunk(motion: ThingMotion, times: Array, chunks: Array) -> ThingMotion:
    """Return the mean over the frames of each chunk."""
    first = np.searchsorted(times, chunks[:, 0] - 1e-6)
    last = np.maximum(np.searchsorted(times, chunks[:, 1] - 1e-6), first + 1)
    sums = np.pad(np.cumsum(motion.values, axis=1), ((0, 0), (1, 0), (0, 0)))
    first, last = np.minimum(first, len(times) - 1), np.minimum(last, len(times))
    return replace(motion, values=(sums[:, last] - sums[:, first]) / (last - first)[:, None])


def _kind(name: str) -> str:
    return name.partition("#")[0]


def _checked(name: str, track: ArrayLike, count: int) -> Array:
    points = np.asarray(track, dtype=np.float64)
    if points.ndim != 2 or len(points) != count or points.shape[1] not in (2, 3, 4):
        raise RecordError(
            f"the track of {name!r} must have shape ({count}, 2), (.., 3) or (.., 4), got "
            f"{points.shape}."
        )
    return points


def _centres(track: Array) -> Array:
    return (track[:, :2] + track[:, 2:]) / 2 if track.shape[1] == 4 else track


def _gap(track: Array, hand: Array) -> Array:
    """Return ``(T,)`` distances from a hand to a thing: 0 inside its box, infinite if unknown."""
    if track.shape[1] == 4 and hand.shape[1] == 2:
        outside = np.maximum(np.maximum(track[:, :2] - hand, hand - track[:, 2:]), 0.0)
    elif track.shape[1] == hand.shape[1]:
        outside = track - hand
    else:
        raise RecordError(
            f"hands with {hand.shape[1]} coordinates do not fit things with {track.shape[1]}; give "
            "both in the picture or both in space."
        )
    gap = np.linalg.norm(outside, axis=1)
    return np.where(np.isfinite(gap), gap, np.inf)


def _nearest_hand(points: Array, hands: list[Array]) -> Array | None:
    usable = [h for h in hands if h.shape == points.shape and np.isfinite(h).all()]
    if not usable:
        return None
    gaps = np.stack([np.linalg.norm(hand - points, axis=1) for hand in usable])
    return np.asarray(np.stack(usable)[gaps.argmin(axis=0), np.arange(len(points))])
