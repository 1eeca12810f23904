"""Ragged rows packed as they come, so that an hour of video takes its bytes and hardly more.

Tens of thousands of frames with a few small arrays each cost several times their content in
allocations; a block of frames joined into one array per field does not.
"""

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

__all__ = ["blocks_of", "spread"]

_BLOCK = 256  # frames

Item = TypeVar("Item")
Packed = TypeVar("Packed")


def blocks_of(items: Iterable[Item], pack: Callable[[list[Item]], Packed]) -> Iterator[Packed]:
    """Take items a block at a time and yield each block packed; only one is held unpacked."""
    following = iter(items)
    while block := list(islice(following, _BLOCK)):
        yield pack(block)


def spread(
    blocks: Iterable[NDArray[Any] | None], mask: NDArray[np.bool_], width: int | None, dtype: Any
) -> NDArray[Any]:
    """Fill the true places of a mask, row by row, with the rows of packed blocks.

    Args:
        blocks: Per block of rows of the mask the values of its true places, ``(n,)`` or
            ``(n, width)``; ``None`` leaves them zero.
        mask: ``(T, J)`` where values belong.
        width: Size of the last axis, or ``None`` if there is none.
        dtype: Type of the result.

    Returns:
        ``(T, J)`` or ``(T, J, width)``, zero outside the mask.
    """
    shape = mask.shape if width is None else (*mask.shape, width)
    array = np.zeros(shape, dtype=dtype)
    for number, values in enumerate(blocks):
        rows = slice(number * _BLOCK, (number + 1) * _BLOCK)
        if values is not None and len(values):
            array[rows][mask[rows]] = values
    return array
