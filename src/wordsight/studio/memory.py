"""Keeping the memory of a server that runs for months flat.

Requests are answered by threads that come and go. The C library gives each a heap of its own, up to
eight per core, and every heap keeps the most it ever needed; two shared ones keep far less.
"""

import ctypes
import sys

__all__ = ["share_heaps"]

_ARENA_MAX = -8  # M_ARENA_MAX of glibc's mallopt
_HEAPS = 2


def share_heaps() -> bool:
    """Let all threads of this process share two heaps; false where the C library knows no such."""
    if not sys.platform.startswith("linux"):
        return False
    try:
        change = ctypes.CDLL("libc.so.6").mallopt
    except (OSError, AttributeError):  # another C library
        return False
    return bool(change(_ARENA_MAX, _HEAPS) == 1)
