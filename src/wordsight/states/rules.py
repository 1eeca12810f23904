"""Weighted Horn rules: what they are made of, and how they are written.

A rule ``3.2: distance(X,Y) <= 12, speed(Y) >= 4 -> attached(X,Y)`` costs its weight wherever its
body holds and its head does not. Variables begin with a capital and different variables stand for
different objects; anything else is the name of an object or, with one argument, a kind.
"""

import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Literal

from wordsight.states.errors import StateError

__all__ = ["Atom", "Comparison", "Rule", "format_rules", "is_variable"]

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
class Comparison:
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
        >>> rule = Rule(3.2, (Comparison("speed", ("Y",), ">=", 4.0),), Atom("moves", ("Y",)))
        >>> str(rule)
        '3.2: speed(Y) >= 4 -> moves(Y)'
    """

    weight: float
    body: tuple[Atom | Comparison, ...]
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


def _variables(parts: Iterable[Atom | Comparison | None]) -> Iterator[str]:
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
