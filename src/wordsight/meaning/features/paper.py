"""The features of Table 2 of Yu & Siskind (2013), with the constants of the authors' own program.

Their lengths are pixels of a 1280x960 picture (diagonal 1600), their speeds pixels per frame of a
640x480 film (diagonal 800) at 40 frames per second; here both are in diagonals and seconds.
"""

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from wordsight.meaning.features.bins import Fixed
from wordsight.meaning.features.feature import register
from wordsight.meaning.features.pairs import horizontal_offset, size_ratio
from wordsight.meaning.features.single import speed
from wordsight.meaning.features.view import ClipView

__all__: list[str] = []

Array = NDArray[np.float64]

_SPEED_CENTRES = ((0.056, 0.036), (0.453, 0.240), (2.048, 0.670), (5.005, 0.981), (10.0, 3.0))
_PER_SECOND = 40 / 800
_LENGTH = 1 / 1600


def _between(one: tuple[float, float], other: tuple[float, float]) -> float:
    """Return where two centres are equally near, each distance divided by the root of a spread."""
    (low, low_spread), (high, high_spread) = one, other
    near, far = np.sqrt(low_spread), np.sqrt(high_spread)
    return float((low * far + high * near) / (near + far))


_SPEED_EDGES = tuple(_between(*two) * _PER_SECOND for two in pairwise(_SPEED_CENTRES))


@register("paper-speed", 1, Fixed(_SPEED_EDGES), "diagonals/s")
def paper_speed(view: ClipView) -> Array:
    """Magnitude of the velocity, five bins."""
    return speed(view)


@register(
    "paper-direction",
    1,
    Fixed(
        tuple(np.pi * np.array([-0.75, -0.25, 0.25, 0.75])),
        ("left", "up", "right", "down"),
        circular=True,
    ),
    "radians",
)
def paper_direction(view: ClipView) -> Array:
    """Direction of the velocity, four bins; y grows downward, so up is negative."""
    return np.asarray(np.arctan2(view.velocity[..., 1], view.velocity[..., 0]))


@register("paper-distance", 2, Fixed((246.5 * _LENGTH, 356.0 * _LENGTH)), "diagonals")
def paper_distance(view: ClipView) -> Array:
    """Horizontal distance of the centres, three bins around 193, 300 and 412 of 1600."""
    return np.asarray(np.abs(horizontal_offset(view)))


@register("paper-size-ratio", 2, Fixed((1.3,), ("second larger", "first larger")), "")
def paper_size_ratio(view: ClipView) -> Array:
    """Ratio of the areas, two bins around 0.5 and 2.1."""
    return np.asarray(np.exp(size_ratio(view)))


@register(
    "paper-x-position",
    2,
    Fixed((-50 * _LENGTH, 50 * _LENGTH), ("first left", "neither", "first right")),
    "diagonals",
)
def paper_x_position(view: ClipView) -> Array:
    """Whether the first is clearly to the left or to the right of the second."""
    return horizontal_offset(view)
