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
from typing import TypeAlias

from wordsight.states.errors import RuleError

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
    """A definition of an event that cannot be read; shows the line and points at the column."""


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
    """A stretch of time in which all conditions hold at every moment.

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
    phase: EventPhase

    def __str__(self) -> str:
        inner = f"({self.event})" if isinstance(self.event, Then | Before) else str(self.event)
        return f"{inner} while {self.phase}"


EventExpression: TypeAlias = EventPhase | EventCall | Then | Before | While


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


_TOKEN = re.compile(
    r"""(?P<space>\s+)
      | (?P<comment>\#.*)
      | (?P<name>[^\W\d]\w*(?:-\w+)*)
      | (?P<quoted>"[^"]+")
      | (?P<sign>[][(),;=?])""",
    re.VERBOSE,
)
_KEYWORDS = ("not", "while", "before")


def parse_events(text: str, known: tuple[EventDefinition, ...] = ()) -> tuple[EventDefinition, ...]:
    """Read definitions; one may go on in lines that are indented, ``#`` starts a comment.

    Args:
        text: For example ``PICKUP(x,y,z) = [contacts(z,y), not attached(x,y)] ; [attached(x,y)]``.
            Parts are phases ``[...]`` (optional with ``?`` behind), events defined before, and
            brackets; ``;`` joins what meets in time, ``before`` what comes later, ``while [...]``
            says what holds meanwhile. Names of objects stand in quotes.
        known: Definitions that the text may use; they come first in the answer.

    Raises:
        EventError: If the text is no definition; the message shows the line and points at the
            column.

    Examples:
        >>> print(parse_events('HOLD(y) = [attached("hand",y)]')[0])
        HOLD(y) = [attached("hand",y)]
    """
    found = {definition.name: definition for definition in known}
    for lines in _blocks(text):
        definition = _Reader(lines, found).definition()
        found[definition.name] = definition
    return tuple(found.values())


@cache
def leonard_events() -> tuple[EventDefinition, ...]:
    """Return the seven events of a hand that plays with blocks, by contact and attachment.

    ``PICKUP``, ``PUTDOWN``, ``STACK``, ``UNSTACK``, ``MOVE``, ``ASSEMBLE`` and ``DISASSEMBLE``,
    after the definitions of Siskind's Leonard.
    """
    text = resources.files("wordsight.states.events").joinpath("leonard.events")
    return parse_events(text.read_text(encoding="utf-8"))


def _blocks(text: str) -> list[list[tuple[int, str]]]:
    """Gather each definition's numbered lines."""
    blocks: list[list[tuple[int, str]]] = []
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.partition("#")[0].strip():
            continue
        if line[0].isspace() and blocks:
            blocks[-1].append((number, line))
        else:
            blocks.append([(number, line)])
    return blocks


@dataclass(frozen=True)
class _Token:
    kind: str
    text: str
    line: int
    column: int


class _Reader:
    """One definition, read from left to right."""

    def __init__(self, lines: list[tuple[int, str]], known: dict[str, EventDefinition]):
        self._lines, self._known, self._place = dict(lines), known, 0
        self._variables: tuple[str, ...] = ()
        self._tokens = [token for number, line in lines for token in self._split(number, line)]
        last, content = lines[-1]
        self._tokens.append(_Token("end", "the end", last, len(content.rstrip()) + 1))

    def _split(self, number: int, line: str) -> list[_Token]:
        tokens, start = [], 0
        while start < len(line):
            found = _TOKEN.match(line, start)
            if found is None:
                bad = _Token("", line[start], number, start + 1)
                raise self._error(f"{line[start]!r} cannot stand in a definition", bad)
            kind = str(found.lastgroup)
            if kind not in ("space", "comment"):
                keyword = kind == "name" and found[0] in _KEYWORDS
                tokens.append(_Token("sign" if keyword else kind, found[0], number, start + 1))
            start = found.end()
        return tokens

    @property
    def _now(self) -> _Token:
        return self._tokens[self._place]

    def _error(self, problem: str, token: _Token) -> EventError:
        return EventError(f"{problem}.", self._lines[token.line], token.line, token.column)

    def _at(self, *texts: str) -> bool:
        token = self._now
        return token.kind in texts or (token.kind == "sign" and token.text in texts)

    def _next(self, expected: str, *texts: str) -> _Token:
        token = self._now
        if not self._at(*texts):
            raise self._error(f"expected {expected}, found {token.text!r}", token)
        self._place += 1
        return token

    def definition(self) -> EventDefinition:
        """Read all of it."""
        name = self._next("the name of an event", "name")
        if name.text in self._known:
            raise self._error(f"{name.text} is defined twice", name)
        self._variables = self._head()
        self._next("'='", "=")
        expression = self._sequence()
        self._next("';', 'before', 'while' or the end", "end")
        unused = [v for v in self._variables if v not in _terms(expression)]
        if unused:
            raise self._error(f"the argument {unused[0]} is never used", name)
        return EventDefinition(name.text, self._variables, expression)

    def _head(self) -> tuple[str, ...]:
        self._next("'('", "(")
        names: list[str] = []
        while not self._at(")"):
            if names:
                self._next("',' or ')'", ",")
            token = self._next("a variable", "name")
            if token.text in names:
                raise self._error(f"the argument {token.text} stands here twice", token)
            names.append(token.text)
        self._next("')'", ")")
        return tuple(names)

    def _sequence(self) -> EventExpression:
        place = self._now
        left = right = self._held()
        self._check_needed(left, place)
        while self._at(";", "before"):
            join = self._next("", ";", "before")
            place = self._now
            right = self._held()
            left = Then(left, right) if join.text == ";" else Before(left, right)
        self._check_needed(right, place)
        return left

    def _check_needed(self, part: EventExpression, place: _Token) -> None:
        if isinstance(part, EventPhase) and part.optional:
            raise self._error("an optional phase must stand between two others", place)

    def _held(self) -> EventExpression:
        part = self._part()
        while self._at("while"):
            self._next("", "while")
            part = While(part, self._phase())
        return part

    def _part(self) -> EventExpression:
        if self._at("["):
            return self._phase()
        if self._at("("):
            self._next("'('", "(")
            inner = self._sequence()
            self._next("')'", ")")
            return inner
        return self._call()

    def _phase(self) -> EventPhase:
        self._next("'['", "[")
        conditions = [self._condition()]
        while self._at(","):
            self._next("','", ",")
            conditions.append(self._condition())
        self._next("',' or ']'", "]")
        optional = self._at("?")
        if optional:
            self._next("'?'", "?")
        return EventPhase(tuple(conditions), optional)

    def _condition(self) -> EventCondition:
        positive = not self._at("not")
        if not positive:
            self._next("'not'", "not")
        name = self._next("a condition such as attached(x,y)", "name")
        return EventCondition(name.text, self._arguments(), positive)

    def _call(self) -> EventCall:
        name = self._next("a phase '[...]' or an event", "name")
        if name.text not in self._known:
            known = ", ".join(self._known) or "none"
            raise self._error(
                f"no event {name.text} is defined above (known: {known}); conditions stand in "
                "brackets: [...]",
                name,
            )
        arguments = self._arguments()
        wanted = len(self._known[name.text].variables)
        if len(arguments) != wanted:
            raise self._error(f"{name.text} has {wanted} arguments, found {len(arguments)}", name)
        return EventCall(name.text, arguments)

    def _arguments(self) -> tuple[str, ...]:
        self._next("'('", "(")
        terms: list[str] = []
        while not self._at(")"):
            if terms:
                self._next("',' or ')'", ",")
            token = self._next("a variable, or the name of an object in quotes", "name", "quoted")
            if token.kind == "name" and token.text not in self._variables:
                raise self._error(
                    f"{token.text} is not among the arguments ({', '.join(self._variables)}); "
                    f'the name of an object stands in quotes, "{token.text}"',
                    token,
                )
            terms.append(token.text)
        self._next("')'", ")")
        return tuple(terms)


def _terms(expression: EventExpression) -> set[str]:
    if isinstance(expression, EventPhase):
        return {term for condition in expression.conditions for term in condition.arguments}
    if isinstance(expression, EventCall):
        return set(expression.arguments)
    if isinstance(expression, While):
        return _terms(expression.event) | _terms(expression.phase)
    return _terms(expression.first) | _terms(expression.second)
