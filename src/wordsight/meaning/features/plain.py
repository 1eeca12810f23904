"""Features that people can write meanings with: few bins, with names, cut where people would.

Lengths are picture diagonals: the cuts suit films in which a person is about a quarter of the
picture's diagonal tall, as in the street corpus.
"""

import numpy as np
from numpy.typing import NDArray

from wordsight.meaning.features.bins import Fixed
from wordsight.meaning.features.feature import register
from wordsight.meaning.features.pairs import horizontal_offset
from wordsight.meaning.features.single import PER_SECOND, upper_speed, vertical_velocity
from wordsight.meaning.features.view import ClipView

__all__: list[str] = []

Array = NDArray[np.float64]


@register("pace", 1, Fixed((0.04, 0.16), ("still", "slow", "quick")), PER_SECOND)
def pace(view: ClipView) -> Array:
    """How fast its upper part moves, three bins."""
    return upper_speed(view)


@register("stride", 1, Fixed((0.05,), ("standing", "going")), PER_SECOND)
def stride(view: ClipView) -> Array:
    """Whether it goes sideways."""
    return np.asarray(np.abs(view.velocity[..., 0]))


@register("rise", 1, Fixed((-0.04, 0.04), ("up", "level", "down")), PER_SECOND)
def rise(view: ClipView) -> Array:
    """Whether it goes up or down."""
    return vertical_velocity(view)


@register("nearness", 2, Fixed((0.175,), ("near", "far")), "diagonals")
def nearness(view: ClipView) -> Array:
    """Whether the two are an arm's length apart or less, sideways."""
    return np.asarray(np.abs(horizontal_offset(view)))


@register("lift", 2, Fixed((0.03,), ("on the ground", "raised")), "diagonals")
def lift(view: ClipView) -> Array:
    """Whether the second is higher than where the first stands."""
    feet = view.boxes[..., 3]
    return np.asarray(feet[:, :, None] - feet[:, None])


@register("closing", 2, Fixed((-0.04, 0.04), ("closing", "steady", "parting")), PER_SECOND)
def closing(view: ClipView) -> Array:
    """Whether the two come nearer or part, sideways."""
    apart = view.velocity[:, :, None, 0] - view.velocity[:, None, :, 0]
    return np.asarray(np.sign(horizontal_offset(view)) * apart)


@register("side", 2, Fixed((-0.03, 0.03), ("left", "level", "right")), "diagonals")
def side(view: ClipView) -> Array:
    """On which side of the second the first is."""
    return horizontal_offset(view)
