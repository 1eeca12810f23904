"""Observations from tracks of hands and things, in the image or in space, with ways of moving.

Nouns are observed as things, verbs as manners of motion. Every manner is relative to a unit of
length, so that the same words fit pixels and metres.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wordsight.alignment.observe.intervals import chunks_of_frames
from wordsight.alignment.records import Observed
from wordsight.errors import RecordError

__all__ = ["MANNERS", "Handling", "Manners", "TrackedThings", "manners_of", "smoothed", "speeds_of"]

Array = NDArray[np.float64]


MANNERS = ("still", "rising", "sinking", "sliding", "shaking", "nearing", "leaving")
"""The manners told apart, in the order of the columns of :func:`manners_of`."""


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

    Raises:
        RecordError: If shapes do not fit.
    """

    video_id: str
    times: ArrayLike
    things: Mapping[str, ArrayLike]
    hands: Sequence[ArrayLike]
    handling: Handling
    manners: Manners | None = field(default=None)

    def observe(self) -> Observed:
        """Return the things handled in each chunk, and how they move."""
        times = np.asarray(self.times, dtype=np.float64)
        names, verbs = list(self.things), list(MANNERS)
        tracks = [_checked(name, self.things[name], len(times)) for name in names]
        hands = [_checked("hand", hand, len(times)) for hand in self.hands]
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
        usual = float(np.median(np.diff(times))) if len(times) > 1 else 0.0
        return Observed(self.video_id, chunks, float(times[-1]) + usual if len(times) else 0.0)

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
