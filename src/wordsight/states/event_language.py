"""What events are made of: phases in which conditions hold, one after the other.

An :class:`EventDefinition` is text such as
``PICKUP(x,y,z) = [contacts(z,y), not attached(x,y)] ; [attached(x,y)]`` as a tree, which
:func:`wordsight.states.parse_events` reads and :func:`format_events` writes.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

from wordsight.states.errors import RuleError

__all__ = [
    "Before",
    "Call",
    "Condition",
    "EventDefinition",
    "EventError",
    "EventExpression",
    "Phase",
    "Then",
    "While",
    "format_events",
]


class EventError(RuleError):
    """A definition of an event that cannot be read; shows the line and points at the column."""


@dataclass(frozen=True)
class Condition:
    """A fact that holds, or does not.

    Attributes:
        predicate: Name of the predicate.
        arguments: Variables of the definition, or names of objects in quotes, ``'"hand"'``.
        positive: False for ``not``.
    """

    predicate: str
    arguments: tuple[str, ...]
    positive: bool = True

    def __str__(self) -> str:
        return f"{'' if self.positive else 'not '}{self.predicate}({','.join(self.arguments)})"


@dataclass(frozen=True)
class Phase:
    """A stretch of time in which all conditions hold at every moment.

    Attributes:
        conditions: What holds.
        optional: Whether it may be missing between its neighbours, ``[...]?``.
    """

    conditions: tuple[Condition, ...]
    optional: bool = False

    def __str__(self) -> str:
        return f"[{', '.join(map(str, self.conditions))}]{'?' * self.optional}"


@dataclass(frozen=True)
class Call:
    """Another event as a part: ``PICKUP(w,x,y)``.

    Attributes:
        name: Which event.
        arguments: What its variables stand for here.
    """

    name: str
    arguments: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.name}({','.join(self.arguments)})"


@dataclass(frozen=True)
class Then:
    """``first ; second``: the second begins at the moment the first ends.

    A phase may end before its conditions do, so ``[a] ; [b]`` also fits where a and b overlap.

    Attributes:
        first: What comes first.
        second: What follows at once.
    """

    first: "EventExpression"
    second: "EventExpression"

    def __str__(self) -> str:
        return f"{self.first} ; {self.second}"


@dataclass(frozen=True)
class Before:
    """``first before second``: the change of the first is over when that of the second begins.

    Attributes:
        first: What comes first.
        second: What comes at any time after it.
    """

    first: "EventExpression"
    second: "EventExpression"

    def __str__(self) -> str:
        return f"{self.first} before {self.second}"


@dataclass(frozen=True)
class While:
    """``event while [...]``: the conditions hold as long as the event's change takes.

    Attributes:
        event: What happens.
        phase: What holds meanwhile.
    """

    event: "EventExpression"
    phase: Phase

    def __str__(self) -> str:
        inner = f"({self.event})" if isinstance(self.event, Then | Before) else str(self.event)
        return f"{inner} while {self.phase}"


EventExpression: TypeAlias = Phase | Call | Then | Before | While


@dataclass(frozen=True)
class EventDefinition:
    """A kind of event.

    Attributes:
        name: What it is called.
        variables: Its arguments; they always stand for different objects.
        expression: When it happens.
    """

    name: str
    variables: tuple[str, ...]
    expression: EventExpression

    def __str__(self) -> str:
        return f"{self.name}({','.join(self.variables)}) = {self.expression}"


def format_events(definitions: Iterable[EventDefinition]) -> str:
    """Write definitions as text that :func:`wordsight.states.parse_events` reads back."""
    return "".join(f"{definition}\n" for definition in definitions)
