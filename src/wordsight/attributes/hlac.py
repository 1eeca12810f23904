r"""Higher-order local autocorrelation: how often small patterns of pixels occur, wherever they are.

For pixel values f and two offsets within a 3 x 3 window, the features are the means over all
pixels r of :math:`f(r)`, :math:`f(r)f(r+a)` and :math:`f(r)f(r+a)f(r+b)`, each pattern once up to
translation. Moving a thing within the picture changes none of them.
"""

from functools import cache
from itertools import combinations_with_replacement

import numpy as np
from numpy.typing import NDArray

from wordsight.attributes.errors import TeachingError

__all__ = ["Mask", "autocorrelation", "masks"]

Mask = tuple[tuple[int, int], ...]
"""The pixels that are multiplied: row and column offsets, the first being the centre."""

_WINDOW = tuple((row, column) for row in (-1, 0, 1) for column in (-1, 0, 1))
_CENTRE = _WINDOW.index((0, 0))
_PIXELS_AT_ONCE = 1 << 15  # keeps the neighbourhoods of a block within the processor's cache


@cache
def masks(number: int = 25) -> tuple[Mask, ...]:
    """Enumerate the patterns of one, two or three pixels around a centre.

    Args:
        number: 25, where the pixels of a pattern differ (enough for two-valued pictures), or 35,
            where a pixel may be multiplied with itself.

    Returns:
        The patterns, those of fewer pixels first; no two are the same up to translation.

    Raises:
        TeachingError: If ``number`` is neither.

    Example:
        >>> [sum(len(mask) == order for mask in masks(25)) for order in (1, 2, 3)]
        [1, 4, 20]
    """
    if number not in (25, 35):
        raise TeachingError(f"there are 25 or 35 masks, not {number}.")
    found: dict[frozenset[tuple[int, int, int]], Mask] = {}
    for order in (0, 1, 2):
        for others in combinations_with_replacement(_WINDOW, order):
            mask = ((0, 0), *others)
            if number == 25 and len(set(mask)) < len(mask):
                continue
            found.setdefault(_shape(mask), mask)
    return tuple(found.values())


def _shape(mask: Mask) -> frozenset[tuple[int, int, int]]:
    """Return what translation does not change: offsets from the upper left, with multiplicity."""
    top, left = (min(point[axis] for point in mask) for axis in (0, 1))
    return frozenset((row - top, column - left, mask.count((row, column))) for row, column in mask)


def autocorrelation(pictures: NDArray[np.floating], number: int = 25) -> NDArray[np.float64]:
    """Measure the patterns in grey pictures of one size.

    All products of three pixels around a centre at once are one matrix product: the neighbourhoods
    weighted by their centre, times the neighbourhoods.

    Args:
        pictures: ``(N, H, W)`` values, best of about unit size.
        number: 25 or 35 masks.

    Returns:
        ``(N, number)`` means over the pixels whose window lies within the picture; zeros where
        the picture is smaller than the window.
    """
    patterns = masks(number)
    found = np.zeros((len(pictures), number))
    if min(pictures.shape[1:]) < 3:
        return found
    order = [len(mask) for mask in patterns]
    places = [[_WINDOW.index(point) for point in mask[1:]] for mask in patterns]
    step = max(1, _PIXELS_AT_ONCE // (pictures.shape[1] * pictures.shape[2]))
    for start in range(0, len(pictures), step):
        block = slice(start, start + step)
        near = _neighbourhoods(np.asarray(pictures[block], dtype=np.float32))
        centre = near[:, _CENTRE]
        threes = (near * centre[:, None]) @ near.transpose(0, 2, 1)
        twos = (near @ centre[..., None])[..., 0]
        ones = centre.sum(axis=1)
        for column, (size, place) in enumerate(zip(order, places, strict=True)):
            if size == 1:
                found[block, column] = ones
            elif size == 2:
                found[block, column] = twos[:, place[0]]
            else:
                found[block, column] = threes[:, place[0], place[1]]
    return np.asarray(found / ((pictures.shape[1] - 2) * (pictures.shape[2] - 2)))


def _neighbourhoods(pictures: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return ``(N, 9, pixels)`` the window around every inner pixel."""
    rows, columns = pictures.shape[1] - 2, pictures.shape[2] - 2
    shifted = [
        pictures[:, 1 + row : 1 + row + rows, 1 + column : 1 + column + columns]
        for row, column in _WINDOW
    ]
    return np.stack(shifted, axis=1).reshape(len(pictures), len(_WINDOW), -1)
