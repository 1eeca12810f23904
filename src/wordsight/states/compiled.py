"""The entry points of the compiled searches, whose machine code is kept on disk between runs.

numba trusts code on disk as long as the one file it was written in is unchanged. The searches span
several, so a digest of them all is part of every entry point: change one, and all compile anew.
Importing this module imports numba: import it where it is needed.
"""

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from numba import njit

from wordsight.states import horn_kernel, minimise_kernel, sequence_kernel

__all__ = ["advance", "minimise_clauses"]

_advance = sequence_kernel.advance
_minimise = minimise_kernel.minimise_clauses


def _digest() -> str:
    digest = hashlib.sha256()
    for module in (horn_kernel, minimise_kernel, sequence_kernel):
        digest.update(Path(str(module.__file__)).read_bytes())
    return digest.hexdigest()


# Whatever a function closes over is part of the key under which numba keeps its code. Each entry
# point is written out, since numba tells them apart by name, and a search that were closed over
# would be another one in every process.
def _minimise_made_from(digest: str) -> Callable[..., Any]:
    @njit(cache=True, nogil=True)
    def minimise_clauses(*given):  # type: ignore[no-untyped-def]
        """Find the state of least violated weight."""
        made_from = digest  # noqa: F841
        return _minimise(*given)

    return minimise_clauses


def _advance_made_from(digest: str) -> Callable[..., Any]:
    @njit(cache=True, nogil=True)
    def advance(*given):  # type: ignore[no-untyped-def]
        """Take in more frames."""
        made_from = digest  # noqa: F841
        return _advance(*given)

    return advance


minimise_clauses = _minimise_made_from(_digest())
"""See :func:`wordsight.states.minimise_kernel.minimise_clauses`."""

advance = _advance_made_from(_digest())
"""See :func:`wordsight.states.sequence_kernel.advance`."""
