"""Work areas that live on between calls, because asking the system for memory again costs time."""

import math
import threading

import numpy as np
from numpy.typing import NDArray

__all__ = ["aligned", "borrowed"]

_MOST_KEPT = 8 << 20
"""Numbers an area may hold to be kept, 64 MiB of them; larger ones are rare and given back."""


class _Areas(threading.local):
    def __init__(self) -> None:
        self.by_name: dict[str, NDArray[np.float64]] = {}


_AREAS = _Areas()


def borrowed(name: str, shape: tuple[int, ...]) -> NDArray[np.float64]:
    """Return an array with arbitrary content, good until this thread borrows that name again."""
    size = math.prod(shape)
    area = _AREAS.by_name.get(name)
    if area is None or area.size < size:
        area = aligned(size)
        if size <= _MOST_KEPT:
            _AREAS.by_name[name] = area
    return area[:size].reshape(shape)


def aligned(size: int) -> NDArray[np.float64]:
    """Return an array that begins where a line of the cache does: vectors then cross none.

    The kernels compile it, too.
    """
    numbers = np.empty(size + 7)
    skipped = -(numbers.ctypes.data // 8) % 8
    return numbers[skipped : skipped + size]
