"""Features of tracks: motion of single objects, relations of pairs, and declared features.

Boxes come as ``(T, n, P, 4)``: an object may have several parts, such as a person's hands, and is
NaN where it is not visible. Time spans become whole frames by the usual step between frames.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wordsight.states.grounding.stabilise import heights_above_table
from wordsight.states.rules.vocabulary import Recipe, StateVocabulary

__all__ = ["Motion", "derived_features", "pair_features", "ranks", "shifted", "single_features"]

Array = NDArray[np.float64]

_SPEED_SPAN = 0.1  # seconds to each side; annotated boxes jitter from frame to frame
_BRIEF, _LONG = 1 / 3, 1.0  # seconds; the spans over which displacement is measured
_MOVING = 30.0  # pixels per second; jitter of resting boxes stays below
_NEVER = 30.0  # seconds; an object that has rested for longer may as well never have moved
_RESTING_FRAMES = 5  # number of frames whose mean is the first place


@dataclass(frozen=True)
class Motion:
    """Tracks from which features are computed.

    Attributes:
        times: ``(T,)`` seconds.
        boxes: ``(T, n, P, 4)`` boxes of parts, NaN where absent.
        whole: ``(T, n, 4)`` the box around all parts.
        areas: ``(T, n)`` areas in pixels.
        kinds: ``(n,)`` number of each object's kind.
        causal: Whether features may not depend on later frames.
        steady: Whether the camera does not shake, so that the table has one height.
    """

    times: Array
    boxes: Array
    whole: Array
    areas: Array
    kinds: NDArray[np.intp]
    causal: bool = False
    steady: bool = False

    def frames(self, seconds: float) -> int:
        """Return a time span as a number of frames, at least one."""
        if len(self.times) < 2:
            return 1
        return max(1, round(seconds / float(np.median(np.diff(self.times)))))

    def velocity(self, places: Array) -> Array:
        """Return the velocity of ``(T, ..., 2)`` places, in pixels per second."""
        span = self.frames(_SPEED_SPAN)
        ahead = 0 if self.causal else span
        back = 2 * span if self.causal else span
        elapsed = shifted(self.times, ahead) - shifted(self.times, -back)
        moved = shifted(places, ahead) - shifted(places, -back)
        safe = np.where(elapsed > 0, elapsed, 1.0)
        velocity: Array = moved / safe.reshape(-1, *(1,) * (places.ndim - 1))
        return velocity


def shifted(values: Array, frames: int) -> Array:
    """Return the values of some frames later, with the ends repeated."""
    rows = np.clip(np.arange(len(values)) + frames, 0, max(0, len(values) - 1))
    return values[rows]


def centres(boxes: Array) -> Array:
    """Return ``(..., 2)`` the middle of boxes."""
    middle: Array = (boxes[..., :2] + boxes[..., 2:]) / 2
    return middle


def ranks(values: Array, kinds: NDArray[np.intp]) -> Array:
    """Return how many objects of the same kind have a greater value, along the last axis."""
    same = kinds[:, None] == kinds[None, :]
    greater = values[..., None, :] > values[..., :, None]
    counted: Array = (greater & same).sum(axis=-1).astype(np.float64)
    counted[np.isnan(values)] = np.nan
    return counted


def single_features(motion: Motion) -> dict[str, Array]:
    """Return ``(T, n)`` features of each object; if causal, only those of earlier frames."""
    places = centres(motion.whole)
    velocity = motion.velocity(places)
    speed = _length(velocity)
    absent = np.isnan(motion.whole[..., 0])
    features = {
        "direction": _direction(velocity),
        "speed": speed,
        "elevation": _elevation(motion),
        "morph": motion.velocity(motion.areas[..., None])[..., 0] / np.maximum(motion.areas, 1.0),
        "still": _since(speed >= _MOVING, absent, motion.times),
        "speed_rank": ranks(speed, motion.kinds),
    }
    features |= _travels(motion, places, 1, "")
    first = _resting(places, forward=True)
    features["away"], features["above"] = _length(places - first), first[..., 1] - places[..., 1]
    if not motion.causal:
        features |= _noncausal(motion, places, speed, absent)
    for values in features.values():
        values[absent] = np.nan
    return features


def _noncausal(
    motion: Motion, places: Array, speed: Array, absent: NDArray[np.bool_]
) -> dict[str, Array]:
    long = motion.frames(_LONG)
    last = _resting(places, forward=False)
    backwards = _since(speed[::-1] >= _MOVING, absent[::-1], -motion.times[::-1])[::-1].copy()
    return {
        **_travels(motion, places, -1, "_next"),
        "travel_both": _length(shifted(places, long) - shifted(places, -long)),
        "still_next": backwards,
        "away_last": _length(places - last),
        "above_last": last[..., 1] - places[..., 1],
    }


def _travels(motion: Motion, places: Array, sign: int, suffix: str) -> dict[str, Array]:
    brief, long = (
        _length(places - shifted(places, -sign * motion.frames(span))) for span in (_BRIEF, _LONG)
    )
    return {
        f"dash{suffix}": brief,
        f"travel{suffix}": long,
        f"travel{suffix}_rank": ranks(long, motion.kinds),
    }


def pair_features(motion: Motion) -> dict[str, Array]:
    """Return ``(T, n, n)`` features of ordered pairs, measured between their nearest parts."""
    parts = [_part(motion, p) for p in range(motion.boxes.shape[2])]
    features: dict[str, Array] = {}
    for one in parts:
        for other in parts:
            here = _between(one, other)
            if not features:
                features = here
                continue
            nearer = ~(here["distance"] >= features["distance"])
            nearer &= ~np.isnan(here["distance"])
            features = {name: np.where(nearer, here[name], features[name]) for name in features}
    gap = features["distance"]
    features["distance_change"] = motion.velocity(gap[..., None])[..., 0]
    if motion.causal:
        del features["drift_next"]
    diagonal = np.arange(gap.shape[1])
    for values in features.values():
        values[:, diagonal, diagonal] = np.nan
    features["distance_rank"] = ranks(-gap, motion.kinds)
    return features


@dataclass(frozen=True)
class _Part:
    """One part of every object: box, velocity, past and coming displacement, ``(T, n, ...)``."""

    boxes: Array
    velocity: Array
    past: Array
    coming: Array


def _part(motion: Motion, number: int) -> _Part:
    boxes = motion.boxes[:, :, number]
    places, long = centres(boxes), motion.frames(_LONG)
    past, coming = places - shifted(places, -long), shifted(places, long) - places
    return _Part(boxes, motion.velocity(places), past, coming)


def _between(one: _Part, other: _Part) -> dict[str, Array]:
    a, b = one.boxes[:, :, None], other.boxes[:, None, :]
    gaps = np.maximum(np.maximum(a[..., :2] - b[..., 2:], b[..., :2] - a[..., 2:]), 0.0)
    shared = np.minimum(a[..., 2:], b[..., 2:]) - np.maximum(a[..., :2], b[..., :2])
    smaller = np.minimum(_area(a), _area(b))
    step = centres(b) - centres(a)
    turn = _direction(one.velocity)[:, :, None] - _direction(other.velocity)[:, None, :]
    return {
        "distance": _length(gaps),
        "compass": _heading(step),
        "angle": np.abs((turn + 180.0) % 360.0 - 180.0),
        "overlap": np.prod(np.maximum(shared, 0.0), axis=-1) / np.maximum(smaller, 1e-9),
        "vertical_gap": b[..., 1] - a[..., 3],
        "relative_speed": _length(one.velocity[:, :, None] - other.velocity[:, None, :]),
        "drift": _length(one.past[:, :, None] - other.past[:, None, :]),
        "drift_next": _length(one.coming[:, :, None] - other.coming[:, None, :]),
    }


def _length(steps: Array) -> Array:
    length: Array = np.sqrt(np.einsum("...k,...k->...", steps, steps))
    return length


def _heading(steps: Array) -> Array:
    heading: Array = np.degrees(np.arctan2(-steps[..., 1], steps[..., 0])) % 360.0
    return heading


def _direction(velocity: Array) -> Array:
    """Return headings; NaN for objects that hardly move, whose jitter has no direction."""
    return np.where(_length(velocity) >= _MOVING, _heading(velocity), np.nan)


def _area(boxes: Array) -> Array:
    return np.asarray(np.prod(boxes[..., 2:] - boxes[..., :2], axis=-1), dtype=np.float64)


def _elevation(motion: Motion) -> Array:
    bottoms = motion.whole[..., 3]
    if motion.steady:
        return heights_above_table(motion.whole, motion.times)
    known = np.where(np.isnan(bottoms), -np.inf, bottoms)
    elevation: Array = known.max(axis=1, initial=-np.inf, keepdims=True) - bottoms
    return elevation


def _since(moving: NDArray[np.bool_], absent: NDArray[np.bool_], times: Array) -> Array:
    """Return ``(T, n)`` seconds since each object last moved, or since it was first seen.

    What happened before is not known: an object may be in a hand that has not moved yet.
    """
    first = np.where(absent, np.inf, times[:, None]).min(axis=0, initial=np.inf)
    last = np.maximum.accumulate(np.where(moving, times[:, None], first), axis=0)
    return np.minimum(times[:, None] - last, _NEVER)


def _resting(places: Array, *, forward: bool) -> Array:
    """Return ``(n, 2)`` the mean place of each object in its first, or last, visible frames."""
    known = ~np.isnan(places[..., 0])
    order = np.cumsum(known if forward else known[::-1], axis=0)
    used = (order <= _RESTING_FRAMES) & (known if forward else known[::-1])
    seen = np.where(used[..., None], places if forward else places[::-1], 0.0)
    resting: Array = seen.sum(axis=0) / np.maximum(used.sum(axis=0), 1)[:, None]
    return resting


def derived_features(
    vocabulary: StateVocabulary, features: dict[str, Array], motion: Motion
) -> dict[str, Array]:
    """Return the declared features of a vocabulary; later ones may build on earlier ones.

    Args:
        vocabulary: The declared features.
        features: The built-in features, ``(T, n)`` or ``(T, n, n)``.
        motion: Tracks of the objects.
    """
    derived: dict[str, Array] = {}
    sizes = motion.whole[..., 2:] - motion.whole[..., :2]
    further = {"width": sizes[..., 0], "height": sizes[..., 1]}
    for feature in vocabulary.features:
        if feature.recipe is None and feature.name in further:
            derived[feature.name] = further[feature.name]
        elif feature.recipe is not None:
            source = {**features, **derived}[feature.recipe.source]
            derived[feature.name] = _computed(feature.recipe, source, motion)
    return derived


def _computed(recipe: Recipe, source: Array, motion: Motion) -> Array:
    span = motion.frames(recipe.seconds)
    if recipe.operation == "mean":
        return _running_mean(source, span)
    if recipe.operation == "change":
        return source - shifted(source, -span)
    if recipe.operation == "coming change":
        return shifted(source, span) - source
    if recipe.operation == "rank":
        return ranks(source, motion.kinds)
    empty = np.inf if recipe.operation == "least" else -np.inf
    filled = np.where(np.isnan(source), empty, source)
    best = filled.min(axis=2) if recipe.operation == "least" else filled.max(axis=2)
    return np.where(np.isinf(best), np.nan, best)


def _running_mean(source: Array, span: int) -> Array:
    """Return means over a window of ``span`` frames around each, ignoring missing values."""
    known = ~np.isnan(source)
    rows = np.arange(len(source))
    low = np.clip(rows - span // 2, 0, len(source))
    high = np.clip(rows - span // 2 + span, 0, len(source))
    sums, counts = (
        np.concatenate([np.zeros((1, *source.shape[1:])), np.cumsum(values, axis=0)])
        for values in (np.where(known, source, 0.0), known.astype(np.float64))
    )
    total, count = sums[high] - sums[low], counts[high] - counts[low]
    return np.where(known, total / np.maximum(count, 1.0), np.nan)
