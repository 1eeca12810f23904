"""The built-in features, of one object and of pairs of objects.

Lengths are in picture diagonals and times in seconds. Importing this module registers them.
"""

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from wordsight.meaning.features.bins import (
    CategoryBins,
    FixedBins,
    MagnitudeBins,
    QuantileBins,
    ShareBins,
    SignedBins,
)
from wordsight.meaning.features.columns import track_rates
from wordsight.meaning.features.registry import register_feature
from wordsight.meaning.features.view import ClipView

Array = NDArray[np.float64]

STILL = 0.008
"""Diagonals per second below which a box counts as still: the jitter of good tracks is less."""

ACCELERATING = 0.05
"""Diagonals per second that speed changes in a second, below which it counts as steady."""

PER_SECOND = "diagonals/s"


def _norm(vectors: Array) -> Array:
    return np.asarray(np.hypot(vectors[..., 0], vectors[..., 1]))


def _nanmin(values: Array) -> Array:
    """Return the minimum along the last axis, NaN where all values are."""
    known = np.isfinite(values)
    return np.where(known.any(axis=-1), np.where(known, values, np.inf).min(axis=-1), np.nan)


def _pairwise_difference(values: Array) -> Array:
    """Return ``(T, J, J, ...)`` the first object's value less the second's."""
    return values[:, :, None] - values[:, None]


# Features of one object.


@register_feature("speed", 1, MagnitudeBins(STILL), PER_SECOND)
def speed(view: ClipView) -> Array:
    """How fast it moves."""
    return _norm(view.velocity)


@register_feature("upper-speed", 1, MagnitudeBins(STILL), PER_SECOND)
def upper_speed(view: ClipView) -> Array:
    """How fast its upper part moves: the trunk of a person, bending or walking."""
    height, growth = view.sides[..., 1], view.growth[..., 1]
    down = view.velocity[..., 1] - 0.25 * height * growth
    return np.asarray(np.hypot(view.velocity[..., 0], down))


@register_feature("vertical-velocity", 1, SignedBins(STILL), PER_SECOND)
def vertical_velocity(view: ClipView) -> Array:
    """How fast it moves down (positive) or up (negative)."""
    return view.velocity[..., 1]


@register_feature("horizontal-velocity", 1, SignedBins(STILL), PER_SECOND)
def horizontal_velocity(view: ClipView) -> Array:
    """How fast it moves right (positive) or left (negative)."""
    return view.velocity[..., 0]


@register_feature("acceleration", 1, SignedBins(ACCELERATING), "diagonals/s²")
def acceleration(view: ClipView) -> Array:
    """How fast it gets faster (positive) or slower (negative); of tracks only."""
    if not view.tracked:
        return np.full(view.present.shape, np.nan)
    fast = speed(view)[..., None]
    return track_rates(view.times, fast, view.present & np.isfinite(fast[..., 0]))[..., 0]


@register_feature("growth", 1, SignedBins(0.05), "1/s")
def growth(view: ClipView) -> Array:
    """How fast its picture grows (positive) or shrinks (negative)."""
    return np.asarray(view.growth.sum(axis=-1))


@register_feature("widening", 1, SignedBins(0.05), "1/s")
def widening(view: ClipView) -> Array:
    """How fast it gets wider (positive) or narrower (negative): arms that reach out."""
    return view.growth[..., 0]


@register_feature("hand-distance", 1, QuantileBins(5), "diagonals")
def hand_distance(view: ClipView) -> Array:
    """How far the nearest hand is; not measured of people."""
    if not view.hands.shape[1]:
        return np.full(view.present.shape, np.nan)
    hands = view.hands[:, None]
    low, high = view.boxes[:, :, None, :2], view.boxes[:, :, None, 2:]
    outside = np.maximum(np.maximum(low - hands, hands - high), 0)
    to_centre = hands - view.centres[:, :, None]
    # Inside a large box the edge is uninformative; a fifth of the distance to the centre is not.
    far = _norm(outside)
    far = far + 0.2 * _norm(to_centre)
    return np.where(view.has_head, np.nan, _nanmin(far))


@register_feature("hand-to-head", 1, QuantileBins(5), "diagonals")
def hand_to_head(view: ClipView) -> Array:
    """How near the person's nearest hand is to the head."""
    if not view.hands.shape[1] or not view.heads.shape[1]:
        return np.full(view.present.shape, np.nan)
    apart = view.hands[:, :, None] - view.heads[:, None]
    least = _nanmin(_norm(apart).reshape(len(apart), -1))
    return np.where(view.has_head, least[:, None], np.nan)


@register_feature("hand-speed", 1, MagnitudeBins(STILL), PER_SECOND)
def hand_speed(view: ClipView) -> Array:
    """How fast the person's faster hand moves."""
    if not view.hands.shape[1]:
        return np.full(view.present.shape, np.nan)
    speeds = _norm(view.hand_velocity)
    return np.where(view.has_head, -_nanmin(-speeds)[:, None], np.nan)


