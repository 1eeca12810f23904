"""States as discrete features, one number per frame, for learners that look at discrete columns.

A word model of :mod:`wordsight.meaning` looks at features of one thing or of a pair in every
frame. A :class:`StateFeatures` gives exactly that: for each predicate of one argument a table of
frames by things, for each of two one of frames by things by things, of 1 (holds), 0 (does not) and
NaN (not known there).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wordsight.states.errors import StateError
from wordsight.states.facts import StateSequence

__all__ = ["StateFeatures", "state_columns"]


@dataclass(frozen=True, eq=False)
class StateFeatures:
    """Facts as features.

    Attributes:
        times: ``(T,)`` seconds.
        names: The n things, in the order of the axes.
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
    """Turn a sequence of states into discrete features of things and pairs of things.

    The tables have the shape that a feature of :mod:`wordsight.meaning` returns; the guide to
    states shows how to register one.

    Args:
        sequence: What holds when.
        names: The things, in the order in which the columns shall be; those of the facts, sorted,
            if left out. A thing that no fact speaks of gets NaN, so may be called anything.
        times: Moments to give the features at; those of the sequence if left out. Before its first
            moment and after its end nothing is known.

    Raises:
        StateError: If a predicate has more than two arguments, or a name of a fact is given twice.
    """
    known_names = sorted({name for fact in sequence.facts for name in fact.arguments})
    things = tuple(known_names if names is None else names)
    twice = [name for name in known_names if things.count(name) > 1]
    if twice:
        raise StateError(f"two things are called {twice[0]!r}; give each a name of its own.")
    place = {name: k for k, name in enumerate(things)}
    moments = sequence.times if times is None else np.asarray(times, dtype=np.float64)
    rows, known = _rows(sequence, moments)
    found: dict[int, dict[str, NDArray[np.float64]]] = {1: {}, 2: {}}
    for column, fact in enumerate(sequence.facts):
        arity = len(fact.arguments)
        if arity not in found:
            raise StateError(f"{fact} has {arity} arguments; features are of one thing or of two.")
        shape = (len(moments), *(len(things),) * arity)
        table = found[arity].setdefault(fact.predicate, np.full(shape, np.nan))
        if all(name in place for name in fact.arguments):
            where = tuple(place[name] for name in fact.arguments)
            holds = sequence.values[rows, column].astype(np.float64) if len(sequence) else 0.0
            column_of: tuple[slice | int, ...] = (slice(None), *where)
            table[column_of] = np.where(known, holds, np.nan)
    return StateFeatures(moments, things, found[1], found[2])


def _rows(
    sequence: StateSequence, moments: NDArray[np.float64]
) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
    """Return the row that holds at each moment, and whether one does."""
    rows = np.searchsorted(sequence.times, moments + 1e-9, side="right") - 1
    known = (rows >= 0) & (moments < (sequence.end or 0.0))
    return np.clip(rows, 0, max(len(sequence) - 1, 0)), known
