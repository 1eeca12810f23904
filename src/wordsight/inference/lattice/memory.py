"""Memory that is reused between calls, because fresh pages from the system cost time.

For tables of a few hundred kilobytes, page faults take up to a third of the time of a call.
"""

import math
import threading
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["ArrayPool", "aligned_array", "scratch_array"]

_MAX_SCRATCH = 8 << 20
"""Numbers in a scratch array that is kept, 64 MiB of them; larger ones are rare and released."""


class _Scratch(threading.local):
    def __init__(self) -> None:
        self.arrays: dict[str, NDArray[np.float64]] = {}


_scratch = _Scratch()


def scratch_array(name: str, shape: tuple[int, ...]) -> NDArray[np.float64]:
    """Return an uninitialised array, valid until this thread asks for the same name again."""
    size = math.prod(shape)
    array = _scratch.arrays.get(name)
    if array is None or array.size < size:
        array = aligned_array(size)
        if size <= _MAX_SCRATCH:
            _scratch.arrays[name] = array
    return array[:size].reshape(shape)


def aligned_array(size: int) -> NDArray[np.float64]:
    """Return an uninitialised array that starts at a cache line, so that vectors cross none.

    The kernels compile this function, too.
    """
    numbers = np.empty(size + 7)
    skipped = -(numbers.ctypes.data // 8) % 8
    return numbers[skipped : skipped + size]


class ArrayPool:
    """Creates result arrays and reuses their memory once no view of them is left.

    Args:
        max_bytes: Unused memory to keep; memory returned beyond that is released.
    """

    def __init__(self, max_bytes: int = 64 << 20) -> None:
        self._max_bytes = max_bytes
        self._free: dict[int, list[NDArray[np.float64]]] = {}
        self._free_bytes = 0
        # Reentrant: garbage collection may return memory while the lock is held.
        self._lock = threading.RLock()

    def empty(self, shape: tuple[int, ...]) -> NDArray[np.float64]:
        """Return an uninitialised array that the caller may keep."""
        size = math.prod(shape)
        return np.asarray(_Loan(self, self._take(size))).reshape(shape) if size else np.empty(shape)

    def _take(self, size: int) -> NDArray[np.float64]:
        with self._lock:
            free = self._free.get(size)
            if free:
                self._free_bytes -= 8 * size
                return free.pop()
        return np.empty(size)

    def _give_back(self, memory: NDArray[np.float64]) -> None:
        with self._lock:
            if self._free_bytes + memory.nbytes <= self._max_bytes:
                self._free.setdefault(memory.size, []).append(memory)
                self._free_bytes += memory.nbytes


class _Loan:
    """Memory of a pool as the base of an array: every view keeps it alive."""

    def __init__(self, pool: ArrayPool, memory: NDArray[np.float64]) -> None:
        self._pool, self._memory = pool, memory
        self.__array_interface__: dict[str, Any] = memory.__array_interface__

    def __del__(self) -> None:
        self._pool._give_back(self._memory)