@register_feature("area", 1, QuantileBins(5), "diagonals²")
def area(view: ClipView) -> Array:
    """How much of the picture it covers."""
    return np.asarray(view.sides.prod(axis=-1))


@register_feature("aspect", 1, QuantileBins(5), "log of height by width")
def aspect(view: ClipView) -> Array:
    """How much taller than wide it is."""
    return np.asarray(np.log(view.sides[..., 1] / view.sides[..., 0]))


TONES = ("cyan", "azure", "blue", "magenta", "red", "orange", "yellow", "green")
GREYS = ("dark", "grey", "bright")


@register_feature("tone", 1, CategoryBins((*TONES, *GREYS)), "")
def tone(view: ClipView) -> Array:
    """Which hue or grey most of it has, where the detector describes looks as regions do."""
    looks = view.clip.appearance
    count = len(TONES) + len(GREYS)
    if looks is None or not looks.shape[1] or looks.shape[2] < count:
        return np.full(view.present.shape, np.nan)
    shares = looks[view.frames[:, None], view.indices][..., :count]
    return np.where(view.indices >= 0, shares.argmax(axis=-1), np.nan)


# Features of two objects.


MOVING = 0.02
"""Diagonals per second above which an object counts as moving in ``together``."""

ALIKE = 0.6
"""Two velocities are alike when they differ by less than this share of the larger."""


@register_feature("distance", 2, QuantileBins(5), "diagonals")
def distance(view: ClipView) -> Array:
    """How far apart their centres are."""
    return _norm(_pairwise_difference(view.centres))


@register_feature("gap", 2, MagnitudeBins(1e-6), "diagonals")
def gap(view: ClipView) -> Array:
    """How far apart their boxes are, 0 where they touch."""
    low, high = view.boxes[..., :2], view.boxes[..., 2:]
    between = np.maximum(low[:, :, None] - high[:, None], low[:, None] - high[:, :, None])
    between = np.maximum(between, 0)
    return _norm(between)


@register_feature("distance-rate", 2, SignedBins(0.01), "diagonals/s")
def distance_rate(view: ClipView) -> Array:
    """How fast they part (positive) or close in (negative)."""
    apart = _pairwise_difference(view.centres)
    length = np.maximum(_norm(apart), 1e-3)
    return np.asarray((apart * _pairwise_difference(view.velocity)).sum(axis=-1) / length)


@register_feature(
    "together",
    2,
    CategoryBins(("both still", "only first moves", "only second moves", "together", "apart")),
    "",
)
def together(view: ClipView) -> Array:
    """Who moves, and whether both move alike."""
    speed = _norm(view.velocity)
    first, second = speed[:, :, None], speed[:, None]
    differ = _pairwise_difference(view.velocity)
    alike = _norm(differ) < ALIKE * np.maximum(first, second)
    cases = [
        (first <= MOVING) & (second <= MOVING),
        (first > MOVING) & (second <= MOVING),
        (first <= MOVING) & (second > MOVING),
        alike,
    ]
    return np.where(np.isfinite(first + second), np.select(cases, [0, 1, 2, 3], 4), np.nan)


@register_feature("share-inside", 2, ShareBins(), "")
def share_inside(view: ClipView) -> Array:
    """Which share of the second lies inside the box of the first."""
    low = np.maximum(view.boxes[:, :, None, :2], view.boxes[:, None, :, :2])
    high = np.minimum(view.boxes[:, :, None, 2:], view.boxes[:, None, :, 2:])
    common = np.maximum(high - low, 0).prod(axis=-1)
    return np.asarray(common / view.sides.prod(axis=-1)[:, None])


@register_feature("horizontal-offset", 2, QuantileBins(5), "diagonals")
def horizontal_offset(view: ClipView) -> Array:
    """How far the first is to the right (positive) or left (negative) of the second."""
    return _pairwise_difference(view.centres)[..., 0]


@register_feature("vertical-offset", 2, QuantileBins(5), "diagonals")
def vertical_offset(view: ClipView) -> Array:
    """How far the first is below (positive) or above (negative) the second."""
    return _pairwise_difference(view.centres)[..., 1]


@register_feature("size-ratio", 2, QuantileBins(5), "log of areas")
def size_ratio(view: ClipView) -> Array:
    """How much larger the first is than the second."""
    areas = np.log(view.sides.prod(axis=-1))
    return np.asarray(areas[:, :, None] - areas[:, None])


@register_feature("head-distance", 2, QuantileBins(5), "diagonals")
def head_distance(view: ClipView) -> Array:
    """How far the second is from the head of the first, or from where a head would be."""
    tops = np.stack([view.centres[..., 0], view.boxes[..., 1] + 0.1 * view.sides[..., 1]], axis=-1)
    if view.heads.shape[1]:
        tops = np.where(view.has_head[..., None], _nearest_heads(view, tops), tops)
    apart = tops[:, :, None] - view.centres[:, None]
    return _norm(apart)


