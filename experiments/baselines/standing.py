r"""Ranking by two likelihoods at once, each beside what else is asked and answered.

$$S(q,d)=\sum_mu_m\frac{z_m(q,d)-\bar z_m(d)}{\sqrt{s_m(d)}}$$

There are two $m$: the plain likelihood, and with twice the weight the likelihood smoothed with nine
parts of background. $z_m(q,d)$ is what a picture gives to a document, in standard deviations of
what it gives to the documents of a reference; $\bar z_m(d)$ and $s_m(d)$ are the mean and standard
deviation of what the document gets when pictures of the reference ask: a document that is near to
everything is near to a picture for no good reason. How much the smoothed likelihood looks at
telling samples is what documents agree most under about who is near. No judgement is used.

Unlike what an index computes, it needs samples of pictures of the reference beside their models:
means or draws of the models in their place lose what is gained.
"""

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from wordsight.retrieval.visual import PackedMixtures, VisualSmoothing, log_densities
from wordsight.retrieval.visual.packing import Array
from wordsight.retrieval.visual.scoring import (
    LARGEST_RATIO,
    evenly_spread,
    mean_and_information,
)
from wordsight.retrieval.visual.smoothing import neighbour_agreement

__all__ = ["Standing", "beside_others", "two_likelihoods"]

REFERENCE = 200
SAMPLES = 32  # of a picture of the reference
FOCUSES = (0.0, 1.0, 2.0)
_KAPPA = 0.1
_SMOOTHED = 2.0  # weight of the smoothed likelihood
_LEAST = -40.0  # log ratio of a sample that counts for the plain likelihood


class Standing:
    """Ranks pictures of a collection for one of them, which is left out of everything.

    Args:
        packed: ``D`` models.
        bags: Per picture its samples, on the scale of the models.
        floor: The smallest variance of the models.
    """

    def __init__(self, packed: PackedMixtures, bags: Sequence[Array], floor: float) -> None:
        self.packed, self.bags = packed, bags
        self.least = -0.5 * packed.num_dimensions * np.log(2.0 * np.pi * floor) - LARGEST_RATIO
        self.reference = evenly_spread(len(packed), REFERENCE)

    def scores(self, query: int) -> Array:
        """Return ``(D,)`` how the documents stand for a picture."""
        own = self._likelihoods(query, self.bags[query], (self.focus,))
        total = np.zeros(len(self.packed))
        for number, share in ((0, 1.0), (1 + FOCUSES.index(self.focus), _SMOOTHED)):
            given = self._standardised(own[min(number, 1)], query)
            others = self._asked[number][self.reference != query]
            total += share * beside_others(given, others)
        return total

    @cached_property
    def focus(self) -> float:
        """How much the smoothed likelihood looks at telling samples."""
        tables = self._likely[1:, :, self.reference]
        return FOCUSES[int(np.argmax([neighbour_agreement(table) for table in tables]))]

    @cached_property
    def _likely(self) -> Array:
        """``(M, R, D)`` the likelihoods of pictures of the reference; the first is plain."""
        few = [self.bags[at][evenly_spread(len(self.bags[at]), SAMPLES)] for at in self.reference]
        asked = zip(self.reference.tolist(), few, strict=True)
        return np.stack([self._likelihoods(at, bag, FOCUSES) for at, bag in asked], axis=1)

    @cached_property
    def _asked(self) -> Array:
        """``(M, R, D)`` what pictures of the reference give to documents; NaN to their own."""
        asked = np.empty_like(self._likely)
        for row, at in enumerate(self.reference.tolist()):
            for given, table in zip(asked, self._likely, strict=True):
                given[row] = self._standardised(table[row], at)
                given[row, at] = np.nan
        return asked

    def _likelihoods(self, query: int, values: Array, focuses: Sequence[float]) -> Array:
        """Return ``(1 + F, D)`` the plain and the smoothed likelihoods of samples."""
        logs = log_densities(self.packed, values)
        others = logs[self.reference[self.reference != query]]
        return two_likelihoods(logs, *mean_and_information(others, self.least), focuses)

    def _standardised(self, scores: Array, query: int) -> Array:
        some = scores[self.reference[self.reference != query]]
        return (scores - some.mean()) / max(float(some.std()), 1e-12)


def two_likelihoods(
    logs: Array, background: Array, information: Array, focuses: Sequence[float]
) -> Array:
    """Return ``(1 + F, D)`` the plain and the smoothed likelihoods, over the background.

    Args:
        logs: ``(D, N)`` log density of samples under documents.
        background: ``(N,)`` their log density in the collection.
        information: ``(N,)`` what they tell of their document.
        focuses: ``F`` exponents of the information by which the smoothed likelihood weighs samples.
    """
    ratios = logs - background
    gains = np.logaddexp(np.log1p(-_KAPPA), np.log(_KAPPA) + ratios)
    rows = [np.maximum(ratios, _LEAST).mean(axis=1)]
    for focus in focuses:
        weights = VisualSmoothing(_KAPPA, focus).weights(information)
        rows.append((gains if weights is None else gains * weights).mean(axis=1))
    return np.array(rows)


def beside_others(given: Array, asked: Array) -> Array:
    """Return ``(D,)`` what a picture gives to documents, beside what others give to them.

    Args:
        given: ``(D,)`` standardised scores.
        asked: ``(R, D)`` the same of other pictures; NaN where it is not to count.
    """
    spread = np.maximum(np.nanstd(asked, axis=0), 1e-12)
    beside: Array = (given - np.nanmean(asked, axis=0)) / np.sqrt(spread)
    return beside
