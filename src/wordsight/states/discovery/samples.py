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
from wordsight.states.rules.rule import FeatureComparison
from wordsight.states.rules.vocabulary import ANY_KIND, Predicate, StateVocabulary

__all__ = ["UNKNOWN", "VARIABLES", "SampleColumn", "SampleTable", "gather_samples"]

Array = NDArray[np.float64]

_DECIMALS = 6  # of values that count as different; beyond is the rounding of arithmetic

UNKNOWN = 255
"""The bin of values that are not known; no condition holds of them."""

VARIABLES = ("X", "Y", "Z", "U", "V", "W")


@dataclass(frozen=True)
class SampleColumn:
    """What a condition compares: a feature of some of the predicate's arguments.

    Attributes:
        feature: Name of the feature.
        arguments: Which argument of the predicate each of its own is.
        thresholds: Values it may be compared with, rising; no value of the data equals one.
    """

    feature: str
    arguments: tuple[int, ...]
    thresholds: tuple[float, ...]

    def condition(self, level: int, above: bool) -> FeatureComparison:
        """Return the condition of lying below or above a threshold."""
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
        weight: ``(N,)`` how many samples each stands for.
    """

    predicate: Predicate
    columns: tuple[SampleColumn, ...]
    bins: NDArray[np.uint8]
    truth: NDArray[np.bool_]
    video: NDArray[np.int64]
    weight: Array

    @cached_property
    def levels(self) -> NDArray[np.int64]:
        """``(D,)`` number of thresholds of each column."""
        return np.array([len(column.thresholds) for column in self.columns], dtype=np.int64)

    def holds(self, column: int, level: int, above: bool) -> NDArray[np.bool_]:
        """Return ``(N,)`` where a condition holds."""
        values = self.bins[column]
        found: NDArray[np.bool_] = values <= level
        return (values > level) & (values != UNKNOWN) if above else found

    def __len__(self) -> int:
        return len(self.truth)


def gather_samples(
    predicate: Predicate,
    observations: Sequence[StateObservations],
    states: Sequence[StateSequence],
    vocabulary: StateVocabulary,
    *,
    num_thresholds: int = 24,
    most_rows: int = 40_000,
    around_changes: float = 0.0,
) -> SampleTable:
    """Gather the samples of a predicate.

    Args:
        predicate: The predicate.
        observations: The videos.
        states: Their truth, moment by moment.
        vocabulary: Which features may be compared.
        num_thresholds: Most thresholds of a column.
        most_rows: Frames are skipped evenly where there are more rows than this.
        around_changes: Seconds before and after a change of the fact in which no frame is skipped.
    """
    rows = sum(len(o) * len(places_of(predicate.types, o)) for o in observations)
    step = max(1, -(-rows // most_rows))
    sources = _sources(predicate, vocabulary)
    values: list[list[Array]] = [[] for _ in sources]
    truth, video, weight = [], [], []
    for number, (seen, told) in enumerate(zip(observations, states, strict=True)):
        for place in places_of(predicate.types, seen):
            fact = Fact(predicate.name, tuple(seen.objects[k].name for k in place))
            holds = told.table([fact])[:, 0]
            present = np.logical_and.reduce(seen.present[:, list(place)], axis=1)
            kept, counts = _thinned(
                present, _near_changes(holds, seen.times, around_changes), number % step, step
            )
            for column, (feature, arguments) in zip(values, sources, strict=True):
                where = tuple(place[k] for k in arguments)
                column.append(seen.features[feature][(kept, *where)])
            truth.append(holds[kept])
            weight.append(counts)
            video.append(np.full(len(kept), number))
    joined = [np.concatenate([np.zeros(0), *column]) for column in values]
    chosen = _distinct(joined)
    columns = tuple(
        SampleColumn(*sources[d], _thresholds(joined[d], num_thresholds)) for d in chosen
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
    )


def _near_changes(holds: NDArray[np.bool_], times: Array, seconds: float) -> NDArray[np.bool_]:
    """Return ``(T,)`` which moments lie near a change of a fact."""
    near = np.zeros(len(holds), dtype=np.bool_)
    for change in times[np.flatnonzero(np.diff(holds)) + 1] if seconds > 0 else ():
        near |= np.abs(times - change) <= seconds
    return near


def _thinned(
    present: NDArray[np.bool_], whole: NDArray[np.bool_], first: int, step: int
) -> tuple[NDArray[np.intp], Array]:
    """Return the frames to learn from and how many each stands for.

    Args:
        present: ``(T,)`` where all objects of the fact are seen.
        whole: ``(T,)`` where no frame is skipped.
        first: Of the others, which to begin with.
        step: Of the others, one of how many is kept.
    """
    kept = np.zeros(len(present), dtype=np.bool_)
    kept[np.flatnonzero(present & ~whole)[first::step]] = True
    kept |= present & whole
    frames = np.flatnonzero(kept)
    return frames, np.where(whole[frames], 1.0, float(step))


def _sources(
    predicate: Predicate, vocabulary: StateVocabulary
) -> list[tuple[str, tuple[int, ...]]]:
    """Return every feature with every choice of the predicate's arguments that its kinds allow."""
    found = []
    count = predicate.arity
    for feature in vocabulary.features:
        choices: list[tuple[int, ...]] = [(k,) for k in range(count)]
        if feature.arity == 2:
            choices = [(i, k) for i in range(count) for k in range(count) if i != k]
        for choice in choices:
            kinds = [predicate.types[k] for k in choice]
            if all(t in (ANY_KIND, k) for t, k in zip(feature.types, kinds, strict=True)):
                found.append((feature.name, choice))
    return found


def _distinct(columns: list[Array]) -> list[int]:
    """Return the columns without those that repeat an earlier one, as distance does both ways."""
    seen: dict[bytes, int] = {}
    for k, column in enumerate(columns):
        seen.setdefault(np.round(column, _DECIMALS).tobytes(), k)
    return sorted(seen.values())


def _thresholds(values: Array, count: int) -> tuple[float, ...]:
    """Return values at about even quantiles, the shortest numbers there that no sample equals."""
    spread = np.round(values[~np.isnan(values)], _DECIMALS)
    known = np.unique(spread)
    if len(known) < 2:
        return ()
    shares = np.linspace(0, 1, count + 2)[1:-1]
    play = 0.2 / (count + 1)
    low = np.quantile(spread, shares - play, method="lower")
    high = np.quantile(spread, shares + play, method="higher")
    following = known[np.minimum(np.searchsorted(known, low, side="right"), len(known) - 1)]
    high = np.maximum(high, following)
    pairs = [(a, b) for a, b in zip(low.tolist(), high.tolist(), strict=True) if a < b]
    return tuple(sorted({_readable(a, b, known) for a, b in pairs}))


def _readable(low: float, high: float, known: Array) -> float:
    """Return a short number strictly between two, none of those known."""
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
