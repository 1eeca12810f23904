"""Events in a sequence of states: which definition fits which objects, from when to when.

An event lasts from its first change to its last: a pick-up from the grip until the object is free.
A phase lies on a longest run ``[start, end)`` of frames in which its conditions hold, and a chain
of phases fits if there are borders between them such that every phase lasts a while.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
from numpy.typing import NDArray

from wordsight.errors import StateError
from wordsight.states.events.definitions import (
    Before,
    EventCall,
    EventCondition,
    EventDefinition,
    EventExpression,
    EventPhase,
    Then,
    While,
    leonard_events,
)
from wordsight.states.rules.facts import Fact, StateSequence
from wordsight.states.rules.vocabulary import StateVocabulary

__all__ = ["EventFit", "EventMatcher", "StateEvent", "check_predicates", "find_events", "outermost"]

Binding = Mapping[str, str]


@dataclass(frozen=True)
class EventFit:
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
    parts: tuple[tuple[str, tuple[str, ...], "EventFit"], ...] = ()


class EventMatcher:
    """Fits expressions to one sequence of states.

    Args:
        sequence: The states.
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
        """Yield all assignments of distinct objects to variables that may fit at all."""
        needed = list(self._needed(definition.expression, {v: v for v in definition.variables}))
        yield from self._fill(definition.variables, {}, needed)

    def _fill(
        self, variables: tuple[str, ...], bound: dict[str, str], needed: list[EventCondition]
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

    def _possible(self, condition: EventCondition, bound: Binding) -> bool:
        if not all(term in bound or term[0] == '"' for term in condition.arguments):
            return True  # not all of its objects are assigned yet
        return _ground(condition, bound) in self._ever

    def _needed(self, expression: EventExpression, names: Binding) -> Iterator[EventCondition]:
        """Yield the conditions that must hold at some frame, in variables of the definition."""
        if isinstance(expression, EventPhase):
            for condition in expression.conditions:
                if condition.positive and not expression.optional:
                    yield replace(condition, arguments=_renamed(condition.arguments, names))
        elif isinstance(expression, EventCall):
            called = self._definitions[expression.name]
            inner = dict(zip(called.variables, _renamed(expression.arguments, names), strict=True))
            yield from self._needed(called.expression, inner)
        elif isinstance(expression, While):
            yield from self._needed(expression.event, names)
            yield from self._needed(expression.phase, names)
        else:
            yield from self._needed(expression.first, names)
            yield from self._needed(expression.second, names)

    def fits(self, expression: EventExpression, bound: Binding) -> list[EventFit]:
        """Return all ways in which an expression fits, in order of time."""
        if isinstance(expression, EventPhase):
            return [EventFit((run,), *run) for run in self._phase_runs(expression, bound)]
        if isinstance(expression, EventCall):
            return self._called(expression, bound)
        if isinstance(expression, While):
            during = self._holding(expression.phase, bound)
            return [f for f in self.fits(expression.event, bound) if during[_change(f)].all()]
        if isinstance(expression, Before):
            pairs = product(self.fits(expression.first, bound), self.fits(expression.second, bound))
            return [_joined(a, b) for a, b in pairs if a.last_change <= b.first_change]
        return self._chained(expression, bound)

    def _called(self, call: EventCall, bound: Binding) -> list[EventFit]:
        called = self._definitions[call.name]
        arguments = _renamed(call.arguments, bound)
        inner = dict(zip(called.variables, arguments, strict=True))
        names = tuple(name.strip('"') for name in arguments)
        return [
            replace(fit, parts=((call.name, names, fit),))
            for fit in self.fits(called.expression, inner)
        ]

    def _chained(self, expression: Then, bound: Binding) -> list[EventFit]:
        """Fit ``a ; b ; c``, with and without each optional phase."""
        links = list(_links(expression))
        optional = [isinstance(link, EventPhase) and link.optional for link in links]
        unique: dict[tuple[tuple[int, int], ...], EventFit] = {}
        for present in product(*((True, False) if may else (True,) for may in optional)):
            fits: list[EventFit] | None = None
            for link, here in zip(links, present, strict=True):
                if here:
                    own = self.fits(link, bound)
                    fits = own if fits is None else list(_meeting(fits, own))
            for fit in fits or []:
                unique.setdefault(fit.phases, fit)
        return sorted(unique.values(), key=lambda fit: (fit.first_change, fit.last_change))

    def _phase_runs(self, phase: EventPhase, bound: Binding) -> list[tuple[int, int]]:
        key = tuple((_ground(c, bound), c.positive) for c in phase.conditions)
        if key not in self._runs:
            holds = self._holding(phase, bound)
            steps = np.diff(np.concatenate([[0], holds.astype(np.int8), [0]]))
            starts, ends = np.flatnonzero(steps == 1), np.flatnonzero(steps == -1)
            self._runs[key] = list(zip(starts.tolist(), ends.tolist(), strict=True))
        return self._runs[key]

    def _holding(self, phase: EventPhase, bound: Binding) -> NDArray[np.bool_]:
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


def _meeting(firsts: list[EventFit], seconds: list[EventFit]) -> Iterator[EventFit]:
    """Yield the pairs with a border where the first may end and the second begin."""
    for a, b in product(firsts, seconds):
        # A frame has a length, so that phases which both hold in it may share it.
        border = max(_entry(a), b.phases[0][0])
        leave = b.phases[0][1] if len(b.phases) == 1 else b.first_change
        if border <= a.phases[-1][1] and border < leave:
            joined = _joined(a, b)
            yield replace(
                joined,
                first_change=border if len(a.phases) == 1 else a.first_change,
                last_change=border if len(b.phases) == 1 else b.last_change,
            )


def _entry(fit: EventFit) -> int:
    return fit.phases[0][0] if len(fit.phases) == 1 else fit.last_change


def _joined(a: EventFit, b: EventFit) -> EventFit:
    return EventFit(a.phases + b.phases, a.first_change, b.last_change, a.parts + b.parts)


def _change(fit: EventFit) -> slice:
    """Return the frames of a change, with one frame on either side."""
    if len(fit.phases) == 1:
        return slice(*fit.phases[0])
    return slice(max(fit.first_change - 1, 0), fit.last_change + 1)


def _renamed(terms: tuple[str, ...], names: Binding) -> tuple[str, ...]:
    return tuple(names.get(term, term) for term in terms)


def _ground(condition: EventCondition, bound: Binding) -> Fact:
    terms = _renamed(condition.arguments, bound)
    return Fact(condition.predicate, tuple(term.strip('"') for term in terms))


@dataclass(frozen=True)
class StateEvent:
    """An event in a video.

    Attributes:
        video_id: The video.
        start: Time of the first change of state, in seconds.
        end: Time of the last change, in seconds; equal to ``start`` for a single change.
        name: Name of its definition.
        arguments: The objects, in the order of the definition.
        phases: The intervals ``(start, end)`` in seconds in which the conditions of each phase
            hold; the first begins before ``start``, the last ends after ``end``.
        parts: The events it consists of.
    """

    video_id: str
    start: float
    end: float
    name: str
    arguments: tuple[str, ...]
    phases: tuple[tuple[float, float], ...]
    parts: tuple["StateEvent", ...] = ()

    def __str__(self) -> str:
        return f"{self.name}({','.join(self.arguments)})"


def find_events(
    sequence: StateSequence, definitions: Sequence[EventDefinition] | None = None
) -> tuple[StateEvent, ...]:
    """Find all events in a sequence of states.

    Args:
        sequence: The states.
        definitions: Kinds of events; by default Leonard's seven.

    Returns:
        The events by start, then name, then arguments.

    Raises:
        StateError: If a definition uses a predicate with another number of arguments than the
            states have.
    """
    kinds = leonard_events() if definitions is None else tuple(definitions)
    _check_predicates(kinds, sequence)
    matcher = EventMatcher(sequence, {kind.name: kind for kind in kinds})
    events = set()
    for kind in kinds:
        for bound in matcher.bindings(kind):
            arguments = tuple(bound[variable] for variable in kind.variables)
            for fit in matcher.fits(kind.expression, bound):
                events.add(_event(kind.name, arguments, fit, sequence))
    return tuple(sorted(events, key=lambda e: (e.start, e.name, e.arguments, e.end, e.phases)))


def outermost(events: Iterable[StateEvent]) -> tuple[StateEvent, ...]:
    """Return the events that are not part of another one, such as the put-down of a stack."""
    candidates = tuple(events)
    inner = {key for event in candidates for part in event.parts for key in _keys(part)}
    return tuple(event for event in candidates if _key(event) not in inner)


def check_predicates(definitions: Iterable[EventDefinition], vocabulary: StateVocabulary) -> None:
    """Refuse definitions that use predicates which are not in a vocabulary.

    Raises:
        StateError: If a predicate is unknown, or has another number of arguments.
    """
    for kind, condition in _conditions(definitions):
        wanted = vocabulary.predicate(condition.predicate).arity
        if wanted != len(condition.arguments):
            raise StateError(
                f"{kind.name} uses {condition}, but {condition.predicate} has {wanted} arguments."
            )


def _key(event: StateEvent) -> tuple[str, tuple[str, ...], float, float]:
    return event.name, event.arguments, event.start, event.end


def _keys(event: StateEvent) -> Iterator[tuple[str, tuple[str, ...], float, float]]:
    yield _key(event)
    for part in event.parts:
        yield from _keys(part)


def _event(
    name: str, arguments: tuple[str, ...], fit: EventFit, sequence: StateSequence
) -> StateEvent:
    def moment(place: int) -> float:
        return float(sequence.times[place] if place < len(sequence) else sequence.end or 0.0)

    return StateEvent(
        sequence.video_id,
        moment(fit.first_change),
        moment(fit.last_change),
        name,
        arguments,
        tuple((moment(start), moment(end)) for start, end in fit.phases),
        tuple(_event(part, names, inner, sequence) for part, names, inner in fit.parts),
    )


def _check_predicates(kinds: Sequence[EventDefinition], sequence: StateSequence) -> None:
    known = {(fact.predicate, len(fact.arguments)) for fact in sequence.facts}
    names = {name for name, _ in known}
    for kind, condition in _conditions(kinds):
        arity = len(condition.arguments)
        if condition.predicate in names and (condition.predicate, arity) not in known:
            raise StateError(
                f"{kind.name} uses {condition.predicate} with {arity} arguments, but the states of "
                f"{sequence.video_id} have it with another number."
            )


def _conditions(
    definitions: Iterable[EventDefinition],
) -> Iterator[tuple[EventDefinition, EventCondition]]:
    for definition in definitions:
        for phase in _phases(definition.expression):
            yield from ((definition, condition) for condition in phase.conditions)


def _phases(expression: EventExpression) -> Iterator[EventPhase]:
    if isinstance(expression, EventPhase):
        yield expression
    elif isinstance(expression, While):
        yield from _phases(expression.event)
        yield expression.phase
    elif not isinstance(expression, EventCall):
        yield from _phases(expression.first)
        yield from _phases(expression.second)
