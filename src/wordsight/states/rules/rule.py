"""Weighted Horn rules and their text format.

A rule ``3.2: distance(X,Y) <= 12, speed(Y) >= 4 -> attached(X,Y)`` costs its weight wherever its
body holds and its head does not. Variables begin with a capital, and different variables stand for
different objects; anything else is the name of an object or, with one argument, a kind.
"""

import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Literal

from wordsight.states.errors import RuleError, StateError

__all__ = ["Atom", "FeatureComparison", "Rule", "format_rules", "is_variable", "parse_rules"]


_PLAIN = re.compile(r"[a-z][A-Za-z0-9_]*")


def is_variable(term: str) -> bool:
    """Whether an argument stands for any object: a bare word that begins with a capital."""
    return term[:1].isupper()


@dataclass(frozen=True, order=True)
class Atom:
    """A predicate of the state, or a kind, about variables or objects.

    Names of objects that begin with a capital are kept with quotes, ``'"Cup"'``, so that they are
    not taken for variables.

    Attributes:
        predicate: Name of the predicate or kind.
        arguments: Variables or names of objects.
    """

    predicate: str
    arguments: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.predicate}({','.join(map(_written, self.arguments))})"


@dataclass(frozen=True, order=True)
class FeatureComparison:
    """A feature on one side of a threshold.

    Attributes:
        feature: Name of the feature.
        arguments: Variables or names of objects.
        operator: ``<=`` or ``>=``.
        value: The threshold, in the unit of the feature.
    """

    feature: str
    arguments: tuple[str, ...]
    operator: Literal["<=", ">="]
    value: float

    def __str__(self) -> str:
        arguments = ",".join(map(_written, self.arguments))
        return f"{self.feature}({arguments}) {self.operator} {_number(self.value)}"


@dataclass(frozen=True)
class Rule:
    """A weighted Horn rule.

    Attributes:
        weight: What a violation costs at one moment, not negative; infinity for a rule that must
            hold, written ``hard``.
        body: All of these together make the rule apply; may be empty only without head variables.
        head: What must then hold; ``None`` for ``false``: the body must not hold.

    Examples:
        >>> fast = FeatureComparison("speed", ("Y",), ">=", 4.0)
        >>> str(Rule(3.2, (fast,), Atom("moves", ("Y",))))
        '3.2: speed(Y) >= 4 -> moves(Y)'
    """

    weight: float
    body: tuple[Atom | FeatureComparison, ...]
    head: Atom | None

    def __post_init__(self) -> None:
        object.__setattr__(self, "weight", float(self.weight))
        if not self.weight >= 0:
            raise StateError(
                f"the weight of a rule must be 0 or more, got {self.weight:g}; to say the "
                "opposite, write the rule with the opposite head."
            )
        loose = [v for v in _variables((self.head,)) if v not in set(_variables(self.body))]
        if loose:
            raise StateError(
                f"the head variable {loose[0]} is not bound: it must occur before '->', at least "
                f"as a kind: thing({loose[0]}) -> {self.head}."
            )

    @property
    def variables(self) -> tuple[str, ...]:
        """The variables in order of appearance."""
        return tuple(dict.fromkeys(_variables((*self.body, self.head))))

    @property
    def hard(self) -> bool:
        """Whether the rule must hold."""
        return math.isinf(self.weight)

    def reweighted(self, weight: float) -> "Rule":
        """Return the rule with another weight."""
        return replace(self, weight=weight)

    def __str__(self) -> str:
        weight = "hard" if self.hard else _number(self.weight)
        body = ", ".join(map(str, self.body))
        return f"{weight}: {body}{' ' * bool(body)}-> {self.head or 'false'}"


def format_rules(rules: Iterable[Rule]) -> str:
    """Write rules as text that :func:`wordsight.states.parse_rules` reads back unchanged."""
    return "".join(f"{rule}\n" for rule in rules)


def _variables(parts: Iterable[Atom | FeatureComparison | None]) -> Iterator[str]:
    for part in parts:
        if part is not None:
            yield from (term for term in part.arguments if is_variable(term))


def _number(value: float) -> str:
    short = f"{value:.10g}"
    return short if float(short) == value else repr(value)


def _written(term: str) -> str:
    if is_variable(term) or _PLAIN.fullmatch(term) or term.startswith('"'):
        return term
    return f'"{term}"'


_TOKEN = re.compile(
    r"""(?P<space>[ \t]+)
      | (?P<comment>\#.*)
      | (?P<number>[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)
      | (?P<name>[^\W\d]\w*)
      | "(?P<quoted>[^"]+)"
      | (?P<sign>->|<=|>=|[:,()<>=-])""",
    re.VERBOSE,
)


