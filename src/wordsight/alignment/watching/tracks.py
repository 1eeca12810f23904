"""Observations from tracks of hands and things, in pictures or in space: what a hand is near."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wordsight.alignment.records import Observed
from wordsight.alignment.watching.motion import MANNERS, Manners, manners_of, smoothed, speeds_of
from wordsight.alignment.watching.source import chunks_of_frames
from wordsight.errors import RecordError

__all__ = ["Handling", "TrackedThings"]

Array = NDArray[np.float64]


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
