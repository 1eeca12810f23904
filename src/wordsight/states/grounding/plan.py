"""The part of a grounding that does not depend on measurements.

A plan depends only on the rules and on the kinds of the objects, so videos with like objects share
it; the remaining work per video is arithmetic on arrays.
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wordsight.states.errors import StateError
from wordsight.states.rules.rule import Atom, FeatureComparison, Rule, is_variable
from wordsight.states.rules.vocabulary import ANY_KIND, StateVocabulary

__all__ = [
    "GroundFact",
    "GroundingPlan",
    "Measure",
    "RuleInstance",
    "places_of_kinds",
    "plan_grounding",
]

GroundFact = tuple[str, tuple[int, ...]]
"""A predicate and the numbers of its objects."""

Measure = tuple[str, tuple[int, ...]]
"""A feature and the numbers of its objects."""

_IMPOSSIBLE = -2  # number of a fact whose objects are of the wrong kinds


@dataclass(frozen=True)
class RuleInstance:
    """One rule with objects for its variables.

    Attributes:
        rule: Number of the rule.
        clause: Number of the clause that remains once the observation is known.
        conditions: Numbers of the ground comparisons that must hold.
        places: The object assigned to each variable of the rule.
        involved: All objects it mentions.
    """

    rule: int
    clause: int
    conditions: tuple[int, ...]
    places: tuple[int, ...]
    involved: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class GroundingPlan:
    """All instances of rules over objects of given kinds.

    Attributes:
        facts: The F possible facts.
        comparisons: Per measure, the operator, threshold and number of each ground comparison.
        num_comparisons: Number of ground comparisons.
        clauses: Bodies and heads (-1 for *false*) of the clauses.
        instances: The instances.
        conditions: ``(I, L)`` their conditions, padded with ``num_comparisons``.
    """

    facts: tuple[GroundFact, ...]
    comparisons: dict[Measure, list[tuple[str, float, int]]]
    num_comparisons: int
    clauses: tuple[tuple[tuple[int, ...], int], ...]
    instances: tuple[RuleInstance, ...]
    conditions: NDArray[np.int64]


def places_of_kinds(types: Sequence[str], kinds: Sequence[str]) -> list[tuple[int, ...]]:
    """Return all assignments of distinct objects to arguments of the given types."""
    choices = [[k for k, kind in enumerate(kinds) if t in (ANY_KIND, kind)] for t in types]
    return [p for p in itertools.product(*choices) if len(set(p)) == len(p)]


def plan_grounding(
    rules: Sequence[Rule], names: Sequence[str], kinds: Sequence[str], vocabulary: StateVocabulary
) -> GroundingPlan:
    """Instantiate rules over objects.

    Args:
        rules: The rules.
        names: Names of the objects, for rules that name some.
        kinds: Kinds of the objects.
        vocabulary: Declared predicates and features.

    Raises:
        StateError: If a rule uses a predicate or feature that is not declared, or a wrong number of
            arguments.
    """
    planner = _Planner(names, kinds, vocabulary)
    for number, rule in enumerate(rules):
        planner.add(number, rule)
    return planner.plan()


class _Planner:
    """Collects the instances of rules."""

    def __init__(self, names: Sequence[str], kinds: Sequence[str], vocabulary: StateVocabulary):
        self._kinds, self._vocabulary = tuple(kinds), vocabulary
        self._place = {name: k for k, name in enumerate(names)}
        self._predicates = {item.name: item for item in vocabulary.predicates}
        self._facts: tuple[GroundFact, ...] = tuple(
            (predicate.name, places)
            for predicate in vocabulary.predicates
            for places in places_of_kinds(predicate.types, kinds)
        )
        self._number = {fact: k for k, fact in enumerate(self._facts)}
        self._assignments: dict[tuple[str, ...], list[tuple[int, ...]]] = {}
        self._comparisons: dict[Measure, list[tuple[str, float, int]]] = {}
        self._known: dict[tuple[Measure, str, float], int] = {}
        self._clauses: dict[tuple[tuple[int, ...], int], int] = {}
        self._instances: list[RuleInstance] = []

    def add(self, number: int, rule: Rule) -> None:
        """Add all instances of a rule."""
        types = self._types(rule)
        named = {_name(t) for part in _parts(rule) for t in part.arguments if not is_variable(t)}
        if not named <= self._place.keys():
            return  # it names an object that is not in this video
        taken = {self._place[name] for name in named}
        key = tuple(types[v] for v in rule.variables)
        if key not in self._assignments:
            self._assignments[key] = places_of_kinds(key, self._kinds)
        for places in self._assignments[key]:
            if not taken.intersection(places):
                where = dict(zip(rule.variables, places, strict=True))
                self._instance(number, rule, where, (*places, *sorted(taken)))

    def _instance(
        self, number: int, rule: Rule, where: dict[str, int], involved: tuple[int, ...]
    ) -> None:
        body, conditions = set(), []
        for part in rule.body:
            places = self._places(part, where)
            if isinstance(part, FeatureComparison):
                conditions.append((part, places))
            elif part.predicate in self._predicates:
                body.add(self._number.get((part.predicate, places), _IMPOSSIBLE))
        head = -1
        if rule.head is not None:
            fact = rule.head.predicate, self._places(rule.head, where)
            head = self._number.get(fact, _IMPOSSIBLE)
        if head in body or _IMPOSSIBLE in body or head == _IMPOSSIBLE:
            return  # a tautology, or an impossible fact
        clause = self._clauses.setdefault((tuple(sorted(body)), head), len(self._clauses))
        numbers = tuple(self._comparison(part, places) for part, places in conditions)
        variables = tuple(where.values())
        self._instances.append(RuleInstance(number, clause, numbers, variables, involved))

    def _places(self, part: Atom | FeatureComparison, where: dict[str, int]) -> tuple[int, ...]:
        return tuple(where[t] if is_variable(t) else self._place[_name(t)] for t in part.arguments)

    def _comparison(self, part: FeatureComparison, places: tuple[int, ...]) -> int:
        measure = (part.feature, places)
        key = (measure, part.operator, part.value)
        if key not in self._known:
            self._known[key] = len(self._known)
            row = (part.operator, part.value, self._known[key])
            self._comparisons.setdefault(measure, []).append(row)
        return self._known[key]

    def _types(self, rule: Rule) -> dict[str, str]:
        """Return the kind of each variable, checking every name and arity."""
        types = dict.fromkeys(rule.variables, ANY_KIND)
        for part in _parts(rule):
            declared = self._declared(part, rule)
            if len(declared) != len(part.arguments):
                raise StateError(
                    f"{part} has {len(part.arguments)} argument(s), but {len(declared)} are "
                    f"declared; in the rule {rule}."
                )
            for term, kind in zip(part.arguments, declared, strict=True):
                if is_variable(term) and kind != ANY_KIND:
                    fits = types[term] in (ANY_KIND, kind)
                    types[term] = kind if fits else "(none)"  # two kinds at once: no object fits
        return types

    def _declared(self, part: Atom | FeatureComparison, rule: Rule) -> tuple[str, ...]:
        if isinstance(part, FeatureComparison):
            return self._vocabulary.feature(part.feature).types
        if part.predicate in self._predicates:
            return self._predicates[part.predicate].types
        if part is not rule.head and len(part.arguments) == 1:
            return (part.predicate,)
        raise StateError(
            f"{part.predicate!r} is not a predicate; known: "
            f"{', '.join(self._predicates) or 'none'}. Declare it in the vocabulary; rule: {rule}."
        )

    def plan(self) -> GroundingPlan:
        """Return the plan of all rules added."""
        longest = max((len(row.conditions) for row in self._instances), default=0)
        padded = np.full((len(self._instances), longest), len(self._known), dtype=np.int64)
        for k, row in enumerate(self._instances):
            padded[k, : len(row.conditions)] = row.conditions
        return GroundingPlan(
            self._facts,
            self._comparisons,
            len(self._known),
            tuple(self._clauses),
            tuple(self._instances),
            padded,
        )


def _parts(rule: Rule) -> list[Atom | FeatureComparison]:
    return [*rule.body, *([rule.head] if rule.head is not None else [])]


def _name(term: str) -> str:
    return term.strip('"')
