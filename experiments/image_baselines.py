"""What the mixtures are compared with: colour histograms, and bags of visual words."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from wordsight.perception.regions.codebook import kmeans, nearest

__all__ = ["bags_of_words", "colour_histograms"]

Array = NDArray[np.float64]

_HUES, _SATURATIONS, _VALUES = 18, 4, 4
_WORDS = 300
_LOOKED_AT = 10_000  # samples that the words are learned from


def colour_histograms(images: Sequence[NDArray[np.uint8]]) -> Array:
    """Return ``(D, D)`` how alike pictures are by the joint histogram of hue, saturation, value.

    Square roots of the shares are compared (Bhattacharyya), which beats the intersection.
    """
    import cv2

    rows = []
    for image in images:
        hsv = cv2.cvtColor(image, cv2.COLOR_RGB2HSV)
        bins = [_HUES, _SATURATIONS, _VALUES]
        counts = cv2.calcHist([hsv], [0, 1, 2], None, bins, [0, 180, 0, 256, 0, 256]).ravel()
        rows.append(np.sqrt(counts / counts.sum()))
    table = np.array(rows, dtype=np.float64)
    alike: Array = table @ table.T
    return alike


def bags_of_words(samples: Sequence[Array], random_state: int = 0) -> Array:
    """Return ``(D, D)`` cosine of bags of visual words, rare words weighing more.

    Args:
        samples: Per picture its samples ``(N, n)`` on one scale, without their places: what the
            words are clusters of.
        random_state: Seed.
    """
    random = np.random.default_rng(random_state)
    pool = np.concatenate(samples)
    some = pool[random.choice(len(pool), min(_LOOKED_AT, len(pool)), replace=False)]
    words = kmeans(some, _WORDS, random, restarts=1)
    counts = np.array(
        [np.bincount(nearest(bag, words)[0], minlength=len(words)) for bag in samples]
    )
    seen = np.maximum((counts > 0).sum(axis=0), 1)
    weights = np.log1p(counts) * np.log(1.0 + len(counts) / seen)
    weights /= np.linalg.norm(weights, axis=1, keepdims=True)
    alike: Array = weights @ weights.T
    return alike
