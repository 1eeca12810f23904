"""Events in a sequence of states: which definition fits whom, from when to when.

An event lasts from its first change to its last: a pick-up from the grip until the object is free.
What held before and what holds after is kept as its phases.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from wordsight.states.errors import StateError
from wordsight.states.event_language import (
    Call,
    EventDefinition,
    EventExpression,
    Phase,
    While,
)
from wordsight.states.event_matching import Fit, Matcher
from wordsight.states.event_text import leonard_events
from wordsight.states.facts import StateSequence
from wordsight.states.vocabulary import Vocabulary

__all__ = ["Event", "check_predicates", "find_events", "outermost"]


@dataclass(frozen=True)
class Event:
    """Something that happened.

    Attributes:
        video_id: Which video.
        start: When it begins to change what holds, seconds.
        end: When the last change is done, seconds; equal to ``start`` for a change at once.
        name: Which kind of event.
        arguments: Who takes part, in the order of the definition.
        phases: The stretches ``(start, end)`` in seconds in which the conditions of each phase
            hold; the first reaches back before ``start``, the last beyond ``end``.
        parts: The events it is made of.
    """

    video_id: str
    start: float
    end: float
    name: str
    arguments: tuple[str, ...]
    phases: tuple[tuple[float, float], ...]
    parts: tuple["Event", ...] = ()

    def __str__(self) -> str:
        return f"{self.name}({','.join(self.arguments)})"


def find_events(
    sequence: StateSequence, definitions: Sequence[EventDefinition] | None = None
) -> tuple[Event, ...]:
    """Find all events that definitions see in a sequence of states.

    Args:
        sequence: What holds when.
        definitions: Kinds of events; Leonard's seven if left out.

    Returns:
        The events by start, then name, then arguments.

    Raises:
        StateError: If a definition speaks of a predicate that the states do not have.
    """
    kinds = leonard_events() if definitions is None else tuple(definitions)
    _check_predicates(kinds, sequence)
    matcher = Matcher(sequence, {kind.name: kind for kind in kinds})
    found = set()
    for kind in kinds:
        for bound in matcher.bindings(kind):
            arguments = tuple(bound[variable] for variable in kind.variables)
            for fit in matcher.fits(kind.expression, bound):
                found.add(_event(kind.name, arguments, fit, sequence))
    return tuple(sorted(found, key=lambda event: (event.start, event.name, event.arguments)))


def outermost(events: Iterable[Event]) -> tuple[Event, ...]:
    """Leave out events that are part of another one: the put-down in a stack."""
    everything = tuple(events)
    inner = {key for event in everything for part in event.parts for key in _keys(part)}
    return tuple(event for event in everything if _key(event) not in inner)


def check_predicates(definitions: Iterable[EventDefinition], vocabulary: Vocabulary) -> None:
    """Refuse definitions that speak of predicates a vocabulary does not have.

    Raises:
        StateError: If a predicate is unknown, or has another number of arguments.
    """
    for kind in definitions:
        for phase in _phases(kind.expression):
            for condition in phase.conditions:
                wanted = vocabulary.predicate(condition.predicate).arity
                if wanted != len(condition.arguments):
                    raise StateError(
                        f"{kind.name} uses {condition}, but {condition.predicate} has {wanted} "
                        "arguments."
                    )


def _key(event: Event) -> tuple[str, tuple[str, ...], float, float]:
    return event.name, event.arguments, event.start, event.end


def _keys(event: Event) -> Iterator[tuple[str, tuple[str, ...], float, float]]:
    yield _key(event)
    for part in event.parts:
        yield from _keys(part)


def _event(name: str, arguments: tuple[str, ...], fit: Fit, sequence: StateSequence) -> Event:
    def moment(place: int) -> float:
        return float(sequence.times[place] if place < len(sequence) else sequence.end or 0.0)

    return Event(
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
    for kind in kinds:
        for phase in _phases(kind.expression):
            for condition in phase.conditions:
                arity = len(condition.arguments)
                if condition.predicate in names and (condition.predicate, arity) not in known:
                    raise StateError(
                        f"{kind.name} uses {condition.predicate} with {arity} arguments, but the "
                        f"states of {sequence.video_id} have it with another number."
                    )


def _phases(expression: EventExpression) -> Iterator[Phase]:
    if isinstance(expression, Phase):
        yield expression
    elif isinstance(expression, While):
        yield from _phases(expression.event)
        yield expression.phase
    elif not isinstance(expression, Call):
        yield from _phases(expression.first)
        yield from _phases(expression.second)