def _nearest_heads(view: ClipView, tops: Array) -> Array:
    apart = view.heads[:, None] - tops[:, :, None]
    far = _norm(apart)
    nearest = np.where(np.isfinite(far), far, np.inf).argmin(axis=2)
    return np.take_along_axis(view.heads, nearest[..., None], axis=1)


# Features for meanings written by hand: few bins, with names. The edges suit videos in which a
# person is about a quarter of the picture's diagonal tall, as in the street corpus.


@register_feature("pace", 1, FixedBins((0.04, 0.16), ("still", "slow", "quick")), PER_SECOND)
def pace(view: ClipView) -> Array:
    """How fast its upper part moves, three bins."""
    return upper_speed(view)


@register_feature("stride", 1, FixedBins((0.05,), ("standing", "going")), PER_SECOND)
def stride(view: ClipView) -> Array:
    """Whether it goes sideways."""
    return np.asarray(np.abs(view.velocity[..., 0]))


@register_feature("rise", 1, FixedBins((-0.04, 0.04), ("up", "level", "down")), PER_SECOND)
def rise(view: ClipView) -> Array:
    """Whether it goes up or down."""
    return vertical_velocity(view)


@register_feature("nearness", 2, FixedBins((0.175,), ("near", "far")), "diagonals")
def nearness(view: ClipView) -> Array:
    """Whether the two are an arm's length apart or less, sideways."""
    return np.asarray(np.abs(horizontal_offset(view)))


@register_feature("lift", 2, FixedBins((0.03,), ("on the ground", "raised")), "diagonals")
def lift(view: ClipView) -> Array:
    """Whether the second is higher than where the first stands."""
    feet = view.boxes[..., 3]
    return np.asarray(feet[:, :, None] - feet[:, None])


@register_feature(
    "closing", 2, FixedBins((-0.04, 0.04), ("closing", "steady", "parting")), PER_SECOND
)
def closing(view: ClipView) -> Array:
    """Whether the two come nearer or part, sideways."""
    apart = view.velocity[:, :, None, 0] - view.velocity[:, None, :, 0]
    return np.asarray(np.sign(horizontal_offset(view)) * apart)


@register_feature("side", 2, FixedBins((-0.03, 0.03), ("left", "level", "right")), "diagonals")
def side(view: ClipView) -> Array:
    """On which side of the second the first is."""
    return horizontal_offset(view)


# Features of Table 2 of Yu & Siskind (2013) as the paper prints them. The authors found edges of
# bins by clustering; those of their own program are the default here. Their lengths are pixels of a
# 1280x960 picture (diagonal 1600), their speeds pixels per frame of a 640x480 video (diagonal 800)
# at 40 frames per second; here both are in diagonals and seconds.


_SPEED_CENTRES = ((0.056, 0.036), (0.453, 0.240), (2.048, 0.670), (5.005, 0.981), (10.0, 3.0))
_PER_SECOND = 40 / 800
_LENGTH = 1 / 1600


def _between(one: tuple[float, float], other: tuple[float, float]) -> float:
    """Return where two centres are equally near, each distance divided by the root of a spread."""
    (low, low_spread), (high, high_spread) = one, other
    near, far = np.sqrt(low_spread), np.sqrt(high_spread)
    return float((low * far + high * near) / (near + far))


_SPEED_EDGES = tuple(_between(*two) * _PER_SECOND for two in pairwise(_SPEED_CENTRES))


@register_feature("paper-speed", 1, FixedBins(_SPEED_EDGES), "diagonals/s")
def paper_speed(view: ClipView) -> Array:
    """Magnitude of the velocity, five bins."""
    return speed(view)


@register_feature(
    "paper-direction",
    1,
    FixedBins(
        tuple(np.pi * np.array([-0.75, -0.25, 0.25, 0.75])),
        ("left", "up", "right", "down"),
        circular=True,
    ),
    "radians",
)
def paper_direction(view: ClipView) -> Array:
    """Direction of the velocity, four bins; y grows downward, so up is negative."""
    return np.asarray(np.arctan2(view.velocity[..., 1], view.velocity[..., 0]))


@register_feature("paper-distance", 2, FixedBins((246.5 * _LENGTH, 356.0 * _LENGTH)), "diagonals")
def paper_distance(view: ClipView) -> Array:
    """Distance of the centres, three bins around 193, 300 and 412 of 1600."""
    return distance(view)


@register_feature("paper-size-ratio", 2, FixedBins((1.3,)), "")
def paper_size_ratio(view: ClipView) -> Array:
    """Ratio of the areas, two bins around 0.5 and 2.1."""
    return np.asarray(np.exp(size_ratio(view)))


@register_feature(
    "paper-x-position",
    2,
    FixedBins((0.0,), ("first left", "first right")),
    "diagonals",
)
def paper_x_position(view: ClipView) -> Array:
    """Whether the first is to the left or to the right of the second."""
    return horizontal_offset(view)
