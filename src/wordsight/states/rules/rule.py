"""Weighted Horn rules and their text format.

A rule ``3.2: distance(X,Y) <= 12, speed(Y) >= 4 -> attached(X,Y)`` costs its weight wherever its
body holds and its head does not. A feature may also be compared with another one, ``speed(X) <=
speed(Y)``, and ``=`` means equal but for rounding. Variables begin with a capital, and different
variables stand for different objects; anything else is the name of an object or, with one argument,
a kind.
"""

import math
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

from wordsight.errors import RuleError, StateError

__all__ = [
    "OPERATORS",
    "Atom",
    "FeatureComparison",
    "FeatureTerm",
    "Rule",
    "TextToken",
    "TokenReader",
    "format_rules",
    "is_variable",
    "parse_rules",
]

OPERATORS: tuple[Literal["<=", ">=", "="], ...] = ("<=", ">=", "=")
"""How features are compared."""

_PLAIN = re.compile(r"[a-z][A-Za-z0-9_]*")


def is_variable(term: str) -> bool:
    """Return whether an argument is a variable: an unquoted word that begins with a capital."""
    return term[:1].isupper()


@dataclass(frozen=True, order=True)
class Atom:
    """A predicate of the state, or a kind, applied to variables or objects.

    Names of objects that begin with a capital keep their quotes, ``'"Cup"'``, so that they are not
    mistaken for variables.

    Attributes:
        predicate: Name of the predicate or kind.
        arguments: Variables or names of objects.
    """

    predicate: str
    arguments: tuple[str, ...]

    @property
    def terms(self) -> tuple[str, ...]:
        """All variables and objects it mentions."""
        return self.arguments

    def __str__(self) -> str:
        return f"{self.predicate}({','.join(map(_quoted, self.arguments))})"


@dataclass(frozen=True, order=True)
class FeatureTerm:
    """A feature of variables or objects, ``speed(X)``, that another one is compared with."""

    feature: str
    arguments: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.feature}({','.join(map(_quoted, self.arguments))})"


@dataclass(frozen=True)
class FeatureComparison:
    """A comparison of a feature with a threshold or with another feature.

    Attributes:
        feature: Name of the feature.
        arguments: Variables or names of objects.
        operator: ``<=``, ``>=`` or ``=``.
        value: The threshold, in the unit of the feature, or the other feature.
    """

    feature: str
    arguments: tuple[str, ...]
    operator: Literal["<=", ">=", "="]
    value: float | FeatureTerm

    @property
    def terms(self) -> tuple[str, ...]:
        """All variables and objects it mentions."""
        other = self.value.arguments if isinstance(self.value, FeatureTerm) else ()
        return (*self.arguments, *other)

    def __str__(self) -> str:
        value = self.value if isinstance(self.value, FeatureTerm) else _number(self.value)
        return f"{FeatureTerm(self.feature, self.arguments)} {self.operator} {value}"


