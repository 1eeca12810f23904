"""Event definitions and their text format: phases in which conditions hold, one after the other.

An :class:`EventDefinition` is text such as
``PICKUP(x,y,z) = [contacts(z,y), not attached(x,y)] ; [attached(x,y)]`` as a tree, which
:func:`parse_events` reads and :func:`format_events` writes.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import ClassVar, TypeAlias

from wordsight.errors import RuleError
from wordsight.states.rules.rule import TextToken, TokenReader

__all__ = [
    "Before",
    "EventCall",
    "EventCondition",
    "EventDefinition",
    "EventError",
    "EventExpression",
    "EventPhase",
    "Then",
    "While",
    "format_events",
    "leonard_events",
    "parse_events",
]


class EventError(RuleError):
    """An event definition that cannot be parsed; shows the line and points at the column."""


@dataclass(frozen=True)
class EventCondition:
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
class EventPhase:
    """A time interval in which all conditions hold at every frame.

    Attributes:
        conditions: What holds.
        optional: Whether it may be missing between its neighbours, ``[...]?``.
    """

    conditions: tuple[EventCondition, ...]
    optional: bool = False

    def __str__(self) -> str:
        return f"[{', '.join(map(str, self.conditions))}]{'?' * self.optional}"


@dataclass(frozen=True)
class EventCall:
    """Another event as a part, ``PICKUP(w,x,y)``, with what its variables stand for."""

    name: str
    arguments: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.name}({','.join(self.arguments)})"


@dataclass(frozen=True)
class _Join:
    """Two expressions one after the other."""

    first: "EventExpression"
    second: "EventExpression"
    sign: ClassVar[str]

    def __str__(self) -> str:
        return f"{self.first} {self.sign} {self.second}"


class Then(_Join):
    """``first ; second``: the second begins when the first ends.

    A phase may end before its conditions do, so ``[a] ; [b]`` also fits where a and b overlap.
    """

    sign = ";"


class Before(_Join):
    """``first before second``: the change of the first is over when that of the second begins."""

    sign = "before"


@dataclass(frozen=True)
class While:
    """``event while [...]``: the conditions of a phase hold during the change of the event."""

    event: "EventExpression"
    phase: EventPhase

    def __str__(self) -> str:
        inner = f"({self.event})" if isinstance(self.event, Then | Before) else str(self.event)
        return f"{inner} while {self.phase}"


EventExpression: TypeAlias = EventPhase | EventCall | Then | Before | While


@dataclass(frozen=True)
class EventDefinition:
    """A kind of event.

    Attributes:
        name: Its name.
        variables: Its arguments; they always stand for different objects.
        expression: When it happens.
    """

    name: str
    variables: tuple[str, ...]
    expression: EventExpression

    def __str__(self) -> str:
        return f"{self.name}({','.join(self.variables)}) = {self.expression}"


def format_events(definitions: Iterable[EventDefinition]) -> str:
    """Return definitions as text that :func:`wordsight.states.parse_events` reads back."""
    return "".join(f"{definition}\n" for definition in definitions)


def parse_events(text: str, known: tuple[EventDefinition, ...] = ()) -> tuple[EventDefinition, ...]:
    """Parse definitions; indented lines continue a definition, ``#`` starts a comment.

    Args:
        text: For example ``PICKUP(x,y,z) = [contacts(z,y), not attached(x,y)] ; [attached(x,y)]``.
            Parts are phases ``[...]`` (optional with ``?`` behind), events defined before, and
            brackets; ``;`` joins parts that meet in time, ``before`` parts of which the second
            comes later, and ``while [...]`` adds what holds meanwhile. Names of objects are quoted.
        known: Definitions that the text may use; they come first in the result.

    Raises:
        EventError: If the text is not a definition; the message shows the line and points at the
            column.

    Examples:
        >>> print(parse_events('HOLD(y) = [attached("hand",y)]')[0])
        HOLD(y) = [attached("hand",y)]
    """
    definitions = {definition.name: definition for definition in known}
    for lines in _blocks(text):
        definition = _EventReader(lines, definitions).definition()
        definitions[definition.name] = definition
    return tuple(definitions.values())


@cache
def leonard_events() -> tuple[EventDefinition, ...]:
    """Return the seven events of a hand that plays with blocks, by contact and attachment.

    ``PICKUP``, ``PUTDOWN``, ``STACK``, ``UNSTACK``, ``MOVE``, ``ASSEMBLE`` and ``DISASSEMBLE``,
    after the definitions of Siskind's Leonard.
    """
    text = resources.files("wordsight.states.events").joinpath("leonard.events")
    return parse_events(text.read_text(encoding="utf-8"))


def _blocks(text: str) -> list[list[tuple[int, str]]]:
    """Return the numbered lines of each definition."""
    blocks: list[list[tuple[int, str]]] = []
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.partition("#")[0].strip():
            continue
        if line[0].isspace() and blocks:
            blocks[-1].append((number, line.rstrip()))
        else:
            blocks.append([(number, line.rstrip())])
    return blocks


_DEEPEST = 50  # brackets inside brackets; more are a slip, and would exhaust Python's stack


class _EventReader(TokenReader):
    """Reads one definition.

    Args:
        lines: Its numbered lines.
        known: The events it may use.
    """

    pattern = re.compile(
        r"""(?P<space>\s+)
          | (?P<comment>\#.*)
          | (?P<name>[^\W\d]\w*(?:-\w+)*)
          | (?P<quoted>"[^"]+")
          | (?P<sign>[][(),;=?])""",
        re.VERBOSE,
    )
    keywords = ("not", "while", "before")
    error = EventError
    language = "a definition"
    end = "the end"

    def __init__(self, lines: list[tuple[int, str]], known: dict[str, EventDefinition]):
        super().__init__(lines)
        self._known = known
        self._variables: tuple[str, ...] = ()
        self._depth = 0

    def definition(self) -> EventDefinition:
        """Read the whole definition."""
        name = self.take("the name of an event", "name")
        if name.text in self._known:
            raise self.failure(f"{name.text} is defined twice", name)
        self._variables = self._head()
        self.take("'='", "=")
        expression = self._sequence()
        self.take("';', 'before', 'while' or the end", "end")
        unused = [v for v in self._variables if v not in _terms(expression)]
        if unused:
            raise self.failure(f"the argument {unused[0]} is never used", name)
        return EventDefinition(name.text, self._variables, expression)

    def _head(self) -> tuple[str, ...]:
        names: set[str] = set()

        def variable() -> str:
            token = self.take("a variable", "name")
            if token.text in names:
                raise self.failure(f"the argument {token.text} occurs twice", token)
            names.add(token.text)
            return token.text

        return self.in_brackets(variable)

    def _sequence(self) -> EventExpression:
        place = self.current
        left = right = self._held()
        self._check_needed(left, place)
        while self.at(";", "before"):
            join = self.take("", ";", "before")
            place = self.current
            right = self._held()
            left = Then(left, right) if join.text == ";" else Before(left, right)
        self._check_needed(right, place)
        return left

    def _check_needed(self, part: EventExpression, place: TextToken) -> None:
        if isinstance(part, EventPhase) and part.optional:
            raise self.failure("an optional phase must stand between two others", place)

    def _held(self) -> EventExpression:
        part = self._part()
        while self.at("while"):
            self.take("", "while")
            part = While(part, self._phase())
        return part

    def _part(self) -> EventExpression:
        if self.at("["):
            return self._phase()
        if self.at("("):
            bracket = self.take("'('", "(")
            self._depth += 1
            if self._depth > _DEEPEST:
                raise self.failure(f"brackets are nested more than {_DEEPEST} deep", bracket)
            inner = self._sequence()
            self.take("')'", ")")
            self._depth -= 1
            return inner
        return self._call()

    def _phase(self) -> EventPhase:
        self.take("'['", "[")
        conditions = [self._condition()]
        while self.at(","):
            self.take("','", ",")
            conditions.append(self._condition())
        self.take("',' or ']'", "]")
        optional = self.at("?")
        if optional:
            self.take("'?'", "?")
        return EventPhase(tuple(conditions), optional)

    def _condition(self) -> EventCondition:
        positive = not self.at("not")
        if not positive:
            self.take("'not'", "not")
        name = self.take("a condition such as attached(x,y)", "name")
        return EventCondition(name.text, self.in_brackets(self._term), positive)

    def _call(self) -> EventCall:
        name = self.take("a phase '[...]' or an event", "name")
        if name.text not in self._known:
            known = ", ".join(self._known) or "none"
            raise self.failure(
                f"no event {name.text} is defined above (known: {known}); conditions stand in "
                "brackets: [...]",
                name,
            )
        arguments = self.in_brackets(self._term)
        wanted = len(self._known[name.text].variables)
        if len(arguments) != wanted:
            raise self.failure(f"{name.text} has {wanted} arguments, found {len(arguments)}", name)
        return EventCall(name.text, arguments)

    def _term(self) -> str:
        token = self.take("a variable, or the name of an object in quotes", "name", "quoted")
        if token.kind == "name" and token.text not in self._variables:
            raise self.failure(
                f"{token.text} is not among the arguments ({', '.join(self._variables)}); "
                f'the name of an object is quoted, "{token.text}"',
                token,
            )
        return token.text


def _terms(expression: EventExpression) -> set[str]:
    if isinstance(expression, EventPhase):
        return {term for condition in expression.conditions for term in condition.arguments}
    if isinstance(expression, EventCall):
        return set(expression.arguments)
    if isinstance(expression, While):
        return _terms(expression.event) | _terms(expression.phase)
    return _terms(expression.first) | _terms(expression.second)
