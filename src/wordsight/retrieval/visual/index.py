"""`VisualIndex`: the mixtures of all documents of an index, ready for queries."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wordsight.engine.processes import in_threads
from wordsight.errors import RetrievalError
from wordsight.inference.mixtures.gaussian import Mixtures
from wordsight.inference.numba_support import numba_available, one_blas_thread
from wordsight.retrieval.documents import DocumentHit, DocumentTable, kth_largest, top_k
from wordsight.retrieval.index.segments import LiveSegment, keep_learned
from wordsight.retrieval.visual.codes import code_gains
from wordsight.retrieval.visual.embedding import EmbeddedBlocks
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
from wordsight.retrieval.visual.smoothing import VisualSmoothing, learn_smoothing

if TYPE_CHECKING:
    from wordsight.inference.gpu import DeviceMixtures

__all__ = ["SMOOTHING_FILE", "VisualIndex"]

SMOOTHING_FILE = "visual-smoothing.json"

CODE_SAMPLES, FIRST_SAMPLES, SECOND_SAMPLES = 64, 32, 128
"""Samples that choose candidates in a search by stages: among all documents, by codes or by models,
and among the best."""

SINGLE_ERROR = 2e-3
"""Far more than the error of two scores in single precision (about 1e-5)."""

LEAST_CANDIDATES = 400
"""Documents that are scored in full, or forty times the number of hits."""

# Documents that one thread takes at a time: of candidates, and of all in blocks of 64.
_READ_TOGETHER, _SCORED_TOGETHER, _THREADED = 1000, 128, 4096

SECOND_SHARE = 250
"""One document in so many has a second look, if those are more."""


class VisualIndex:
    r"""Scores query samples against every document.

    $$\frac1N\sum_{v}w_v\log\big[\kappa\,p(v|\theta_d)+(1-\kappa)\,p(v)\big]$$

    Args:
        segments: Segments with a visual part.
        documents: Their documents in the same order.
        settings: The settings of the models.
        device: Device that scores all documents, such as ``cuda``; the best are scored again on the
            CPU, so that results are the same. Models stay on the device between queries.
        folder: Where what is learned from the documents is kept; learned each time if None.
        generation: The generation of the index.
    """

    def __init__(
        self,
        segments: Sequence[LiveSegment],
        documents: DocumentTable,
        settings: VisualSettings,
        *,
        device: str | None = None,
        folder: Path | None = None,
        generation: int = 0,
    ) -> None:
        self.device = device
        self._folder, self._generation = folder, generation
        self._on_device: dict[int, DeviceMixtures | None] = {}
        self.documents = documents
        self.settings = settings
        self.features = settings.features()
        self._segments = tuple(segments)
        self._starts = np.cumsum([0, *(len(each.rows) for each in segments)])

    def __len__(self) -> int:
        return int(self._starts[-1])

    @one_blas_thread()
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
        asked = self._ask(values)

        def gain(packed: PackedMixtures) -> Array:
            if precision == "single" and self.device is not None:
                return self._device_gains(packed, asked)
            return asked.gains(packed, precision)

        return self._over_segments(gain) + asked.constant - unit

    @one_blas_thread()
    def score_subset(self, samples: ArrayLike, positions: NDArray[np.int64]) -> Array:
        """Return the scores of some documents only."""
        values = self._standardised(samples)
        asked = self._ask(values)
        gains = self._in_parts(asked.gains, positions, _SCORED_TOGETHER)
        scores: Array = gains + asked.constant - self._log_unit(values)
        return scores

    def unrelated_score(self, samples: ArrayLike) -> float:
        """Return the score of a document that is exactly as likely as the collection."""
        values = self._standardised(samples)
        asked = self._ask(values)
        return asked.constant - asked.log_share - self._log_unit(values)

    @one_blas_thread()
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
            candidates: The number of candidates; by default 400, or forty per hit if more.
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
        return max(LEAST_CANDIDATES, 40 * k)

    def _possible_hits(self, samples: ArrayLike, k: int) -> NDArray[np.int64]:
        """Score all in single precision; return those that may be among the ``k`` best."""
        scores = self.score(samples, precision="single")
        if len(scores) <= k:
            return np.arange(len(scores))
        least = np.partition(scores, len(scores) - k)[len(scores) - k]
        return np.flatnonzero(scores >= least - SINGLE_ERROR)

    @one_blas_thread()  # beside threads of our own, those of BLAS take thrice the time
    def candidates(self, samples: ArrayLike, count: int) -> NDArray[np.int64]:
        """Return the positions, ascending, of the best documents of a rough look, or two.

        The first look is at 32 samples and all documents: in large segments at 64, by the codes of
        their models. If documents are many, those that are best so far have a second look, at more
        samples and the models themselves.

        Args:
            samples: As for :meth:`score`.
            count: The number of documents.
        """
        values = self._standardised(samples)
        asked = self._ask(values)
        few = asked.some(FIRST_SAMPLES)
        coarse = asked.some(CODE_SAMPLES)

        def look(number: int) -> NDArray[np.float32]:
            live = self._segments[number]
            coded = live.segment.arrays(VISUAL)
            if "codes" in coded and numba_available():
                rough = coarse.code_gains(coded)
            else:
                rough = few.rough(self._packed(number))
            return rough if len(rough) == len(live.rows) else rough[live.rows]

        gains = np.concatenate(in_threads(look, range(len(self._segments))))
        likely = _largest(gains, max(count, len(self) // SECOND_SHARE))
        if len(likely) > count:
            more = self._in_parts(asked.some(SECOND_SAMPLES).rough, likely, _READ_TOGETHER)
            likely = likely[_largest(more, count)]
        return likely

    def region_evidence(self, samples: ArrayLike, document: int | str) -> Array:
        """Return the evidence of each sample for a document.

        Args:
            samples: ``(N, n)`` as for :meth:`score`.
            document: Its position or its id.

        Returns:
            ``(N,)`` w log[k p(v|doc) / p(v) + 1-k], the mean of which ranks documents: above 0
            where the document explains the sample better than the collection does.
        """
        asked = self._ask(self._standardised(samples))
        packed = self.models(np.array([self._position(document)]))
        ratios = log_densities(packed, asked.values)[0] - asked.log_background
        evidence = np.logaddexp(asked.log_share, np.log(asked.kappa) + ratios)
        return np.asarray(evidence if asked.weights is None else asked.weights * evidence)

    def kinds_of_evidence(self, samples: ArrayLike, document: int) -> dict[str, float]:
        """Return what each kind of feature alone says of a document, per sample; empty for one."""
        kinds = self.features.kinds if isinstance(self.features, EmbeddedBlocks) else {}
        values = np.asarray(samples, dtype=np.float64)
        told = {}
        for name, dimensions in kinds.items():
            alone = np.full(values.shape, np.nan)
            alone[:, dimensions] = values[:, dimensions]
            told[name] = float(self.region_evidence(alone, document).mean())
        return told

    def model(self, document: int | str) -> Mixtures:
        """Return the mixture of one document on the scale of the index."""
        return self.models(np.array([self._position(document)])).mixtures()

    @cached_property
    def background(self) -> CollectionBackground:
        """What documents are compared with: all of the index, unless another one is used."""
        return self._own_background

    @cached_property
    def _own_background(self) -> CollectionBackground:
        keys = [s.segment.array(VISUAL, "lots")[s.rows] for s in self._segments]
        chosen = reference_rows(np.concatenate(keys)) if keys else np.zeros(0, np.int64)
        if not len(chosen):
            raise RetrievalError("the index is empty; add videos to it before searching.")
        return CollectionBackground(self.models(chosen), self.settings.floor)

    @cached_property
    def smoothing(self) -> VisualSmoothing:
        """How samples are weighed: as the settings say, or learned from the models once a change.

        With another collection as background it is learned from the same documents.
        """
        if self.settings.kappa is not None:
            return VisualSmoothing(self.settings.kappa)
        own = self._own_background
        return keep_learned(
            None if self._folder is None else self._folder / SMOOTHING_FILE,
            self._generation,
            "smoothing",
            lambda: learn_smoothing(own.reference, own.floor).to_json(),
            VisualSmoothing.from_json,
        )

    def use_background(self, other: "VisualIndex") -> None:
        """Compare documents with another collection instead of their own.

        Args:
            other: An index with the same features; its own scale does not matter.

        Raises:
            RetrievalError: If it has other features.
        """
        ours, theirs = self.settings, other.settings
        if ours.described != theirs.described:
            raise RetrievalError(
                "the background must describe pictures as this index does: expected "
                f"{ours.described}, got {theirs.described}; index that library alike."
            )
        mixtures = other.background.reference.mixtures()
        mine, scale = ours.require_scale(), theirs.require_scale()
        ratio = scale.spread / mine.spread
        means = mixtures.means * ratio + (scale.center - mine.center) / mine.spread
        moved = Mixtures(mixtures.weights, means, mixtures.variances * ratio**2)
        self.__dict__["background"] = CollectionBackground(PackedMixtures.pack(moved), ours.floor)

    def _ask(self, values: Array) -> "_Asked":
        background, smoothing = self.background, self.smoothing
        weights = smoothing.weights(background.information(values)) if smoothing.focus else None
        return _Asked(values, background.log_density(values), smoothing.kappa, weights)

    def models(self, positions: NDArray[np.int64]) -> PackedMixtures:
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
            self._segments[owner].segment.release(VISUAL, "factors")
        return PackedMixtures(factors, constants)

    def _in_parts(
        self,
        score: Callable[[PackedMixtures], NDArray[Any]],
        positions: NDArray[np.int64],
        size: int,
    ) -> NDArray[Any]:
        """Score the models of some documents, so many at a time, on all cores."""
        parts = [positions[first : first + size] for first in range(0, len(positions), size)]
        return np.concatenate(
            in_threads(lambda part: score(self.models(part)), parts or [positions])
        )

    def _packed(self, number: int) -> PackedMixtures:
        segment = self._segments[number].segment
        return PackedMixtures(segment.array(VISUAL, "factors"), segment.array(VISUAL, "constants"))

    def _over_segments(self, score: Callable[[PackedMixtures], Array]) -> Array:
        scores = np.empty(len(self))
        for number, (live, start) in enumerate(zip(self._segments, self._starts, strict=False)):
            packed = self._packed(number)
            parts = [packed]
            if self.device is None and len(packed) > _THREADED:
                cuts = range(0, len(packed), _THREADED)
                parts = [packed[first : first + _THREADED] for first in cuts]
            found = np.concatenate(in_threads(score, parts))
            scores[start : start + len(live.rows)] = found[live.rows]
            live.segment.release(VISUAL, "factors")
        return scores

    def _device_gains(self, packed: PackedMixtures, asked: "_Asked") -> Array:
        from wordsight.inference.gpu import mixtures_on

        # Segments and their arrays live as long as the index.
        place = id(packed.factors)
        if place not in self._on_device:
            device = self.device or "cpu"
            self._on_device[place] = mixtures_on(packed.factors, packed.constants, device)
        held = self._on_device[place]
        if held is None:
            return asked.gains(packed, "single")
        return held.gains(asked.values, asked.log_background, asked.kappa, asked.weights)

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

    def _position(self, document: int | str) -> int:
        return self.documents.position_of(document) if isinstance(document, str) else document


@dataclass(frozen=True)
class _Asked:
    """The samples of a query, with what the collection says of them.

    Attributes:
        values: ``(N, n)`` standardised samples.
        log_background: ``(N,)`` their log density in the collection.
        kappa: Weight of a document.
        weights: ``(N,)`` how much each counts, of mean 1; alike if None.
    """

    values: Array
    log_background: Array
    kappa: float
    weights: Array | None

    def gains(self, packed: PackedMixtures, precision: Precision = "double") -> Array:
        """Return how much better each of the models explains the samples."""
        return smoothed_gains(
            packed, self.values, self.log_background, self.kappa, precision, self.weights
        )

    def rough(self, packed: PackedMixtures) -> NDArray[np.float32]:
        """Return the gains of models in single precision."""
        return rough_gains(packed, self.values, self.log_background, self.kappa, self.weights)

    def some(self, count: int) -> "_Asked":
        """Return the same question with at most so many of the samples, at even steps."""
        rows = evenly_spread(len(self.values), count)
        weights = None if self.weights is None else self.weights[rows]
        if weights is not None:
            weights = weights / weights.mean()
        return _Asked(self.values[rows], self.log_background[rows], self.kappa, weights)

    def code_gains(self, coded: Mapping[str, NDArray[Any]]) -> NDArray[np.float32]:
        """Return the gains of models that are known by their codes."""
        offset = np.log(self.kappa) - self.log_share - self.log_background
        shares = np.ones(len(self.values)) if self.weights is None else self.weights
        arrays = (coded["codes"], coded["code_weights"], coded["codebook"])
        return code_gains(*arrays, self.values, offset, shares / len(shares))

    @property
    def log_share(self) -> float:
        """Log of the weight of the background."""
        return float(np.log1p(-self.kappa))

    @property
    def constant(self) -> float:
        """What a score has beyond the gain."""
        logs = self.log_background
        return float((logs if self.weights is None else logs * self.weights).mean()) + (
            self.log_share
        )


def _largest(gains: NDArray[Any], count: int) -> NDArray[np.int64]:
    """Return the places of the largest numbers, ascending."""
    if len(gains) <= count:
        return np.arange(len(gains))
    least = kth_largest(gains, count)
    tied = np.flatnonzero(gains == least)
    above = np.flatnonzero(gains > least)
    return np.sort(np.concatenate([above, tied[: count - len(above)]]))
