"""`Vocabulary`: what observations are made of: bins of every feature, and the detectors' labels."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wordsight.meaning.features.bins import Bins, Categories, Clusters, Scheme, for_trembling
from wordsight.meaning.features.feature import Feature, feature
from wordsight.meaning.features.sets import LABEL, FeatureSet
from wordsight.meaning.features.view import ClipView

__all__ = ["Vocabulary", "learn_vocabulary", "measured"]

_MOST_VALUES = 200_000  # per feature; enough for any quantile


@dataclass(frozen=True)
class Vocabulary:
    """The discrete values words are made of.

    Attributes:
        bins: The bins of every feature; those of :data:`LABEL` are the detectors' labels. A
            feature that was never measured in training, or always fell into the same bin, has
            none and is left out everywhere.
    """

    bins: dict[str, Bins]

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels of the detectors seen in training."""
        return self.bins[LABEL].names

    @property
    def singles(self) -> tuple[str, ...]:
        """Features of one thing, the label first."""
        rest = (n for n in self.bins if n != LABEL and feature(n).arity == 1)
        return (LABEL, *rest)

    @property
    def pairs(self) -> tuple[str, ...]:
        """Features of two things."""
        return tuple(n for n in self.bins if n != LABEL and feature(n).arity == 2)

    def to_json(self) -> dict[str, Any]:
        """Return what JSON can hold of it."""
        return {name: bins.to_json() for name, bins in self.bins.items()}

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> "Vocabulary":
        """Undo :meth:`to_json`."""
        return cls({name: Bins.from_json(bins) for name, bins in values.items()})


def measured(found: Feature, view: ClipView) -> NDArray[np.float64]:
    """Measure a feature: NaN where a thing is not present, and for pairs of a thing with itself."""
    values = found.measure(view)
    if found.arity == 1:
        return np.where(view.present, values, np.nan)
    both = view.present[:, :, None] & view.present[:, None]
    both &= ~np.eye(both.shape[1], dtype=bool)
    return np.where(both, values, np.nan)


def learn_vocabulary(
    views: Sequence[ClipView],
    features: FeatureSet,
    *,
    clusters: int | None = None,
    trembling: bool = False,
) -> Vocabulary:
    """Learn where to cut every feature, and gather the labels.

    Args:
        views: The training clips.
        features: The features that are used.
        clusters: Cut every learned feature into so many clusters instead of by its own scheme.
        trembling: Whether boxes tremble, so that what counts as still is measured.
    """
    names = sorted({str(name) for view in views for name in _labels_used(view)})
    bins = {LABEL: Categories(tuple(names)).learn(np.zeros(0))}
    for name in features.names():
        values = _gathered(measured(feature(name), view) for view in views)
        scheme: Scheme = feature(name).scheme
        # Only cuts that come from data differ between schemes; fixed and named ones stay.
        if clusters is not None and not _is_given(scheme):
            scheme = Clusters(clusters)
        if trembling:
            scheme = for_trembling(scheme, values)
        cut = scheme.learn(values)
        if len(np.unique(cut(values))) > 1:
            bins[name] = cut
    return Vocabulary(bins)


def _is_given(scheme: Scheme) -> bool:
    return hasattr(scheme, "names")


def _labels_used(view: ClipView) -> set[str]:
    names = view.clip.detections.label_names
    return {names[index] for index in np.unique(view.labels[view.present])}


def _gathered(arrays: Iterable[NDArray[np.float64]]) -> NDArray[np.float64]:
    parts = [array[np.isfinite(array)] for array in arrays]
    values = np.concatenate(parts) if parts else np.zeros(0)
    # Every n-th value rather than a random choice: the same clips give the same bins.
    return values[:: max(1, len(values) // _MOST_VALUES)]
