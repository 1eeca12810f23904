"""k-means clustering with careful seeding, and how well a clustering fits its points."""

import numpy as np
from numpy.typing import NDArray

__all__ = ["kmeans", "nearest", "silhouette"]

_CHUNK = 65_536  # points compared with all centres at once, to bound memory

Points = NDArray[np.float64]


def kmeans(
    points: Points, num_clusters: int, rng: np.random.Generator, *, restarts: int = 4
) -> Points:
    """Place centres so that the points are near them, the best of several starts.

    Seeds are drawn with probability proportional to the squared distance from the seeds before
    (Arthur and Vassilvitskii, 2007), then improved by Lloyd's iterations.

    Args:
        points: ``(N, D)``.
        num_clusters: How many centres to place; fewer come back if there are fewer different
            points.
        rng: Where chance comes from.
        restarts: How many starts.

    Returns:
        ``(K, D)`` centres.
    """
    best, least = points[:1], np.inf
    for _ in range(restarts):
        centres = _improve(points, _seeds(points, num_clusters, rng))
        cost = float(nearest(points, centres)[1].sum())
        if cost < least:
            best, least = centres, cost
    return best


def nearest(points: Points, centres: Points) -> tuple[NDArray[np.intp], Points]:
    """Return for ``(N, D)`` points the ``(N,)`` index of the nearest centre and its distance².

    Of centres equally near the first is taken.
    """
    index = np.empty(len(points), np.intp)
    squared = np.empty(len(points))
    lengths = (centres**2).sum(axis=1)
    for start in range(0, len(points), _CHUNK):
        part = slice(start, start + _CHUNK)
        distance = lengths - 2 * points[part] @ centres.T + (points[part] ** 2).sum(axis=1)[:, None]
        index[part] = distance.argmin(axis=1)
        squared[part] = np.maximum(distance.min(axis=1), 0)
    return index, squared


def silhouette(points: Points, labels: NDArray[np.intp]) -> float:
    """Say how much nearer points are to their own cluster than to the next, -1 to 1.

    The mean over points of (b - a) / max(a, b), a being the mean distance to the other points of
    the own cluster and b that to the nearest other cluster (Rousseeuw, 1987); a point alone in its
    cluster counts 0.

    Args:
        points: ``(N, D)``; all pairs are compared, so a few thousand at most.
        labels: ``(N,)`` the cluster of each.
    """
    names, codes = np.unique(labels, return_inverse=True)
    if len(names) < 2:
        return 0.0
    lengths = (points**2).sum(axis=1)
    apart = np.sqrt(np.maximum(lengths[:, None] - 2 * points @ points.T + lengths[None], 0))
    member = np.eye(len(names))[codes]
    sums, sizes = apart @ member, member.sum(axis=0)
    own = sizes[codes]
    rows = np.arange(len(points))
    within = sums[rows, codes] / np.maximum(own - 1, 1)
    others = np.where(member > 0, np.inf, sums / sizes)
    beyond = others.min(axis=1)
    larger = np.maximum(np.maximum(within, beyond), 1e-12)
    return float(np.where(own > 1, (beyond - within) / larger, 0.0).mean())


def _seeds(points: Points, count: int, rng: np.random.Generator) -> Points:
    chosen = [int(rng.integers(len(points)))]
    squared = ((points - points[chosen[0]]) ** 2).sum(axis=1)
    while len(chosen) < count and squared.sum() > 1e-12:
        chosen.append(int(rng.choice(len(points), p=squared / squared.sum())))
        squared = np.minimum(squared, ((points - points[chosen[-1]]) ** 2).sum(axis=1))
    return points[chosen].copy()


def _improve(points: Points, centres: Points, most: int = 100) -> Points:
    labels = np.full(len(points), -1)
    for _ in range(most):
        found, _ = nearest(points, centres)
        if np.array_equal(found, labels):
            break
        labels = found
        counts = np.bincount(labels, minlength=len(centres))
        for dimension in range(points.shape[1]):
            sums = np.bincount(labels, weights=points[:, dimension], minlength=len(centres))
            # A centre that lost all its points stays where it was.
            centres[:, dimension] = np.where(
                counts > 0, sums / np.maximum(counts, 1), centres[:, dimension]
            )
    return centres
