"""Where an event's phases fit a sequence of states, given what its variables stand for.

All places are counted in moments: a phase lies on a longest run ``[start, end)`` of moments in
which its conditions hold, and a chain of phases fits if there are borders between them such that
every phase lasts a while.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
from numpy.typing import NDArray

from wordsight.states.event_language import (
    Before,
    Call,
    Condition,
    EventDefinition,
    EventExpression,
    Phase,
    Then,
    While,
)
from wordsight.states.facts import Fact, StateSequence

__all__ = ["Fit", "Matcher"]

Binding = Mapping[str, str]


@dataclass(frozen=True)
class Fit:
    """One way in which an expression fits.

    Attributes:
        phases: The run ``(start, end)`` of every phase.
        first_change: Border after the first phase; the start of a single one.
        last_change: Border before the last phase; the end of a single one.
        parts: Events it is made of: name, arguments and how they fit.
    """

    phases: tuple[tuple[int, int], ...]
    first_change: int
    last_change: int
    parts: tuple[tuple[str, tuple[str, ...], "Fit"], ...] = ()


class Matcher:
    """Fits expressions to one sequence of states.

    Args:
        sequence: What holds when.
        definitions: The events that expressions may call.
    """

    def __init__(self, sequence: StateSequence, definitions: Mapping[str, EventDefinition]):
        self._definitions = definitions
        columns = sequence.values.T
        self._columns = dict(zip(sequence.facts, columns, strict=True))
        self._ever = {fact for fact, column in self._columns.items() if column.any()}
        self._moments = len(sequence)
        self._runs: dict[tuple[tuple[Fact, bool], ...], list[tuple[int, int]]] = {}
        self.objects = sorted({name for fact in sequence.facts for name in fact.arguments})

    def bindings(self, definition: EventDefinition) -> Iterator[dict[str, str]]:
        """Yield all ways to fill the variables with different objects that may fit at all."""
        needed = list(self._needed(definition.expression, {v: v for v in definition.variables}))
        yield from self._fill(definition.variables, {}, needed)

    def _fill(
        self, variables: tuple[str, ...], bound: dict[str, str], needed: list[Condition]
    ) -> Iterator[dict[str, str]]:
        if len(bound) == len(variables):
            yield dict(bound)
            return
        variable = variables[len(bound)]
        for name in self.objects:
            if name in bound.values():
                continue
            bound[variable] = name
            if all(self._possible(condition, bound) for condition in needed):
                yield from self._fill(variables, bound, needed)
            del bound[variable]

    def _possible(self, condition: Condition, bound: Binding) -> bool:
        if not all(term in bound or term[0] == '"' for term in condition.arguments):
            return True  # not all of its objects are chosen yet
        return _ground(condition, bound) in self._ever

    def _needed(self, expression: EventExpression, names: Binding) -> Iterator[Condition]:
        """Yield the facts that must hold at some moment, in the variables of the definition."""
        if isinstance(expression, Phase):
            for condition in expression.conditions:
                if condition.positive and not expression.optional:
                    yield replace(condition, arguments=_renamed(condition.arguments, names))
        elif isinstance(expression, Call):
            called = self._definitions[expression.name]
            inner = dict(zip(called.variables, _renamed(expression.arguments, names), strict=True))
            yield from self._needed(called.expression, inner)
        elif isinstance(expression, While):
            yield from self._needed(expression.event, names)
            yield from self._needed(expression.phase, names)
        else:
            yield from self._needed(expression.first, names)
            yield from self._needed(expression.second, names)

    def fits(self, expression: EventExpression, bound: Binding) -> list[Fit]:
        """Return all ways in which an expression fits, in order of time."""
        if isinstance(expression, Phase):
            return [Fit((run,), *run) for run in self._phase_runs(expression, bound)]
        if isinstance(expression, Call):
            return self._called(expression, bound)
        if isinstance(expression, While):
            during = self._holding(expression.phase, bound)
            return [f for f in self.fits(expression.event, bound) if during[_change(f)].all()]
        if isinstance(expression, Before):
            pairs = product(self.fits(expression.first, bound), self.fits(expression.second, bound))
            return [_joined(a, b) for a, b in pairs if a.last_change <= b.first_change]
        return self._chained(expression, bound)

    def _called(self, call: Call, bound: Binding) -> list[Fit]:
        called = self._definitions[call.name]
        arguments = _renamed(call.arguments, bound)
        inner = dict(zip(called.variables, arguments, strict=True))
        names = tuple(name.strip('"') for name in arguments)
        return [
            replace(fit, parts=((call.name, names, fit),))
            for fit in self.fits(called.expression, inner)
        ]

    def _chained(self, expression: Then, bound: Binding) -> list[Fit]:
        """Fit ``a ; b ; c``, each optional phase once there and once left out."""
        links = list(_links(expression))
        optional = [isinstance(link, Phase) and link.optional for link in links]
        found: dict[tuple[tuple[int, int], ...], Fit] = {}
        for present in product(*((True, False) if may else (True,) for may in optional)):
            fits: list[Fit] | None = None
            for link, here in zip(links, present, strict=True):
                if here:
                    own = self.fits(link, bound)
                    fits = own if fits is None else list(_meeting(fits, own))
            for fit in fits or []:
                found.setdefault(fit.phases, fit)
        return sorted(found.values(), key=lambda fit: (fit.first_change, fit.last_change))

    def _phase_runs(self, phase: Phase, bound: Binding) -> list[tuple[int, int]]:
        key = tuple((_ground(c, bound), c.positive) for c in phase.conditions)
        if key not in self._runs:
            holds = self._holding(phase, bound)
            steps = np.diff(np.concatenate([[0], holds.astype(np.int8), [0]]))
            starts, ends = np.flatnonzero(steps == 1), np.flatnonzero(steps == -1)
            self._runs[key] = list(zip(starts.tolist(), ends.tolist(), strict=True))
        return self._runs[key]

    def _holding(self, phase: Phase, bound: Binding) -> NDArray[np.bool_]:
        holds = np.ones(self._moments, dtype=np.bool_)
        for condition in phase.conditions:
            column = self._columns.get(_ground(condition, bound))
            true = np.zeros(self._moments, dtype=np.bool_) if column is None else column
            holds &= true if condition.positive else ~true
        return holds


def _links(expression: EventExpression) -> Iterator[EventExpression]:
    if isinstance(expression, Then):
        yield from _links(expression.first)
        yield from _links(expression.second)
    else:
        yield expression


def _meeting(firsts: list[Fit], seconds: list[Fit]) -> Iterator[Fit]:
    """Yield the pairs with a border where the first may end and the second begin."""
    for a, b in product(firsts, seconds):
        # A moment has a length, so that phases which both hold in it may share it.
        border = max(_entry(a), b.phases[0][0])
        leave = b.phases[0][1] if len(b.phases) == 1 else b.first_change
        if border <= a.phases[-1][1] and border < leave:
            joined = _joined(a, b)
            yield replace(
                joined,
                first_change=border if len(a.phases) == 1 else a.first_change,
                last_change=border if len(b.phases) == 1 else b.last_change,
            )


def _entry(fit: Fit) -> int:
    return fit.phases[0][0] if len(fit.phases) == 1 else fit.last_change


def _joined(a: Fit, b: Fit) -> Fit:
    return Fit(a.phases + b.phases, a.first_change, b.last_change, a.parts + b.parts)


def _change(fit: Fit) -> slice:
    """Return the moments a condition must hold meanwhile: the change and a moment around it."""
    if len(fit.phases) == 1:
        return slice(*fit.phases[0])
    return slice(max(fit.first_change - 1, 0), fit.last_change + 1)


def _renamed(terms: tuple[str, ...], names: Binding) -> tuple[str, ...]:
    return tuple(names.get(term, term) for term in terms)


def _ground(condition: Condition, bound: Binding) -> Fact:
    terms = _renamed(condition.arguments, bound)
    return Fact(condition.predicate, tuple(term.strip('"') for term in terms))
