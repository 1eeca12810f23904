"""The best single path through a lattice, by Viterbi: Eq. 1 of Yu & Siskind (2013)."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["best_path"]


def best_path(
    node_gains: Sequence[NDArray[np.float64]], link_gains: Sequence[NDArray[np.float64]]
) -> tuple[NDArray[np.intp], float]:
    r"""Maximise :math:`\sum_t F_t(j_t) + \sum_t G_t(j_{t-1}, j_t)` over :math:`j_1 \dots j_T`.

    Args:
        node_gains: T arrays ``(J_t,)``, F of every node of frame t, at least one.
        link_gains: T - 1 arrays ``(J_t, J_{t+1})``, G between neighbouring frames.

    Returns:
        ``(T,)`` index of the node in each frame, and the sum; ``-inf`` if no path is allowed, and
        no indices and 0 if there are no frames.

    Examples:
        >>> best_path([np.array([0., 1.]), np.array([2., 0.])], [np.array([[0., 0.], [-5., 0.]])])
        (array([0, 0]), 2.0)
    """
    if not node_gains:
        return np.zeros(0, dtype=np.intp), 0.0
    best = np.asarray(node_gains[0], dtype=np.float64)
    came_from: list[NDArray[np.intp]] = []
    for gains, links in zip(node_gains[1:], link_gains, strict=True):
        through = best[:, None] + links
        came_from.append(through.argmax(axis=0))
        best = through.max(axis=0) + gains
    path = [int(best.argmax())]
    for back in reversed(came_from):
        path.append(int(back[path[-1]]))
    return np.array(path[::-1], dtype=np.intp), float(best.max())
