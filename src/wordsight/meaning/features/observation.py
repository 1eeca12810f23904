"""`Observation`: the features of all objects of a clip as indices of bins.

Bins are numbered through all features of one kind, so that a word's weights for all of them form
one row and one look-up reads them; the first number of each feature means "not measured".
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from wordsight.meaning.features.bins import (
    BinningScheme,
    Bins,
    CategoryBins,
    ClusterBins,
    adapted_to_jitter,
)
from wordsight.meaning.features.registry import TrackFeature, get_feature
from wordsight.meaning.features.sets import LABEL, FeatureSet
from wordsight.meaning.features.view import ClipView, most_visible

__all__ = [
    "FeatureVocabulary",
    "Layout",
    "Observation",
    "cut_window",
    "learn_vocabulary",
    "measured",
    "observe",
]

Array = NDArray[np.float64]
Ints = NDArray[np.int64]

_MOST_VALUES = 200_000  # per feature; enough for any quantile


@dataclass(frozen=True)
class FeatureVocabulary:
    """The bins of all features.

    Attributes:
        bins: The bins of every feature; those of :data:`LABEL` are the detected classes. A feature
            that was never measured in training, or always fell into the same bin, is missing.
    """

    bins: dict[str, Bins]

    @property
    def labels(self) -> tuple[str, ...]:
        """The classes detected in the training clips."""
        return self.bins[LABEL].names

    @property
    def singles(self) -> tuple[str, ...]:
        """Features of one object, the label first."""
        return (LABEL, *(n for n in self.bins if n != LABEL and get_feature(n).arity == 1))

    @property
    def pairs(self) -> tuple[str, ...]:
        """Features of two objects."""
        return tuple(n for n in self.bins if n != LABEL and get_feature(n).arity == 2)

    def to_json(self) -> dict[str, Any]:
        """Return a JSON representation."""
        return {name: bins.to_json() for name, bins in self.bins.items()}

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> "FeatureVocabulary":
        """Undo :meth:`to_json`."""
        return cls({name: Bins.from_json(bins) for name, bins in values.items()})


def measured(feature: TrackFeature, view: ClipView) -> Array:
    """Measure a feature; NaN where an object is absent, and for pairs of an object with itself."""
    values = feature.measure(view)
    if feature.arity == 1:
        return np.where(view.present, values, np.nan)
    both = view.present[:, :, None] & view.present[:, None]
    both &= ~np.eye(both.shape[1], dtype=bool)
    return np.where(both, values, np.nan)


def learn_vocabulary(
    views: Sequence[ClipView],
    features: FeatureSet,
    *,
    clusters: int | Literal["own"] | None = None,
    jitter: bool = False,
) -> FeatureVocabulary:
    """Learn the bins of every feature, and collect the labels.

    Args:
        views: The training clips.
        features: The features.
        clusters: Bin values by this many clusters instead of each feature's own scheme; if "own",
            by as many as that has bins.
        jitter: Whether boxes jitter, so that the limit of stillness is estimated.
    """
    names = sorted({str(name) for view in views for name in _labels_used(view)})
    bins = {LABEL: CategoryBins(tuple(names)).learn(np.zeros(0))}
    for name in features.names():
        feature = get_feature(name)
        values = _sample(measured(feature, view) for view in views)
        scheme: BinningScheme = feature.scheme
        own = scheme.learn(values)
        # Bins with a meaning of their own, such as a side or a direction, stay what they are.
        if clusters is not None and not own.circular and not getattr(scheme, "names", ()):
            scheme = ClusterBins(len(own) if clusters == "own" else clusters)
        if jitter:
            scheme = adapted_to_jitter(scheme, values)
        learned = scheme.learn(values)
        if len(np.unique(learned(values))) > 1:
            bins[name] = learned
    return FeatureVocabulary(bins)


def _labels_used(view: ClipView) -> set[str]:
    names = view.clip.detections.label_names
    return {names[index] for index in np.unique(view.labels[view.present])}


def _sample(arrays: Iterable[Array]) -> Array:
    parts = [array[np.isfinite(array)] for array in arrays]
    values = np.concatenate(parts) if parts else np.zeros(0)
    # Every n-th value rather than a random choice: the same clips give the same bins.
    return values[:: max(1, len(values) // _MOST_VALUES)]


@dataclass(frozen=True)
class Layout:
    """Positions of the bins of all features of one kind in a row of weights.

    Attributes:
        names: The features.
        starts: ``(F + 1,)`` where each feature begins: one position for "not measured", then its
            bins; the last number is the length of the row.
    """

    names: tuple[str, ...]
    starts: Ints

    @classmethod
    def of(cls, names: tuple[str, ...], vocabulary: FeatureVocabulary) -> "Layout":
        """Lay out features one after another."""
        sizes = [len(vocabulary.bins[name]) + 1 for name in names]
        return cls(names, np.cumsum([0, *sizes]))

    @property
    def length(self) -> int:
        """Length of a row of weights."""
        return int(self.starts[-1])

    def place(self, name: str) -> slice:
        """Return the positions of the bins of a feature, without that for "not measured"."""
        number = self.names.index(name)
        return slice(int(self.starts[number]) + 1, int(self.starts[number + 1]))


@dataclass(frozen=True)
class Observation:
    """Bins of T frames of J objects.

    Attributes:
        view: The view of the clip.
        singles: ``(F, T, J)`` position of each feature of one object in a row of weights.
        pairs: ``(G, T, J, J)`` position of each feature of two objects in a row of weights.
        duration: Duration of the clip in seconds.
    """

    view: ClipView
    singles: Ints
    pairs: Ints
    duration: float

    @property
    def num_frames(self) -> int:
        """Number T of sampled frames."""
        return int(self.singles.shape[1])

    @property
    def num_objects(self) -> int:
        """Number J of objects, the unseen one included."""
        return int(self.singles.shape[2])

    @property
    def tracked(self) -> bool:
        """Whether a column is one object throughout."""
        return self.view.tracked


def observe(view: ClipView, vocabulary: FeatureVocabulary) -> Observation:
    """Measure all features of a view and bin them."""
    count = view.present.shape[1]
    shape = (len(view.frames), count)
    return Observation(
        view,
        _positions(vocabulary.singles, shape, view, vocabulary),
        _positions(vocabulary.pairs, (*shape, count), view, vocabulary),
        view.clip.end - view.clip.start,
    )


def _positions(
    names: tuple[str, ...], shape: tuple[int, ...], view: ClipView, vocabulary: FeatureVocabulary
) -> Ints:
    starts = Layout.of(names, vocabulary).starts
    positions = np.zeros((len(names), *shape), dtype=np.int64)
    for row, start, name in zip(positions, starts, names, strict=False):
        row[:] = start + 1 + _bin_indices(name, view, vocabulary)
    return positions


def _bin_indices(name: str, view: ClipView, vocabulary: FeatureVocabulary) -> Ints:
    if name != LABEL:
        return vocabulary.bins[name](measured(get_feature(name), view))
    known = {label: index for index, label in enumerate(vocabulary.labels)}
    names = view.clip.detections.label_names
    index = np.array([known.get(name, -1) for name in names] + [-1], dtype=np.int64)
    return np.where(view.present, index[view.labels], -1)


def cut_window(
    observation: Observation,
    first: int,
    end: int,
    *,
    min_visible: float = 0.25,
    max_objects: int | None = None,
) -> Observation:
    """Return frames ``first`` to ``end`` (exclusive) with the objects visible in them.

    Args:
        observation: The whole, whose features are measured once for all windows.
        first: First frame of the window.
        end: One past its last frame.
        min_visible: Tracks that are visible in a smaller share of the window are left out.
        max_objects: Keep at most this many objects, those visible longest with highest scores.
    """
    view, rows = observation.view, slice(first, end)
    present = (view.present & ~view.carried)[rows]
    share = present.mean(axis=0) if end > first else np.zeros(present.shape[1])
    kept = np.flatnonzero(share >= min_visible if view.tracked else share > 0)
    kept = kept[kept < present.shape[1] - 1]
    kept = most_visible(kept, present, view.scores[rows], max_objects)
    kept = np.append(kept, present.shape[1] - 1)
    times = view.times
    step = float(np.median(np.diff(times))) if len(times) > 1 else 0.0
    duration = float(times[end - 1] - times[first]) + step if end > first else 0.0
    return Observation(
        view.cut(rows, kept),
        observation.singles[:, rows][:, :, kept],
        observation.pairs[:, rows][:, :, kept][:, :, :, kept],
        duration,
    )
