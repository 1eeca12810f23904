"""Facts and how they hold over time.

A :class:`StateSequence` is a table of truth values, frames by facts; it gives the intervals in
which each fact holds, the compressed sequence that learning and scoring compare, and, as
:class:`StateFeatures`, discrete features for the word models of :mod:`wordsight.meaning`.
"""

import itertools
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wordsight.errors import StateError
from wordsight.records.arrays import ArrayRecord, frozen_array

__all__ = ["Fact", "FactInterval", "StateFeatures", "StateSequence", "parse_fact", "state_columns"]


_FACT = re.compile(r"\s*([a-z][A-Za-z0-9_]*)\s*\((.*)\)\s*")
_ARGUMENT = re.compile(r"\s*(?:\"([^\"]+)\"|([^\s,()\"][^,()\"]*?))\s*(?:,|$)")


@dataclass(frozen=True, order=True)
class Fact:
    """A predicate of named objects, ``attached(hand,red)``.

    Attributes:
        predicate: Name of the predicate.
        arguments: Names of the objects.
    """

    predicate: str
    arguments: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.predicate}({','.join(map(_quoted, self.arguments))})"


def _quoted(name: str) -> str:
    return name if re.fullmatch(r"[^\s,()\"][^,()\"]*(?<!\s)", name) else f'"{name}"'


def parse_fact(text: str) -> Fact:
    """Parse a fact as ``str`` writes it.

    Raises:
        StateError: If the text is not a fact.
    """
    found = _FACT.fullmatch(text)
    if found is None:
        raise StateError(f"expected a fact such as attached(hand,red), got {text!r}.")
    arguments, rest = [], found[2]
    while rest.strip():
        part = _ARGUMENT.match(rest)
        if part is None:
            raise StateError(f"the arguments of {text!r} cannot be parsed at {rest!r}.")
        arguments.append(part[1] or part[2])
        rest = rest[part.end() :]
    return Fact(found[1], tuple(arguments))


@dataclass(frozen=True)
class FactInterval:
    """A time interval in which a fact holds without a break.

    Attributes:
        video_id: The video.
        start: Start in seconds.
        end: End in seconds, exclusive.
        fact: The fact.
    """

    video_id: str
    start: float
    end: float
    fact: Fact


@dataclass(frozen=True, eq=False, repr=False)
class StateSequence(ArrayRecord):
    """Which facts hold at which time.

    Attributes:
        video_id: The video.
        times: ``(T,)`` seconds, increasing; a row holds until the time of the next one.
        facts: F facts, sorted, each once.
        values: ``(T, F)`` whether the fact holds.
        end: When the last row ends; by default one median step after its start.
    """

    video_id: str
    times: NDArray[np.float64]
    facts: tuple[Fact, ...]
    values: NDArray[np.bool_]
    end: float | None = None

    def __post_init__(self) -> None:
        times = frozen_array(self.times, np.float64)
        facts = tuple(f if isinstance(f, Fact) else Fact(f[0], tuple(f[1])) for f in self.facts)
        order = sorted(range(len(facts)), key=facts.__getitem__)
        values = np.asarray(self.values, dtype=np.bool_)
        if times.ndim != 1 or values.shape != (len(times), len(facts)):
            raise StateError(
                f"values must be (T, F) = {(len(times), len(facts))}, got {values.shape}."
            )
        if not np.isfinite(times).all() or (np.diff(times) <= 0).any():
            raise StateError(f"times of {self.video_id} must be finite and strictly increasing.")
        if len(set(facts)) < len(facts):
            raise StateError(f"a fact of {self.video_id} is listed twice; list each once.")
        step = float(np.median(np.diff(times))) if len(times) > 1 else 1.0
        end = (float(times[-1]) + step if len(times) else 0.0) if self.end is None else self.end
        if len(times) and end <= times[-1]:
            raise StateError(f"{self.video_id} must end after its last time, got {end} s.")
        for name, value in (("times", times), ("facts", tuple(facts[k] for k in order))):
            object.__setattr__(self, name, value)
        object.__setattr__(self, "values", frozen_array(values[:, order], np.bool_))
        object.__setattr__(self, "end", float(end))

    @classmethod
    def from_segments(
        cls,
        video_id: str,
        times: Sequence[float] | NDArray[np.float64],
        segments: Iterable[tuple[float, float, Iterable[Fact]]],
    ) -> "StateSequence":
        """Return the states of intervals ``(start, end, facts)`` in seconds, end exclusive.

        Times outside all intervals take the state of the nearest one. Only facts of the intervals
        are listed.

        Raises:
            StateError: If there is no interval, or two overlap and so contradict each other.
        """
        rows = sorted(((float(s), float(e), frozenset(f)) for s, e, f in segments), key=_start)
        if not rows:
            raise StateError(f"{video_id} has no labelled interval.")
        for (_, end, _), (start, _, _) in itertools.pairwise(rows):
            if start < end - 1e-9:
                raise StateError(
                    f"{video_id}: labels contradict each other between {start} and {end} s; "
                    "let each interval end where the next begins."
                )
        moments = np.asarray(times, dtype=np.float64)
        starts, ends = (np.array([row[k] for row in rows], dtype=np.float64) for k in (0, 1))
        which = np.clip(np.searchsorted(starts, moments + 1e-9, side="right") - 1, 0, None)
        after = np.clip(which + 1, 0, len(rows) - 1)
        in_gap = (moments >= ends[which]) & (starts[after] - moments < moments - ends[which])
        which = np.where(in_gap, after, which)
        facts = tuple(sorted(frozenset().union(*(row[2] for row in rows))))
        table = np.array([[fact in row[2] for fact in facts] for row in rows], dtype=np.bool_)
        return cls(video_id, moments, facts, table.reshape(len(rows), len(facts))[which])

    def parts(self) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """Return the arrays of the record, and its other values for JSON."""
        arrays, values = super().parts()
        return arrays, values | {"facts": [[f.predicate, list(f.arguments)] for f in self.facts]}

    def __len__(self) -> int:
        return len(self.times)

    def __repr__(self) -> str:
        return f"StateSequence({self.video_id!r}, {len(self)} frames, {len(self.facts)} facts)"

    def state(self, row: int) -> frozenset[Fact]:
        """Return the facts that hold in a row."""
        return frozenset(f for f, holds in zip(self.facts, self.values[row], strict=True) if holds)

    def states(self) -> tuple[frozenset[Fact], ...]:
        """Return the compressed sequence of states without times, which scores compare."""
        return tuple(self.state(row) for row in self._starts())

    def compress(self) -> "StateSequence":
        """Return the sequence with one row per run of equal states, at the start of the run."""
        rows = self._starts()
        return StateSequence(
            self.video_id, self.times[rows], self.facts, self.values[rows], self.end
        )

    def intervals(self) -> tuple[FactInterval, ...]:
        """Return when each fact holds, by start, then fact."""
        intervals = []
        bounds = np.append(self.times, self.end or 0.0)
        for k, fact in enumerate(self.facts):
            steps = np.diff(np.concatenate([[0], self.values[:, k].astype(np.int8), [0]]))
            begins, ends = np.flatnonzero(steps == 1), np.flatnonzero(steps == -1)
            intervals += [
                FactInterval(self.video_id, float(bounds[b]), float(bounds[e]), fact)
                for b, e in zip(begins, ends, strict=True)
            ]
        return tuple(sorted(intervals, key=lambda row: (row.start, row.fact)))

    def table(self, facts: Sequence[Fact]) -> NDArray[np.bool_]:
        """Return ``(T, len(facts))`` truth values of the given facts; unlisted ones are false."""
        place = {fact: k for k, fact in enumerate(self.facts)}
        out = np.zeros((len(self), len(facts)), dtype=np.bool_)
        for column, fact in enumerate(facts):
            if fact in place:
                out[:, column] = self.values[:, place[fact]]
        return out

    def _starts(self) -> NDArray[np.intp]:
        if not len(self):
            return np.zeros(0, dtype=np.intp)
        changed = (self.values[1:] != self.values[:-1]).any(axis=1)
        return np.flatnonzero(np.concatenate([[True], changed]))


