"""Features of one thing: how it moves and grows, where hands are, how it looks."""

import numpy as np
from numpy.typing import NDArray

from wordsight.meaning.features.bins import Categories, Magnitude, Plain, Signed
from wordsight.meaning.features.feature import register
from wordsight.meaning.features.view import ClipView

__all__: list[str] = []

Array = NDArray[np.float64]

STILL = 0.008
"""Diagonals per second under which a box counts as still: jitter of good tracks stays below."""

PER_SECOND = "diagonals/s"


@register("speed", 1, Magnitude(STILL), PER_SECOND)
def speed(view: ClipView) -> Array:
    """How fast it moves."""
    return np.asarray(np.hypot(view.velocity[..., 0], view.velocity[..., 1]))


@register("upper-speed", 1, Magnitude(STILL), PER_SECOND)
def upper_speed(view: ClipView) -> Array:
    """How fast its upper part moves: the trunk of a person, bending or walking."""
    height, growth = view.sides[..., 1], view.growth[..., 1]
    down = view.velocity[..., 1] - 0.25 * height * growth
    return np.asarray(np.hypot(view.velocity[..., 0], down))


@register("vertical-velocity", 1, Signed(STILL), PER_SECOND)
def vertical_velocity(view: ClipView) -> Array:
    """How fast it moves down (positive) or up (negative)."""
    return view.velocity[..., 1]


@register("horizontal-velocity", 1, Signed(STILL), PER_SECOND)
def horizontal_velocity(view: ClipView) -> Array:
    """How fast it moves right (positive) or left (negative)."""
    return view.velocity[..., 0]


@register("growth", 1, Signed(0.05), "1/s")
def growth(view: ClipView) -> Array:
    """How fast its picture grows (positive) or shrinks (negative)."""
    return np.asarray(view.growth.sum(axis=-1))


@register("widening", 1, Signed(0.05), "1/s")
def widening(view: ClipView) -> Array:
    """How fast it gets wider (positive) or narrower (negative): arms that reach out."""
    return view.growth[..., 0]


@register("hand-distance", 1, Plain(5), "diagonals")
def hand_distance(view: ClipView) -> Array:
    """How far the nearest hand is; not said of whoever the hand belongs to."""
    if not view.hands.shape[1]:
        return np.full(view.present.shape, np.nan)
    hands = view.hands[:, None]
    low, high = view.boxes[:, :, None, :2], view.boxes[:, :, None, 2:]
    outside = np.maximum(np.maximum(low - hands, hands - high), 0)
    to_centre = hands - view.centres[:, :, None]
    # Inside a large box the edge says nothing more; a fifth of the way to the centre still does.
    far = np.hypot(outside[..., 0], outside[..., 1])
    far = far + 0.2 * np.hypot(to_centre[..., 0], to_centre[..., 1])
    return np.where(view.has_head, np.nan, _least(far))


@register("hand-to-head", 1, Plain(5), "diagonals")
def hand_to_head(view: ClipView) -> Array:
    """How near the person's nearest hand is to the head."""
    if not view.hands.shape[1] or not view.heads.shape[1]:
        return np.full(view.present.shape, np.nan)
    apart = view.hands[:, :, None] - view.heads[:, None]
    least = _least(np.hypot(apart[..., 0], apart[..., 1]).reshape(len(apart), -1))
    return np.where(view.has_head, least[:, None], np.nan)


@register("hand-speed", 1, Magnitude(STILL), PER_SECOND)
def hand_speed(view: ClipView) -> Array:
    """How fast the person's faster hand moves."""
    if not view.hands.shape[1]:
        return np.full(view.present.shape, np.nan)
    speeds = np.hypot(view.hand_velocity[..., 0], view.hand_velocity[..., 1])
    return np.where(view.has_head, -_least(-speeds)[:, None], np.nan)


@register("area", 1, Plain(5), "diagonals²")
def area(view: ClipView) -> Array:
    """How much of the picture it covers."""
    return np.asarray(view.sides.prod(axis=-1))


@register("aspect", 1, Plain(5), "log of height by width")
def aspect(view: ClipView) -> Array:
    """How much taller than wide it is."""
    return np.asarray(np.log(view.sides[..., 1] / view.sides[..., 0]))


TONES = ("cyan", "azure", "blue", "magenta", "red", "orange", "yellow", "green")
GREYS = ("dark", "grey", "bright")


@register("tone", 1, Categories((*TONES, *GREYS)), "")
def tone(view: ClipView) -> Array:
    """Which hue or grey most of it has, where the detector describes looks as regions do."""
    looks = view.clip.appearance
    count = len(TONES) + len(GREYS)
    if looks is None or looks.shape[2] < count:
        return np.full(view.present.shape, np.nan)
    found = looks[view.frames[:, None], view.places][..., :count]
    return np.where(view.places >= 0, found.argmax(axis=-1), np.nan)


def _least(values: Array) -> Array:
    """Return the least along the last axis, NaN where nothing is known."""
    known = np.isfinite(values)
    least = np.where(known, values, np.inf).min(axis=-1)
    return np.where(known.any(axis=-1), least, np.nan)
