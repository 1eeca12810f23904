"""Whether compiled kernels can run: machines made for accelerators often come without numba.

There everything still works, by the plain numpy each kernel is compared with: slowly, but the heavy
part is the device's.
"""

import sys
import warnings
from functools import lru_cache

__all__ = ["numba_available"]


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