def _start(row: tuple[float, float, frozenset[Fact]]) -> float:
    return row[0]


@dataclass(frozen=True, eq=False)
class StateFeatures:
    """Facts as discrete features.

    Attributes:
        times: ``(T,)`` seconds.
        names: The n objects, in the order of the axes.
        single: Per predicate of one argument ``(T, n)`` of 0, 1 or NaN.
        pairs: Per predicate of two arguments ``(T, n, n)``; first argument first, NaN on the
            diagonal.
    """

    times: NDArray[np.float64]
    names: tuple[str, ...]
    single: dict[str, NDArray[np.float64]]
    pairs: dict[str, NDArray[np.float64]]

    def table(self, predicate: str, arity: int) -> NDArray[np.float64]:
        """Return the table of a predicate; all NaN where no fact of the video has it."""
        found = (self.single if arity == 1 else self.pairs).get(predicate)
        shape = (len(self.times), *(len(self.names),) * arity)
        return np.full(shape, np.nan) if found is None else found


def state_columns(
    sequence: StateSequence,
    names: Sequence[str] | None = None,
    times: NDArray[np.float64] | None = None,
) -> StateFeatures:
    """Return the states as discrete features of objects and pairs of objects.

    The tables have the shape that a feature of :mod:`wordsight.meaning` returns; the guide to
    states shows how to register one.

    Args:
        sequence: The states.
        names: The objects in the order of the columns; by default those of the facts, sorted.
            Objects without facts get NaN.
        times: Times of the features; by default those of the sequence. Before its first time and
            after its end values are NaN.

    Raises:
        StateError: If a predicate has more than two arguments, or a name of a fact is given twice.
    """
    known_names = sorted({name for fact in sequence.facts for name in fact.arguments})
    objects = tuple(known_names if names is None else names)
    twice = [name for name in known_names if objects.count(name) > 1]
    if twice:
        raise StateError(f"two objects are called {twice[0]!r}; give each a name of its own.")
    place = {name: k for k, name in enumerate(objects)}
    moments = sequence.times if times is None else np.asarray(times, dtype=np.float64)
    rows, known = _rows(sequence, moments)
    tables: dict[int, dict[str, NDArray[np.float64]]] = {1: {}, 2: {}}
    for column, fact in enumerate(sequence.facts):
        arity = len(fact.arguments)
        if arity not in tables:
            raise StateError(f"{fact} has {arity} arguments; features have one or two.")
        shape = (len(moments), *(len(objects),) * arity)
        table = tables[arity].setdefault(fact.predicate, np.full(shape, np.nan))
        if all(name in place for name in fact.arguments):
            where = tuple(place[name] for name in fact.arguments)
            holds = sequence.values[rows, column].astype(np.float64) if len(sequence) else 0.0
            column_of: tuple[slice | int, ...] = (slice(None), *where)
            table[column_of] = np.where(known, holds, np.nan)
    return StateFeatures(moments, objects, tables[1], tables[2])


def _rows(
    sequence: StateSequence, moments: NDArray[np.float64]
) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
    """Return the row that holds at each time, and whether there is one."""
    rows = np.searchsorted(sequence.times, moments + 1e-9, side="right") - 1
    known = (rows >= 0) & (moments < (sequence.end or 0.0))
    return np.clip(rows, 0, max(len(sequence) - 1, 0)), known
