"""Sample tables for rule discovery: per predicate, all frames and objects with their features.

A row is one assignment of objects to the predicate's arguments at one frame; a column is what a
condition of a rule may compare. Values are sorted into a few bins, whose bounds are quantiles of
the data rounded to short numbers.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from wordsight.states.grounding.grounder import places_of
from wordsight.states.grounding.observations import StateObservations
from wordsight.states.rules.facts import Fact, StateSequence
from wordsight.states.rules.rule import Atom, FeatureComparison, Rule
from wordsight.states.rules.vocabulary import ANY_KIND, Predicate, StateVocabulary

__all__ = [
    "UNKNOWN",
    "VARIABLES",
    "BinCondition",
    "SampleColumn",
    "SampleSettings",
    "SampleTable",
    "gather_samples",
    "quantile_thresholds",
]

_DECIMALS = 6  # values that agree to this many decimals count as equal

UNKNOWN = 255
"""The bin of missing values; no condition holds for them."""

VARIABLES = ("X", "Y", "Z", "U", "V", "W")

Array = NDArray[np.float64]
BinCondition = tuple[int, int, bool]
"""A condition of a rule: column, level, and whether values must lie above the threshold."""


@dataclass(frozen=True, kw_only=True)
class SampleSettings:
    """Which samples rules are discovered from.

    Attributes:
        num_thresholds: Most thresholds per feature, at quantiles.
        most_rows: Frames are skipped evenly if there are more samples than this.
        around_changes: Seconds before and after a change of a fact in which no frame is skipped,
            because short states are learned nowhere else.
    """

    num_thresholds: int = 24
    most_rows: int = 50_000
    around_changes: float = 0.0


@dataclass(frozen=True)
class SampleColumn:
    """A feature of some of the predicate's arguments, which conditions compare.

    Attributes:
        feature: Name of the feature.
        arguments: Which argument of the predicate each argument of the feature is.
        thresholds: Thresholds in increasing order; no value of the data equals one.
    """

    feature: str
    arguments: tuple[int, ...]
    thresholds: tuple[float, ...]

    def condition(self, level: int, above: bool) -> FeatureComparison:
        """Return the condition that values lie below or above a threshold."""
        names = tuple(VARIABLES[k] for k in self.arguments)
        return FeatureComparison(
            self.feature, names, ">=" if above else "<=", self.thresholds[level]
        )


@dataclass(frozen=True, eq=False)
class SampleTable:
    """Samples of one predicate.

    Attributes:
        predicate: The predicate.
        columns: The D columns.
        bins: ``(D, N)`` number of thresholds below each value, or :data:`UNKNOWN`.
        truth: ``(N,)`` whether the fact holds.
        video: ``(N,)`` number of the video.
        weight: ``(N,)`` number of samples that each one represents.
        frame: ``(N,)`` the frame of each sample in its video.
        places: ``(N, A)`` the objects assigned to the predicate's arguments.
    """

    predicate: Predicate
    columns: tuple[SampleColumn, ...]
    bins: NDArray[np.uint8]
    truth: NDArray[np.bool_]
    video: NDArray[np.int64]
    weight: Array
    frame: NDArray[np.int64]
    places: NDArray[np.int64]

    @cached_property
    def levels(self) -> NDArray[np.int64]:
        """``(D,)`` number of thresholds of each column."""
        return np.array([len(column.thresholds) for column in self.columns], dtype=np.int64)

    def holds(self, column: int, level: int, above: bool) -> NDArray[np.bool_]:
        """Return ``(N,)`` where a condition holds."""
        values = self.bins[column]
        below: NDArray[np.bool_] = values <= level
        return (values > level) & (values != UNKNOWN) if above else below

    def rule(self, conditions: Sequence[BinCondition], weight: float, *, positive: bool) -> Rule:
        """Return the rule that the predicate holds, or does not, under conditions."""
        atom = Atom(self.predicate.name, VARIABLES[: self.predicate.arity])
        body = [self.columns[c].condition(level, above) for c, level, above in conditions]
        if not positive:
            return Rule(weight, (*body, atom), None)
        used = {term for condition in body for term in condition.arguments}
        kinds = zip(self.predicate.types, atom.arguments, strict=True)
        unbound = [Atom(kind, (name,)) for kind, name in kinds if name not in used]
        return Rule(weight, (*body, *unbound), atom)

    def __len__(self) -> int:
        return len(self.truth)


def gather_samples(
    predicate: Predicate,
    observations: Sequence[StateObservations],
    states: Sequence[StateSequence],
    vocabulary: StateVocabulary,
    settings: SampleSettings,
) -> SampleTable:
    """Return the samples of a predicate.

    Args:
        predicate: The predicate.
        observations: The videos.
        states: Their labels, frame by frame.
        vocabulary: Which features may be compared.
        settings: Which samples to use.
    """
    rows = sum(len(o) * len(places_of(predicate.types, o)) for o in observations)
    step = max(1, -(-rows // settings.most_rows))
    sources = _sources(predicate, vocabulary)
    values: list[list[Array]] = [[] for _ in sources]
    truth, video, weight, frame, where_of = [], [], [], [], []
    for number, (one, labels) in enumerate(zip(observations, states, strict=True)):
        for place in places_of(predicate.types, one):
            fact = Fact(predicate.name, tuple(one.objects[k].name for k in place))
            holds = labels.table([fact])[:, 0]
            present = np.logical_and.reduce(one.present[:, list(place)], axis=1)
            near = _near_changes(holds, one.times, settings.around_changes)
            kept, counts = _thinned(present, near, number % step, step)
            for column, (feature, arguments) in zip(values, sources, strict=True):
                where = tuple(place[k] for k in arguments)
                column.append(one.features[feature][(kept, *where)])
            truth.append(holds[kept])
            weight.append(counts)
            video.append(np.full(len(kept), number))
            frame.append(kept)
            where_of.append(np.tile(np.array(place, dtype=np.int64), (len(kept), 1)))
    joined = [np.concatenate([np.zeros(0), *column]) for column in values]
    chosen = _distinct(joined)
    columns = tuple(
        SampleColumn(*sources[d], quantile_thresholds(joined[d], settings.num_thresholds))
        for d in chosen
    )
    usable = [k for k, column in enumerate(columns) if column.thresholds]
    bins = [_binned(joined[chosen[k]], columns[k].thresholds) for k in usable]
    return SampleTable(
        predicate,
        tuple(columns[k] for k in usable),
        np.stack(bins) if bins else np.zeros((0, len(joined[0]) if joined else 0), np.uint8),
        np.concatenate([np.zeros(0, bool), *truth]).astype(np.bool_),
        np.concatenate([np.zeros(0, int), *video]).astype(np.int64),
        np.concatenate([np.zeros(0), *weight]),
        np.concatenate([np.zeros(0, int), *frame]).astype(np.int64),
        np.concatenate([np.zeros((0, predicate.arity), int), *where_of]).astype(np.int64),
    )


def _near_changes(holds: NDArray[np.bool_], times: Array, seconds: float) -> NDArray[np.bool_]:
    """Return ``(T,)`` which frames lie near a change of a fact."""
    near = np.zeros(len(holds), dtype=np.bool_)
    for change in times[np.flatnonzero(np.diff(holds)) + 1] if seconds > 0 else ():
        near |= np.abs(times - change) <= seconds
    return near


def _thinned(
    present: NDArray[np.bool_], whole: NDArray[np.bool_], first: int, step: int
) -> tuple[NDArray[np.intp], Array]:
    """Return the frames to learn from and how many frames each represents.

    Args:
        present: ``(T,)`` where all objects of the fact are visible.
        whole: ``(T,)`` where no frame is skipped.
        first: First of the other frames to keep.
        step: One of how many other frames is kept.
    """
    kept = np.zeros(len(present), dtype=np.bool_)
    kept[np.flatnonzero(present & ~whole)[first::step]] = True
    kept |= present & whole
    frames = np.flatnonzero(kept)
    return frames, np.where(whole[frames], 1.0, float(step))


def _sources(
    predicate: Predicate, vocabulary: StateVocabulary
) -> list[tuple[str, tuple[int, ...]]]:
    """Return every feature with every choice of the predicate's arguments of its kinds."""
    sources = []
    count = predicate.arity
    for feature in vocabulary.features:
        choices: list[tuple[int, ...]] = [(k,) for k in range(count)]
        if feature.arity == 2:
            choices = [(i, k) for i in range(count) for k in range(count) if i != k]
        for choice in choices:
            kinds = [predicate.types[k] for k in choice]
            if all(t in (ANY_KIND, k) for t, k in zip(feature.types, kinds, strict=True)):
                sources.append((feature.name, choice))
    return sources


