"""Arrays whose references nobody counts, for the inner loops of the compiled lattice.

numba counts references to arrays with locked instructions, several for every row it looks at. With
a few hundred nodes a frame that takes as long as the arithmetic. What is made here points to the
same memory and counts nothing: whoever asks for it must :func:`keep` the original until the end.
"""

from typing import Any

import numba.core
from numba import njit
from numba.extending import intrinsic

from wordsight.inference.lattice.kernels.options import KERNEL_OPTIONS

__all__ = ["keep", "uncounted"]

cgutils: Any = numba.core.cgutils
types: Any = numba.core.types


def _uncounted(typing_context: Any, owner: Any) -> Any:
    """Return an array, or a tuple of arrays and numbers, that does not keep its memory alive."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return _without_owner(context, builder, signature.args[0], arguments[0])

    return owner(owner), code


uncounted: Any = intrinsic(_uncounted)


def _without_owner(context: Any, builder: Any, kind: Any, value: Any) -> Any:
    if isinstance(kind, types.BaseTuple):
        parts = cgutils.unpack_tuple(builder, value)
        loose = [
            _without_owner(context, builder, each, part)
            for each, part in zip(kind.types, parts, strict=True)
        ]
        return context.make_tuple(builder, kind, loose)
    if not isinstance(kind, types.Array):
        return value
    view = context.make_array(kind)(context, builder, value)
    view.meminfo = cgutils.get_null_value(view.meminfo.type)
    view.parent = cgutils.get_null_value(view.parent.type)
    return view._getvalue()


@njit(**KERNEL_OPTIONS)
def keep(*owners):  # type: ignore[no-untyped-def]
    """Do nothing but stand at the end, so that what is named here lives until then."""