@dataclass(frozen=True)
class _Token:
    kind: str
    text: str
    column: int


def parse_rules(text: str) -> tuple[Rule, ...]:
    """Read rules, one a line; ``#`` starts a comment, a rule without a weight weighs 1.

    Args:
        text: For example ``3.2: distance(X,Y) <= 12, speed(Y) >= 4 -> attached(X,Y)``.

    Raises:
        RuleError: If a line is no rule; the message shows the line and points at the column.

    Examples:
        >>> parse_rules("hard: attached(X,Y), grounded(Y) -> false")[0].head is None
        True
    """
    rules = []
    for number, line in enumerate(text.splitlines(), start=1):
        reader = _Reader(line, number)
        if not reader.at("end"):
            rules.append(reader.rule())
    return tuple(rules)


class _Reader:
    """One line, read from left to right."""

    def __init__(self, line: str, number: int):
        self._line, self._number, self._place = line, number, 0
        self._tokens = self._split()

    def _split(self) -> list[_Token]:
        tokens, start = [], 0
        while start < len(self._line):
            found = _TOKEN.match(self._line, start)
            if found is None:
                raise self._error(f"{self._line[start]!r} cannot stand in a rule", start + 1)
            kind = str(found.lastgroup)
            if kind not in ("space", "comment"):
                tokens.append(_Token(kind, found[kind], start + 1))
            start = found.end()
        return [*tokens, _Token("end", "the end of the line", len(self._line) + 1)]

    @property
    def _now(self) -> _Token:
        return self._tokens[self._place]

    def at(self, *texts: str) -> bool:
        """Whether the next token is one of these signs or kinds."""
        token = self._now
        return token.kind in texts or (token.kind == "sign" and token.text in texts)

    def _next(self, expected: str, *texts: str) -> _Token:
        token = self._now
        if not self.at(*texts):
            raise self._error(f"expected {expected}, found {token.text!r}", token.column)
        self._place += 1
        return token

    def _error(self, problem: str, column: int) -> RuleError:
        return RuleError(f"{problem}.", self._line, self._number, column)

    def rule(self) -> Rule:
        """Read the whole line."""
        weight = self._weight()
        body: list[Atom | FeatureComparison] = []
        while not self.at("->"):
            if body:
                self._next("',' or '->'", ",")
            body.append(self._condition())
        self._next("'->'", "->")
        head_column = self._now.column
        head = self._head()
        self._next("the end of the line", "end")
        try:
            return Rule(weight, tuple(body), head)
        except StateError as error:
            raise self._error(str(error).rstrip("."), head_column) from None

    def _weight(self) -> float:
        token, following = self._now, self._tokens[min(self._place + 1, len(self._tokens) - 1)]
        if token.kind == "number":
            self._place += 1
            value = float(token.text)
            if value < 0 or not math.isfinite(value):
                raise self._error(
                    f"a weight must be 0 or more, found {token.text}; to say the opposite, write "
                    "the rule with the opposite head",
                    token.column,
                )
        elif token.text == "hard" and following.text == ":":
            self._place += 1
            value = math.inf
        else:
            return 1.0
        self._next("':' after the weight", ":")
        return value

    def _condition(self) -> Atom | FeatureComparison:
        name = self._next("a condition such as speed(X) >= 4", "name")
        arguments = self._arguments()
        if self.at("<=", ">="):
            operator: Literal["<=", ">="] = (
                "<=" if self._next("", "<=", ">=").text == "<=" else ">="
            )
            value = self._next("a number", "number")
            return FeatureComparison(name.text, arguments, operator, float(value.text))
        if self.at("<", ">", "="):
            raise self._error("compare with <= or >=", self._now.column)
        return Atom(name.text, arguments)

    def _head(self) -> Atom | None:
        name = self._next("a head such as attached(X,Y), or false", "name")
        if name.text == "false" and not self.at("("):
            return None
        arguments = self._arguments()
        if self.at("<=", ">=", "<", ">", "="):
            raise self._error(
                "a head is a predicate of the state or false, never a comparison", name.column
            )
        return Atom(name.text, arguments)

    def _arguments(self) -> tuple[str, ...]:
        self._next("'('", "(")
        terms: list[str] = []
        while not self.at(")"):
            if terms:
                self._next("',' or ')'", ",")
            token = self._next("a variable or the name of an object", "name", "quoted", "number")
            plain = token.kind != "quoted" or not token.text[0].isupper()
            terms.append(token.text if plain else f'"{token.text}"')
        self._next("')'", ")")
        return tuple(terms)
