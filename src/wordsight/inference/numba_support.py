"""Whether compiled kernels can run: machines made for accelerators often come without numba.

There everything still works, by the plain numpy each kernel is compared with: slowly, but the heavy
part is the device's.
"""

import sys
import warnings
from functools import lru_cache
from typing import Any

__all__ = ["INNER_OPTIONS", "KERNEL_OPTIONS", "numba_available"]


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
