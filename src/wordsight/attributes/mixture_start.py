"""Where the mixture of linear maps begins: the paper's axis, or chance."""

import numpy as np
from numpy.typing import NDArray

__all__ = ["exclusive_axis", "random_start", "split_along"]

Array = NDArray[np.float64]


def exclusive_axis(x: Array, y: Array, epsilon: float = 1e-3) -> Array:
    r"""Return the direction of speech along which words said of similar pictures differ most.

    It maximises :math:`\sum_{i<j}(c\cdot y_i-c\cdot y_j)^2/(\|x_i-x_j\|+\epsilon)` over unit c:
    the paper's Eq. 4 with the square without which it would be no eigenvalue problem. The matrix
    is :math:`Y^T(D-W)Y`, W holding the weights of pairs and D their sums.

    Args:
        x: ``(N, dx)`` pictures.
        y: ``(N, dy)`` words.
        epsilon: Keeps identical pictures from weighing infinitely.

    Returns:
        ``(dy,)`` of unit length, its largest part positive.
    """
    from scipy.spatial.distance import cdist

    weights = 1 / (cdist(x, x) + epsilon)
    np.fill_diagonal(weights, 0.0)
    matrix = y.T @ (weights.sum(axis=1)[:, None] * y) - y.T @ weights @ y
    axis = np.linalg.eigh((matrix + matrix.T) / 2)[1][:, -1]
    return np.asarray(axis * (1.0 if axis[np.abs(axis).argmax()] > 0 else -1.0))


def split_along(places: Array, count: int) -> Array:
    """Return ``(N, count)`` responsibilities that cut places on a line into groups of equal size.

    The paper does not say where it cuts.
    """
    rank = np.argsort(np.argsort(places, kind="stable"), kind="stable")
    return np.asarray((rank * count // len(places))[:, None] == np.arange(count), dtype=np.float64)


def random_start(num_pairs: int, count: int, random: np.random.Generator) -> Array:
    """Return ``(num_pairs, count)`` random responsibilities."""
    return np.asarray(random.dirichlet(np.ones(count), num_pairs))
