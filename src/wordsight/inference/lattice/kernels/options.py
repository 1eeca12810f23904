"""How the inner functions of the compiled lattice are compiled."""

from typing import Any

__all__ = ["KERNEL_OPTIONS"]

# Sums may be regrouped into vectors and products fused with them; nothing is approximated. Only
# the entry points are called from Python: wrappers for all others would double compilation time.
KERNEL_OPTIONS: dict[str, Any] = {
    "nogil": True,
    "fastmath": {"contract", "reassoc", "nsz"},
    "error_model": "numpy",
    "no_cpython_wrapper": True,
    "no_cfunc_wrapper": True,
}
"""Options of numba's ``njit``."""
