"""Features of two things: how far, which way, closing in, moving together, one inside the other."""

import numpy as np
from numpy.typing import NDArray

from wordsight.meaning.features.bins import Categories, Magnitude, Plain, Share, Signed
from wordsight.meaning.features.feature import register
from wordsight.meaning.features.view import ClipView

__all__: list[str] = []

Array = NDArray[np.float64]

MOVING = 0.02
"""Diagonals per second above which a thing moves for the purpose of moving together."""

ALIKE = 0.6
"""Two velocities are alike when they differ by less than this share of the larger."""


@register("distance", 2, Plain(5), "diagonals")
def distance(view: ClipView) -> Array:
    """How far apart their centres are."""
    apart = _apart(view.centres)
    return np.asarray(np.hypot(apart[..., 0], apart[..., 1]))


@register("gap", 2, Magnitude(1e-6), "diagonals")
def gap(view: ClipView) -> Array:
    """How far apart their boxes are, 0 where they touch."""
    low, high = view.boxes[..., :2], view.boxes[..., 2:]
    between = np.maximum(low[:, :, None] - high[:, None], low[:, None] - high[:, :, None])
    between = np.maximum(between, 0)
    return np.asarray(np.hypot(between[..., 0], between[..., 1]))


@register("distance-rate", 2, Signed(0.01), "diagonals/s")
def distance_rate(view: ClipView) -> Array:
    """How fast they part (positive) or close in (negative)."""
    apart = _apart(view.centres)
    length = np.maximum(np.hypot(apart[..., 0], apart[..., 1]), 1e-3)
    return np.asarray((apart * _apart(view.velocity)).sum(axis=-1) / length)


@register(
    "together",
    2,
    Categories(("both still", "only first moves", "only second moves", "together", "apart")),
    "",
)
def together(view: ClipView) -> Array:
    """Who moves, and whether both move alike."""
    speed = np.hypot(view.velocity[..., 0], view.velocity[..., 1])
    first, second = speed[:, :, None], speed[:, None]
    differ = _apart(view.velocity)
    alike = np.hypot(differ[..., 0], differ[..., 1]) < ALIKE * np.maximum(first, second)
    cases = [
        (first <= MOVING) & (second <= MOVING),
        (first > MOVING) & (second <= MOVING),
        (first <= MOVING) & (second > MOVING),
        alike,
    ]
    return np.where(np.isfinite(first + second), np.select(cases, [0, 1, 2, 3], 4), np.nan)


@register("share-inside", 2, Share(), "")
def share_inside(view: ClipView) -> Array:
    """Which share of the second lies inside the box of the first."""
    low = np.maximum(view.boxes[:, :, None, :2], view.boxes[:, None, :, :2])
    high = np.minimum(view.boxes[:, :, None, 2:], view.boxes[:, None, :, 2:])
    common = np.maximum(high - low, 0).prod(axis=-1)
    return np.asarray(common / view.sides.prod(axis=-1)[:, None])


@register("horizontal-offset", 2, Plain(5), "diagonals")
def horizontal_offset(view: ClipView) -> Array:
    """How far the first is to the right (positive) or left (negative) of the second."""
    return _apart(view.centres)[..., 0]


@register("vertical-offset", 2, Plain(5), "diagonals")
def vertical_offset(view: ClipView) -> Array:
    """How far the first is below (positive) or above (negative) the second."""
    return _apart(view.centres)[..., 1]


@register("size-ratio", 2, Plain(5), "log of areas")
def size_ratio(view: ClipView) -> Array:
    """How much larger the first is than the second."""
    areas = np.log(view.sides.prod(axis=-1))
    return np.asarray(areas[:, :, None] - areas[:, None])


@register("head-distance", 2, Plain(5), "diagonals")
def head_distance(view: ClipView) -> Array:
    """How far the second is from the head of the first, or from where a head would be."""
    tops = np.stack([view.centres[..., 0], view.boxes[..., 1] + 0.1 * view.sides[..., 1]], axis=-1)
    if view.heads.shape[1]:
        tops = np.where(view.has_head[..., None], _nearest_heads(view, tops), tops)
    apart = tops[:, :, None] - view.centres[:, None]
    return np.asarray(np.hypot(apart[..., 0], apart[..., 1]))


def _nearest_heads(view: ClipView, tops: Array) -> Array:
    apart = view.heads[:, None] - tops[:, :, None]
    far = np.hypot(apart[..., 0], apart[..., 1])
    nearest = np.where(np.isfinite(far), far, np.inf).argmin(axis=2)
    return np.take_along_axis(view.heads, nearest[..., None], axis=1)


def _apart(values: Array) -> Array:
    """Return ``(T, J, J, ...)`` the first's value less the second's."""
    return values[:, :, None] - values[:, None]
