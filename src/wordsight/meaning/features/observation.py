"""`Observation`: a clip as the learner sees it, every feature of everything as the number of a bin.

Bins are counted through all features of one kind, so that a word's weights for all of them lie in
one row and one look-up reads them; the first number of each feature stands for "not measured".
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

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
from wordsight.meaning.features.view import ClipView

__all__ = [
    "FeatureVocabulary",
    "Layout",
    "Observation",
    "cut_window",
    "learn_vocabulary",
    "measured",
    "observe",
]


# The vocabulary: bins of every feature, and the labels of the detectors.


_MOST_VALUES = 200_000  # per feature; enough for any quantile


@dataclass(frozen=True)
class FeatureVocabulary:
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
        rest = (n for n in self.bins if n != LABEL and get_feature(n).arity == 1)
        return (LABEL, *rest)

    @property
    def pairs(self) -> tuple[str, ...]:
        """Features of two things."""
        return tuple(n for n in self.bins if n != LABEL and get_feature(n).arity == 2)

    def to_json(self) -> dict[str, Any]:
        """Return what JSON can hold of it."""
        return {name: bins.to_json() for name, bins in self.bins.items()}

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> "FeatureVocabulary":
        """Undo :meth:`to_json`."""
        return cls({name: Bins.from_json(bins) for name, bins in values.items()})


def measured(found: TrackFeature, view: ClipView) -> NDArray[np.float64]:
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
) -> FeatureVocabulary:
    """Learn where to cut every feature, and gather the labels.

    Args:
        views: The training clips.
        features: The features that are used.
        clusters: Cut every learned feature into so many clusters instead of by its own scheme.
        trembling: Whether boxes tremble, so that what counts as still is measured.
    """
    names = sorted({str(name) for view in views for name in _labels_used(view)})
    bins = {LABEL: CategoryBins(tuple(names)).learn(np.zeros(0))}
    for name in features.names():
        values = _gathered_values(measured(get_feature(name), view) for view in views)
        scheme: BinningScheme = get_feature(name).scheme
        # Only cuts that come from data differ between schemes; fixed and named ones stay.
        if clusters is not None and not _is_given(scheme):
            scheme = ClusterBins(clusters)
        if trembling:
            scheme = adapted_to_jitter(scheme, values)
        cut = scheme.learn(values)
        if len(np.unique(cut(values))) > 1:
            bins[name] = cut
    return FeatureVocabulary(bins)


def _is_given(scheme: BinningScheme) -> bool:
    return hasattr(scheme, "names")


def _labels_used(view: ClipView) -> set[str]:
    names = view.clip.detections.label_names
    return {names[index] for index in np.unique(view.labels[view.present])}


def _gathered_values(arrays: Iterable[NDArray[np.float64]]) -> NDArray[np.float64]:
    parts = [array[np.isfinite(array)] for array in arrays]
    values = np.concatenate(parts) if parts else np.zeros(0)
    # Every n-th value rather than a random choice: the same clips give the same bins.
    return values[:: max(1, len(values) // _MOST_VALUES)]


Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Layout:
    """Where the bins of each feature of one kind lie in a row of weights.

    Attributes:
        names: The features.
        starts: ``(F + 1,)`` where each feature begins: one place for "not measured", then its
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
        """Return where the bins of a feature lie, without the place for "not measured"."""
        number = self.names.index(name)
        return slice(int(self.starts[number]) + 1, int(self.starts[number + 1]))


@dataclass(frozen=True)
class Observation:
    """Bins of T frames of J things.

    Attributes:
        view: The clip and the frames that are looked at.
        singles: ``(F, T, J)`` place of each feature of one thing in a row of weights.
        pairs: ``(G, T, J, J)`` place of each feature of two things in a row of weights.
        duration: Seconds the clip lasts.
    """

    view: ClipView
    singles: Ints
    pairs: Ints
    duration: float

    @property
    def num_frames(self) -> int:
        """Number T of frames looked at."""
        return int(self.singles.shape[1])

    @property
    def num_things(self) -> int:
        """Number J of things."""
        return int(self.singles.shape[2])

    @property
    def tracked(self) -> bool:
        """Whether a column is one thing throughout."""
        return self.view.tracked


def observe(view: ClipView, vocabulary: FeatureVocabulary) -> Observation:
    """Turn a view of a clip into bins."""
    count = view.present.shape[1]
    shape = (len(view.frames), count)
    return Observation(
        view,
        _placed(vocabulary.singles, shape, view, vocabulary),
        _placed(vocabulary.pairs, (*shape, count), view, vocabulary),
        view.clip.end - view.clip.start,
    )


def _placed(
    names: tuple[str, ...], shape: tuple[int, ...], view: ClipView, vocabulary: FeatureVocabulary
) -> Ints:
    starts = Layout.of(names, vocabulary).starts
    places = np.zeros((len(names), *shape), dtype=np.int64)
    for row, start, name in zip(places, starts, names, strict=False):
        row[:] = start + 1 + _bins(name, view, vocabulary)
    return places


def _bins(name: str, view: ClipView, vocabulary: FeatureVocabulary) -> Ints:
    if name != LABEL:
        return vocabulary.bins[name](measured(get_feature(name), view))
    known = {label: index for index, label in enumerate(vocabulary.labels)}
    names = view.clip.detections.label_names
    index = np.array([known.get(name, -1) for name in names] + [-1], dtype=np.int64)
    return np.where(view.present, index[view.labels], -1)


# Windows of a long observation: features are measured once, windows are cut out of them.


def cut_window(
    seen: Observation,
    first: int,
    end: int,
    *,
    least_seen: float = 0.25,
    most: int | None = None,
) -> Observation:
    """Return the frames from ``first`` to ``end`` (exclusive) with the things seen in them.

    Args:
        seen: The whole.
        first: First frame of the window.
        end: One past its last frame.
        least_seen: Tracks in sight for a smaller share of the window are left out.
        most: Keep at most this many things, those seen longest and surest.
    """
    view, rows = seen.view, slice(first, end)
    present = view.present[rows]
    share = present.mean(axis=0) if end > first else np.zeros(present.shape[1])
    kept = np.flatnonzero(share >= least_seen if view.tracked else share > 0)
    kept = kept[kept < present.shape[1] - 1]
    if most is not None and len(kept) > most:
        weight = (present * np.maximum(view.scores[rows], 1e-3)).mean(axis=0)
        kept = np.sort(kept[np.argsort(-weight[kept], kind="stable")[:most]])
    kept = np.append(kept, present.shape[1] - 1)
    named = ("places", "present", "boxes", "labels", "scores", "velocity", "growth")
    parts = {name: getattr(view, name)[rows][:, kept] for name in named}
    context = ("frames", "hands", "hand_velocity", "heads")
    parts |= {name: getattr(view, name)[rows] for name in context}
    times = view.times
    step = float(np.median(np.diff(times))) if len(times) > 1 else 0.0
    lasting = float(times[end - 1] - times[first]) + step if end > first else 0.0
    return Observation(
        replace(view, **parts),
        seen.singles[:, rows][:, :, kept],
        seen.pairs[:, rows][:, :, kept][:, :, :, kept],
        lasting,
    )
