r"""How pictures are smoothed with their collection, learned from the collection alone.

A document is scored by $\frac1N\sum_vw_v\log[\kappa p(v|\theta_d)+(1-\kappa)p(v)]$, where a sample
counts by what it tells of the document it comes from, $w_v\propto I(v)^\gamma$. Whether common
samples should be discounted depends on the collection: where all pictures have a sky, its shade
says nothing about what they show, and where the pictures are frames of few shots, it says much.

The likelihood of samples that were left out cannot decide it. It asks how well some other document
predicts all of a picture, the sky included, and is always highest for $\kappa$ near 1. What does is
whether documents agree about who is near: among documents of a kind each is near all others, while
what is common and merely varies, such as the shade of a sky, gives each document neighbours of its
own. The agreement is measured for neighbourhoods of several sizes, and the largest value counts.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Self

import numpy as np

from wordsight.errors import RetrievalError
from wordsight.retrieval.visual.packing import Array, PackedMixtures
from wordsight.retrieval.visual.scoring import (
    LARGEST_RATIO,
    evenly_spread,
    log_densities,
    mean_and_information,
)

__all__ = ["CANDIDATES", "VisualSmoothing", "learn_smoothing", "neighbour_agreement"]


@dataclass(frozen=True)
class VisualSmoothing:
    r"""How the samples of a picture are weighed.

    Attributes:
        kappa: Weight $\kappa$ of a document against the background, between 0 and 1.
        focus: Exponent $\gamma$ of the information of samples; 0 if all count alike.
    """

    kappa: float = 0.95
    focus: float = 0.0

    def __post_init__(self) -> None:
        if not (0 < self.kappa < 1 and self.focus >= 0):
            raise RetrievalError(
                f"kappa must be between 0 and 1 and focus 0 or more, got {self.kappa} and "
                f"{self.focus}."
            )

    def weights(self, information: Array) -> Array | None:
        """Return ``(N,)`` how much samples count, of mean 1; None if all count alike."""
        if self.focus == 0:
            return None
        weights = np.maximum(information, 1e-6) ** self.focus
        return np.asarray(weights / weights.mean())

    def to_json(self) -> dict[str, float]:
        """Return the values as JSON."""
        return asdict(self)

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> Self:
        """Create a smoothing from the result of :meth:`to_json`."""
        return cls(float(values["kappa"]), float(values["focus"]))


CANDIDATES = tuple(
    VisualSmoothing(kappa, focus)
    for kappa, focus in ((0.95, 0.0), (0.1, 0.0), (0.9, 1.0), (0.5, 1.0), (0.1, 2.0))
)
"""What is chosen from; the first is nearly the plain likelihood."""

_MARGIN = 0.05
"""How much more documents must agree to leave the first candidate: a few times what two halves of a
hundred pictures differ by."""

_FEWEST = 30  # documents from which neighbourhoods can be judged
_MOST = 300  # documents that are looked at
_SIZES = (3, 4, 6, 9, 13, 19, 28)


def learn_smoothing(
    reference: PackedMixtures, floor: float, candidates: Sequence[VisualSmoothing] = CANDIDATES
) -> VisualSmoothing:
    """Choose the smoothing under which the documents of a collection agree most on who is near.

    Every document asks with the means of its components, each as much as the component weighs; it
    is left out of its own background.

    Args:
        reference: Models of the collection's documents.
        floor: The smallest variance of the mixtures.
        candidates: What to choose from; the first is kept unless another one is clearly better,
            and with fewer than 30 documents.
    """
    reference = reference[evenly_spread(len(reference), _MOST)]
    count = len(reference)
    if count < _FEWEST:
        return candidates[0]
    mixtures = reference.mixtures()
    least = -0.5 * reference.num_dimensions * np.log(2.0 * np.pi * floor) - LARGEST_RATIO
    scores = np.empty((len(candidates), count, count))
    for query in range(count):
        logs = log_densities(reference, mixtures.means[query])
        others = np.delete(logs, query, axis=0)
        background, information = mean_and_information(others, least)
        ratios = logs - background
        for smoothing, table in zip(candidates, scores, strict=True):
            weights = smoothing.weights(information)
            shares = mixtures.weights[query] * (1.0 if weights is None else weights)
            kappa = smoothing.kappa
            table[query] = np.logaddexp(np.log1p(-kappa), np.log(kappa) + ratios) @ shares
    agreement = np.array([neighbour_agreement(table) for table in scores])
    agreement[0] += _MARGIN
    return candidates[int(np.argmax(agreement))]


def neighbour_agreement(scores: Array, sizes: Sequence[int] = _SIZES) -> float:
    """Return how much documents agree on who is near, from about 0 by chance to 2.

    It is the share of neighbours that are mutual plus the overlap (Jaccard) of the neighbourhoods
    of neighbours, each corrected for chance and the largest over several sizes.

    Args:
        scores: ``(D, D)`` how well each document (a column) answers each document (a row).
        sizes: Numbers of neighbours; those up to half of the documents are tried.
    """
    table = scores.copy()
    np.fill_diagonal(table, -np.inf)
    order = np.argsort(-table, axis=1, kind="stable")
    count = len(table)
    mutual, overlap = [0.0], [0.0]
    for size in sizes:
        if 2 * size > count:
            break
        near = np.zeros((count, count), dtype=np.float32)
        np.put_along_axis(near, order[:, :size], 1.0, axis=1)
        chance = size / count
        share = float((near * near.T).sum() / near.sum())
        mutual.append((share - chance) / (1.0 - chance))
        np.fill_diagonal(near, 1.0)
        common = near @ near.T
        alike = common / (2.0 * (size + 1) - common)
        mean = float(np.take_along_axis(alike, order[:, :size], axis=1).mean())
        chance = chance / (2.0 - chance)
        overlap.append((mean - chance) / (1.0 - chance))
    return max(mutual) + max(overlap)
