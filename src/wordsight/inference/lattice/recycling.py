"""Memory for results that is used again once nobody holds them.

Fresh memory has to be handed out page by page by the operating system, which for tables of a few
hundred kilobytes costs a fifth of the time it takes to fill them. Arrays from here look like any
other; their memory comes back when the last array that uses it is gone.
"""

import ctypes
import math
import threading
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Recycler"]


class Recycler:
    """Hands out arrays and takes their memory back.

    Args:
        most: Bytes to keep for later at most; what comes back beyond that is let go.
    """

    def __init__(self, most: int = 64 << 20) -> None:
        self._most = most
        self._kept: dict[int, list[bytearray]] = {}
        self._bytes = 0
        # Memory may come back in the middle of anything, also while the lock is held.
        self._lock = threading.RLock()

    def empty(self, shape: tuple[int, ...]) -> NDArray[np.float64]:
        """Return an array of any numbers that the caller may keep as long as it likes."""
        numbers = math.prod(shape)
        if not numbers:
            return np.empty(shape)
        # Every array made of this memory, and every view of one, holds the loan: its end tells
        # that none is left.
        memory = self._take(8 * numbers)
        loan = _loan_of(numbers).from_buffer(memory)
        loan.give_back = (self._give, memory)
        return np.frombuffer(loan).reshape(shape)

    def _take(self, size: int) -> bytearray:
        with self._lock:
            free = self._kept.get(size)
            if free:
                self._bytes -= size
                return free.pop()
        return bytearray(size)

    def _give(self, memory: bytearray) -> None:
        size = len(memory)
        with self._lock:
            if self._bytes + size <= self._most:
                self._kept.setdefault(size, []).append(memory)
                self._bytes += size


def _end(loan: Any) -> None:
    give, memory = loan.give_back
    give(memory)


@lru_cache(maxsize=256)
def _loan_of(numbers: int) -> Any:
    """Return the type of loans of so many numbers; a finaliser per loan would cost far more."""
    return type("Loan", (ctypes.c_double * numbers,), {"__del__": _end})