@dataclass(frozen=True)
class Rule:
    """A weighted Horn rule.

    Attributes:
        weight: Cost of a violation at one frame, not negative; infinity for a hard rule, which must
            hold and is written ``hard``.
        body: Conditions that together make the rule apply.
        head: What must then hold; ``None`` for ``false``: the body must not hold. Its variables
            must occur in the body.

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
                f"the weight of a rule must be 0 or more, got {self.weight:g}; for the opposite, "
                "write a rule with the opposite head."
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
    """Return rules as text that :func:`wordsight.states.parse_rules` reads back unchanged."""
    return "".join(f"{rule}\n" for rule in rules)


def _variables(parts: Iterable[Atom | FeatureComparison | None]) -> Iterator[str]:
    for part in parts:
        if part is not None:
            yield from (term for term in part.terms if is_variable(term))


def _number(value: float) -> str:
    short = f"{value:.10g}"
    return short if float(short) == value else repr(value)


def _quoted(term: str) -> str:
    if is_variable(term) or _PLAIN.fullmatch(term) or term.startswith('"'):
        return term
    return f'"{term}"'


def parse_rules(text: str) -> tuple[Rule, ...]:
    """Parse rules, one per line; ``#`` starts a comment, and the default weight is 1.

    Args:
        text: For example ``3.2: distance(X,Y) <= 12, speed(Y) >= 4 -> attached(X,Y)``.

    Raises:
        RuleError: If a line is not a rule; the message shows the line and points at the column.

    Examples:
        >>> parse_rules("hard: attached(X,Y), grounded(Y) -> false")[0].head is None
        True
    """
    readers = (_RuleReader([line]) for line in enumerate(text.splitlines(), start=1))
    return tuple(reader.rule() for reader in readers if not reader.at("end"))


@dataclass(frozen=True)
class TextToken:
    """A token of a text with its place, lines and columns counted from 1."""

    kind: str
    text: str
    line: int
    column: int


class TokenReader:
    """Reads the tokens of some lines from left to right; errors point at the column.

    Subclasses set the pattern, whose named groups are the kinds of tokens. ``space`` and
    ``comment`` are skipped, and a ``name`` among the keywords counts as a ``sign``.

    Args:
        lines: The lines with their numbers.
    """

    pattern: ClassVar[re.Pattern[str]]
    keywords: ClassVar[tuple[str, ...]] = ()
    error: ClassVar[type[RuleError]] = RuleError
    language: ClassVar[str] = "a rule"
    end: ClassVar[str] = "the end of the line"

    def __init__(self, lines: list[tuple[int, str]]):
        self._lines, self._place = dict(lines), 0
        self._tokens = [token for number, line in lines for token in self._split(number, line)]
        number, line = lines[-1]
        self._tokens.append(TextToken("end", self.end, number, len(line) + 1))

    def _split(self, number: int, line: str) -> Iterator[TextToken]:
        start = 0
        while start < len(line):
            match = self.pattern.match(line, start)
            if match is None:
                bad = TextToken("", line[start], number, start + 1)
                raise self.failure(f"{bad.text!r} cannot stand in {self.language}", bad)
            kind = str(match.lastgroup)
            if kind not in ("space", "comment"):
                keyword = kind == "name" and match[0] in self.keywords
                yield TextToken("sign" if keyword else kind, match[kind], number, start + 1)
            start = match.end()

    @property
    def current(self) -> TextToken:
        """The next token."""
        return self._tokens[self._place]

    @property
    def following(self) -> TextToken:
        """The token after the next one."""
        return self._tokens[min(self._place + 1, len(self._tokens) - 1)]

    def at(self, *texts: str) -> bool:
        """Return whether the next token is one of these signs or kinds."""
        token = self.current
        return token.kind in texts or (token.kind == "sign" and token.text in texts)

    def take(self, expected: str, *texts: str) -> TextToken:
        """Return the next token and go on, or fail if it is none of these signs or kinds."""
        token = self.current
        if not self.at(*texts):
            raise self.failure(f"expected {expected}, found {token.text!r}", token)
        self._place += 1
        return token

    def in_brackets(self, item: Callable[[], str]) -> tuple[str, ...]:
        """Return the items of a list in round brackets, each read by ``item``."""
        self.take("'('", "(")
        items: list[str] = []
        while not self.at(")"):
            if items:
                self.take("',' or ')'", ",")
            items.append(item())
        self.take("')'", ")")
        return tuple(items)

    def failure(self, problem: str, token: TextToken) -> RuleError:
        """Return an error that points at a token."""
        return self.error(f"{problem}.", self._lines[token.line], token.line, token.column)


class _RuleReader(TokenReader):
    pattern = re.compile(
        r"""(?P<space>[ \t]+)
          | (?P<comment>\#.*)
          | (?P<number>[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)
          | (?P<name>[^\W\d]\w*)
          | "(?P<quoted>[^"]+)"
          | (?P<sign>->|<=|>=|[:,()<>=-])""",
        re.VERBOSE,
    )

    def rule(self) -> Rule:
        """Read the whole line."""
        weight = self._weight()
        body: list[Atom | FeatureComparison] = []
        while not self.at("->"):
            if body:
                self.take("',' or '->'", ",")
            body.append(self._condition())
        self.take("'->'", "->")
        first = self.current
        head = self._head()
        self.take("the end of the line", "end")
        try:
            return Rule(weight, tuple(body), head)
        except StateError as error:
            raise self.failure(str(error).rstrip("."), first) from None

    def _weight(self) -> float:
        token = self.current
        if token.kind == "number":
            self._place += 1
            value = float(token.text)
            if value < 0 or not math.isfinite(value):
                raise self.failure(
                    f"a weight must be 0 or more, found {token.text}; for the opposite, write a "
                    "rule with the opposite head",
                    token,
                )
        elif token.text == "hard" and self.following.text == ":":
            self._place += 1
            value = math.inf
        else:
            return 1.0
        self.take("':' after the weight", ":")
        return value

    def _condition(self) -> Atom | FeatureComparison:
        name = self.take("a condition such as speed(X) >= 4", "name").text
        arguments = self.in_brackets(self._argument)
        if self.at("<", ">"):
            raise self.failure("compare with <=, >= or =", self.current)
        for operator in OPERATORS:
            if self.at(operator):
                self.take("", operator)
                return FeatureComparison(name, arguments, operator, self._value())
        return Atom(name, arguments)

    def _value(self) -> float | FeatureTerm:
        token = self.take("a number or a feature such as speed(Y)", "number", "name")
        if token.kind == "number":
            return float(token.text)
        return FeatureTerm(token.text, self.in_brackets(self._argument))

    def _head(self) -> Atom | None:
        name = self.take("a head such as attached(X,Y), or false", "name")
        if name.text == "false" and not self.at("("):
            return None
        arguments = self.in_brackets(self._argument)
        if self.at("<=", ">=", "<", ">", "="):
            raise self.failure(
                "a head is a predicate of the state or false, not a comparison", name
            )
        return Atom(name.text, arguments)

    def _argument(self) -> str:
        token = self.take("a variable or the name of an object", "name", "quoted", "number")
        plain = token.kind != "quoted" or not token.text[0].isupper()
        return token.text if plain else f'"{token.text}"'
