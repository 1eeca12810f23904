"""How the functions of the lattice kernels are compiled."""

from typing import Any

__all__ = ["INNER_OPTIONS", "KERNEL_OPTIONS"]

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
