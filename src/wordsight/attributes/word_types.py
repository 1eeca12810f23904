"""Which recordings are the same word: clusters of speech, and how many there are."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wordsight.attributes.errors import TeachingError

__all__ = ["WordTypes", "find_word_types", "medoids", "silhouette"]

Array = NDArray[np.float64]
Labels = NDArray[np.intp]

_MOST_CLUSTERED = 3000  # recordings; beyond that the rest joins the nearest cluster
_MOST_COMPARED = 1000  # recordings whose silhouettes choose the number of clusters
_NEARLY_BEST = 0.9  # of the best silhouette: among such numbers the largest is taken


@dataclass(frozen=True, eq=False)
class WordTypes:
    """Recordings sorted into words.

    Attributes:
        labels: ``(N,)`` the word of each recording, from 0 on without gaps.
        centres: ``(W, d)`` mean of each word's recordings.
        radii: ``(W,)`` distance from the centre within which 95 % of them lie.
    """

    labels: Labels
    centres: Array
    radii: Array

    @property
    def count(self) -> int:
        """How many words there are."""
        return len(self.centres)

    @classmethod
    def of(cls, points: Array, labels: Labels) -> "WordTypes":
        """Return the types that labels (any numbers) describe."""
        _, dense = np.unique(labels, return_inverse=True)
        count = int(dense.max(initial=-1)) + 1
        centres = np.stack([points[dense == word].mean(axis=0) for word in range(count)])
        apart = np.linalg.norm(points - centres[dense], axis=1)
        radii = np.array([np.quantile(apart[dense == word], 0.95) for word in range(count)])
        return cls(dense.astype(np.intp), centres, radii)


def find_word_types(points: Array, num_types: int | None = None, *, most: int = 80) -> WordTypes:
    """Cluster recordings into words by Ward's method.

    The number of words is that of the best mean silhouette. Where several numbers are nearly as
    good the largest is taken: a word in two clusters is recognised later by the pictures, which
    are the same; two words in one cluster would stay mixed.

    Args:
        points: ``(N, d)`` recordings.
        num_types: How many words there are, if known.
        most: The largest number considered.

    Raises:
        TeachingError: If more words than recordings are asked for.
    """
    from scipy.cluster.hierarchy import fcluster, linkage
    from scipy.spatial.distance import cdist

    if num_types is not None and not 1 <= num_types <= len(points):
        raise TeachingError(f"{len(points)} recordings cannot hold {num_types} words.")
    if len(points) < 3 or np.ptp(points, axis=0).max(initial=0) < 1e-9:
        count = num_types or 1
        return WordTypes.of(points, np.minimum(np.arange(len(points)), count - 1))
    step = -(-len(points) // _MOST_CLUSTERED)
    tree = linkage(points[::step], "ward")
    if num_types is None:
        num_types = _best_number(points[::step], tree, min(most, len(points[::step]) - 1))
    labels = fcluster(tree, num_types, "maxclust") - 1
    if step > 1:
        centres = WordTypes.of(points[::step], labels).centres
        labels = cdist(points, centres).argmin(axis=1)
    return WordTypes.of(points, labels)


def silhouette(distances: Array, labels: Labels) -> float:
    """Return the mean silhouette, from -1 to 1: how much nearer points are to their own cluster.

    Args:
        distances: ``(N, N)`` between all points.
        labels: ``(N,)`` clusters from 0 on without gaps, two or more.
    """
    count = int(labels.max()) + 1
    sizes = np.bincount(labels, minlength=count)
    sums = distances @ (labels[:, None] == np.arange(count))
    rows = np.arange(len(labels))
    own = sums[rows, labels] / np.maximum(sizes[labels] - 1, 1)
    others = sums / np.maximum(sizes, 1)
    others[rows, labels] = np.inf
    nearest = others.min(axis=1)
    values = (nearest - own) / np.maximum(np.maximum(nearest, own), 1e-300)
    values[sizes[labels] == 1] = 0.0
    return float(values.mean())


def medoids(points: Array, labels: Labels) -> Labels:
    """Return per cluster the point whose distances to the cluster's others are smallest."""
    from scipy.spatial.distance import cdist

    found = []
    for word in range(int(labels.max(initial=-1)) + 1):
        members = np.flatnonzero(labels == word)
        sample = members[:: -(-len(members) // 500)]
        found.append(members[cdist(points[members], points[sample]).sum(axis=1).argmin()])
    return np.array(found, dtype=np.intp)


def _best_number(points: Array, tree: Array, most: int) -> int:
    from scipy.cluster.hierarchy import fcluster
    from scipy.spatial.distance import cdist

    step = -(-len(points) // _MOST_COMPARED)
    distances = cdist(points[::step], points[::step])
    scores = {}
    for number in range(2, most + 1):
        labels = (fcluster(tree, number, "maxclust") - 1)[::step]
        _, dense = np.unique(labels, return_inverse=True)
        if dense.max() > 0:
            scores[number] = silhouette(distances, dense)
    best = max(scores.values())
    return max(number for number, score in scores.items() if score >= _NEARLY_BEST * best)
