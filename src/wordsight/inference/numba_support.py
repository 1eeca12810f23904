"""Support for numba: whether kernels can be compiled, their options, and single-threaded BLAS.

Machines made for accelerators often come without numba. There everything still works, by the plain
numpy each kernel is compared with: slowly, but the heavy part is the device's.
"""

import sys
import warnings
from collections.abc import Generator
from contextlib import contextmanager
from functools import lru_cache
from threading import Lock
from typing import Any

__all__ = ["INNER_OPTIONS", "KERNEL_OPTIONS", "numba_available", "one_blas_thread"]

_blas = Lock()
_in_one_thread: list[Any] = []  # the limit, once for each that asked for it


@lru_cache(maxsize=1)
def numba_available() -> bool:
    """Tell whether numba can be imported, without importing it; warn once if not."""
    from importlib.util import find_spec

    blocked = "numba" in sys.modules and sys.modules["numba"] is None
    there = not blocked and find_spec("numba") is not None
    if not there:
        warnings.warn(
            "numba is not installed: plain numpy does the work of the compiled kernels, many times "
            "slower. pip install numba to have them.",
            RuntimeWarning,
            stacklevel=2,
        )
    return there


@contextmanager
def one_blas_thread() -> Generator[None, None, None]:
    """Let BLAS work in the calling thread alone, for as long as any caller asks for it.

    Its threads wait for each other by turning in circles. With many products of small matrices they
    do little else, and on a machine with other work to do they take many times the processor's time
    that the products need.
    """
    from threadpoolctl import threadpool_limits

    with _blas:
        _in_one_thread.append(
            _in_one_thread[0] if _in_one_thread else threadpool_limits(1, user_api="blas")
        )
    try:
        yield
    finally:
        with _blas:
            limit = _in_one_thread.pop()
            if not _in_one_thread:
                limit.restore_original_limits()


# Sums may be regrouped into vectors and products fused with them; nothing is approximated. Only
# the entry points are called from Python: wrappers for all others would double compilation time.
KERNEL_OPTIONS: dict[str, Any] = {
    "nogil": True,
    "fastmath": {"contract", "reassoc", "nsz"},
    "error_model": "numpy",
    "no_cpython_wrapper": True,
    "no_cfunc_wrapper": True,
}
"""Options of ``numba.njit``."""

# numba counts references to arrays with locked instructions, several for every row view. With a few
# hundred nodes a frame that takes as long as the arithmetic.
INNER_OPTIONS = {**KERNEL_OPTIONS, "_nrt": False}
"""The same for functions that neither create nor return arrays: these count no references."""
