"""`VisualIndex`: the mixtures of all documents of an index, ready for queries."""

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wordsight.inference.mixtures.gaussian import Mixtures
from wordsight.retrieval.documents import DocumentHit, DocumentTable, top_k
from wordsight.retrieval.errors import RetrievalError
from wordsight.retrieval.index.segments import LiveSegment
from wordsight.retrieval.visual.packing import Array, PackedMixtures
from wordsight.retrieval.visual.part import VISUAL, VisualSettings
from wordsight.retrieval.visual.scoring import (
    CollectionBackground,
    Precision,
    evenly_spread,
    log_densities,
    log_likelihoods,
    observed_dimensions,
    reference_rows,
    rough_gains,
    smoothed_gains,
)

if TYPE_CHECKING:
    from wordsight.inference.gpu import DeviceMixtures

__all__ = ["VisualIndex"]

FIRST_SAMPLES = 32
"""Samples that choose the candidates in a two-stage search."""

SINGLE_ERROR = 2e-3
"""Far more than the error of two scores in single precision (about 1e-5)."""

LEAST_CANDIDATES = 400
"""Documents in the second stage, or forty times the number of hits."""

CANDIDATE_SHARE = 250
"""Or one document in so many, which takes a small part of the first stage's time."""


class VisualIndex:
    r"""Scores query samples against every document.

    $$\frac1N\sum_{v}\log\big[\kappa\,p(v|\theta_d)+(1-\kappa)\,p(v)\big]$$

    Args:
        segments: Segments with a visual part.
        documents: Their documents in the same order.
        settings: The settings of the models.
        device: Device that scores all documents, such as ``cuda``; the best are scored again on the
            CPU, so that results are the same. Models stay on the device between queries.
    """

    def __init__(
        self,
        segments: Sequence[LiveSegment],
        documents: DocumentTable,
        settings: VisualSettings,
        *,
        device: str | None = None,
    ) -> None:
        self.device = device
        self._on_device: dict[int, DeviceMixtures | None] = {}
        self.documents = documents
        self.settings = settings
        self.features = settings.features()
        self._segments = tuple(segments)
        self._starts = np.cumsum([0, *(len(each.rows) for each in segments)])

    def __len__(self) -> int:
        return int(self._starts[-1])

    def score(
        self, samples: ArrayLike, *, background: bool = True, precision: Precision = "double"
    ) -> Array:
        """Return the likelihood of samples under each document.

        Args:
            samples: ``(N, n)`` from the features; a column of NaN is an unknown dimension, such as
                the place of a region that may lie anywhere.
            background: Whether documents are smoothed with the collection; otherwise samples that
                are common everywhere count as much as distinctive ones.
            precision: ``"single"`` takes half the time, with a background only.

        Returns:
            ``(D,)`` log likelihood per sample, in the order of :attr:`documents`.
        """
        values = self._standardised(samples)
        unit = self._log_unit(values)
        if not background:
            return self._over_segments(lambda packed: log_likelihoods(packed, values)) - unit
        log_background = self.background.log_density(values)
        kappa = self.settings.kappa

        def gain(packed: PackedMixtures) -> Array:
            if precision == "single" and self.device is not None:
                return self._device_gains(packed, values, log_background)
            return smoothed_gains(packed, values, log_background, kappa, precision)

        gains = self._over_segments(gain)
        return gains + self._constant(log_background) - unit

    def score_subset(self, samples: ArrayLike, positions: NDArray[np.int64]) -> Array:
        """Return the scores of some documents only."""
        values = self._standardised(samples)
        log_background = self.background.log_density(values)
        packed = self._models(positions)
        gains = smoothed_gains(packed, values, log_background, self.settings.kappa)
        scores: Array = gains + self._constant(log_background) - self._log_unit(values)
        return scores

    def search(
        self,
        samples: ArrayLike,
        k: int = 10,
        *,
        exact: bool = True,
        candidates: int | None = None,
    ) -> list[DocumentHit]:
        """Return the ``k`` documents under which the samples are likeliest, best first.

        Args:
            samples: As for :meth:`score`.
            k: The number of hits.
            exact: Whether to score all samples under all documents (in single precision, and those
                that may be among the best again in double); otherwise a few of the samples
                choose candidates, which are scored in full: the same scores, but a document may be
                missed.
            candidates: The number of candidates; by default 400, forty per hit or one document in
                250, whichever is most.
        """
        count = candidates or self.num_candidates(k)
        if exact or len(self) <= count:
            likely = self._possible_hits(samples, k)
        else:
            likely = self.candidates(samples, count)
        scores = self.score_subset(samples, likely)
        order = top_k(scores, k, lambda at: self.documents.id_of(int(likely[at])))
        return [
            DocumentHit(self.documents[at], score, at)
            for at, score in zip(likely[order].tolist(), scores[order].tolist(), strict=True)
        ]

    def num_candidates(self, k: int) -> int:
        """Return the number of candidates for ``k`` hits."""
        return max(LEAST_CANDIDATES, 40 * k, len(self) // CANDIDATE_SHARE)

    def _possible_hits(self, samples: ArrayLike, k: int) -> NDArray[np.int64]:
        """Score all in single precision; return those that may be among the ``k`` best."""
        scores = self.score(samples, precision="single")
        if len(scores) <= k:
            return np.arange(len(scores))
        least = np.partition(scores, len(scores) - k)[len(scores) - k]
        return np.flatnonzero(scores >= least - SINGLE_ERROR)

    def candidates(self, samples: ArrayLike, count: int) -> NDArray[np.int64]:
        """Return the positions, ascending, of the best documents of a rough first stage.

        Args:
            samples: As for :meth:`score`.
            count: The number of documents.
        """
        values = self._standardised(samples)
        few = values[evenly_spread(len(values), FIRST_SAMPLES)]
        log_background = self.background.log_density(few)
        kappa = self.settings.kappa
        gains = self._over_segments(
            lambda packed: rough_gains(packed, few, log_background, kappa).astype(np.float64)
        )
        return np.sort(top_k(gains, count))

    def region_evidence(self, samples: ArrayLike, document: int | str) -> Array:
        """Return the evidence of each sample for a document.

        Args:
            samples: ``(N, n)`` as for :meth:`score`.
            document: Its position or its id.

        Returns:
            ``(N,)`` log[1 + k p(v|doc) / ((1-k) p(v))], the mean of which ranks documents.
        """
        values = self._standardised(samples)
        log_background = self.background.log_density(values)
        odds = np.log(self.settings.kappa) - np.log1p(-self.settings.kappa)
        packed = self._models(np.array([self._position(document)]))
        logs = log_densities(packed, values)[0]
        evidence: Array = np.logaddexp(0.0, odds + logs - log_background)
        return evidence

    def model(self, document: int | str) -> Mixtures:
        """Return the mixture of one document on the scale of the index."""
        return self._models(np.array([self._position(document)])).mixtures()

    @cached_property
    def background(self) -> CollectionBackground:
        """The background of the whole index."""
        keys = [s.segment.array(VISUAL, "lots")[s.rows] for s in self._segments]
        chosen = reference_rows(np.concatenate(keys)) if keys else np.zeros(0, np.int64)
        if not len(chosen):
            raise RetrievalError("the index is empty; add videos to it before searching.")
        return CollectionBackground(self._models(chosen), self.settings.floor)

    def _models(self, positions: NDArray[np.int64]) -> PackedMixtures:
        """Read the models of some documents, in the order given."""
        first = self._packed(0)
        factors = np.empty((len(positions), *first.factors.shape[1:]), dtype=np.float32)
        constants = np.empty((len(positions), first.num_components))
        owners = np.searchsorted(self._starts, positions, side="right") - 1
        for owner in np.unique(owners).tolist():
            here = owners == owner
            rows = self._segments[owner].rows[positions[here] - self._starts[owner]]
            packed = self._packed(owner)
            factors[here], constants[here] = packed.factors[rows], packed.constants[rows]
        return PackedMixtures(factors, constants)

    def _packed(self, number: int) -> PackedMixtures:
        segment = self._segments[number].segment
        return PackedMixtures(segment.array(VISUAL, "factors"), segment.array(VISUAL, "constants"))

    def _over_segments(self, score: Callable[[PackedMixtures], Array]) -> Array:
        scores = np.empty(len(self))
        for number, (live, start) in enumerate(zip(self._segments, self._starts, strict=False)):
            scores[start : start + len(live.rows)] = score(self._packed(number))[live.rows]
        return scores

    def _device_gains(self, packed: PackedMixtures, values: Array, log_background: Array) -> Array:
        from wordsight.inference.gpu import mixtures_on

        # Segments and their arrays live as long as the index.
        place = id(packed.factors)
        if place not in self._on_device:
            device = self.device or "cpu"
            self._on_device[place] = mixtures_on(packed.factors, packed.constants, device)
        held = self._on_device[place]
        kappa = self.settings.kappa
        if held is None:
            return smoothed_gains(packed, values, log_background, kappa, "single")
        return held.gains(values, log_background, kappa)

    def _standardised(self, samples: ArrayLike) -> Array:
        values = np.asarray(samples, dtype=np.float64)
        scale = self.settings.require_scale()
        if values.ndim != 2 or values.shape[1] != len(scale.center):
            raise RetrievalError(
                f"the index has {len(scale.center)} numbers per sample, got an array of shape "
                f"{values.shape}; use the features of the index."
            )
        observed_dimensions(values)
        return scale.standardise(values)

    def _log_unit(self, values: Array) -> float:
        """Return the log volume of a unit of the scale: densities are per unit of the features."""
        known = ~np.isnan(values).all(axis=0)
        return float(np.log(self.settings.require_scale().spread[known]).sum())

    def _constant(self, log_background: Array) -> float:
        return float(log_background.mean() + np.log1p(-self.settings.kappa))

    def _position(self, document: int | str) -> int:
        return self.documents.position_of(document) if isinstance(document, str) else document