def _distinct(columns: list[Array]) -> list[int]:
    """Return the columns without repetitions of earlier ones, such as symmetric distances."""
    unique: dict[bytes, int] = {}
    for k, column in enumerate(columns):
        unique.setdefault(np.round(column, _DECIMALS).tobytes(), k)
    return sorted(unique.values())


def quantile_thresholds(values: Array, count: int) -> tuple[float, ...]:
    """Return short numbers at approximately even quantiles that no sample equals."""
    spread = np.round(values[~np.isnan(values)], _DECIMALS)
    known = np.unique(spread)
    if len(known) < 2:
        return ()
    shares = np.linspace(0, 1, count + 2)[1:-1]
    tolerance = 0.2 / (count + 1)
    low = np.quantile(spread, shares - tolerance, method="lower")
    high = np.quantile(spread, shares + tolerance, method="higher")
    following = known[np.minimum(np.searchsorted(known, low, side="right"), len(known) - 1)]
    high = np.maximum(high, following)
    pairs = [(a, b) for a, b in zip(low.tolist(), high.tolist(), strict=True) if a < b]
    return tuple(sorted({_readable(a, b, known) for a, b in pairs}))


def _readable(low: float, high: float, known: Array) -> float:
    """Return a short number strictly between two that is not a known value."""
    middle = (low + high) / 2
    for digits in range(1, 8):
        short = float(f"{middle:.{digits}g}")
        place = int(np.searchsorted(known, short))
        if low < short < high and not (place < len(known) and known[place] == short):
            return short
    place = int(np.searchsorted(known, middle, side="right"))
    between = float((known[place - 1] + known[place]) / 2)
    short = float(f"{between:.10g}")
    return short if known[place - 1] < short < known[place] else between


def _binned(values: Array, thresholds: tuple[float, ...]) -> NDArray[np.uint8]:
    bins = np.searchsorted(np.array(thresholds), values, side="left").astype(np.uint8)
    bins[np.isnan(values)] = UNKNOWN
    return bins
