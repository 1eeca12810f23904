"""Grounding: rules turned into propositional clauses for all frames of a video at once.

Every rule is instantiated for every assignment of distinct objects to its variables. Its conditions
on the observation become an array over time, its conditions on the state a ground clause. Instances
that never apply are pruned and equal clauses merged, so the search sees each clause once with the
sum of its weights. Nothing here depends on weights: one grounding serves all rounds of learning.

The plan of a grounding depends only on the rules and on the kinds of the objects, so videos with
like objects share it; the remaining work per video is arithmetic on arrays.
"""

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from wordsight.errors import StateError
from wordsight.states.grounding.clauses import ClauseSet
from wordsight.states.grounding.observations import StateObservations, compare
from wordsight.states.rules.facts import Fact
from wordsight.states.rules.rule import Atom, FeatureComparison, FeatureTerm, Rule, is_variable
from wordsight.states.rules.vocabulary import ANY_KIND, StateVocabulary

__all__ = [
    "HARD_WEIGHT",
    "GroundFact",
    "Grounder",
    "Grounding",
    "GroundingPlan",
    "Measure",
    "RuleInstance",
    "ground",
    "places_of",
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
        comparisons: Per measure, the operator, threshold or other measure, and number of each
            ground comparison.
        num_comparisons: Number of ground comparisons.
        clauses: Bodies and heads (-1 for *false*) of the clauses.
        instances: The instances.
        conditions: ``(I, L)`` their conditions, padded with ``num_comparisons``.
    """

    facts: tuple[GroundFact, ...]
    comparisons: dict[Measure, list[tuple[str, float | Measure, int]]]
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
        self._comparisons: dict[Measure, list[tuple[str, float | Measure, int]]] = {}
        self._known: dict[tuple[Measure, str, float | Measure], int] = {}
        self._clauses: dict[tuple[tuple[int, ...], int], int] = {}
        self._instances: list[RuleInstance] = []

    def add(self, number: int, rule: Rule) -> None:
        """Add all instances of a rule."""
        types = self._types(rule)
        named = {_name(t) for part in _parts(rule) for t in part.terms if not is_variable(t)}
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
        numbers = tuple(self._comparison(part, places, where) for part, places in conditions)
        variables = tuple(where.values())
        self._instances.append(RuleInstance(number, clause, numbers, variables, involved))

    def _places(
        self, part: Atom | FeatureComparison | FeatureTerm, where: dict[str, int]
    ) -> tuple[int, ...]:
        return tuple(where[t] if is_variable(t) else self._place[_name(t)] for t in part.arguments)

    def _comparison(
        self, part: FeatureComparison, places: tuple[int, ...], where: dict[str, int]
    ) -> int:
        measure, value = (part.feature, places), part.value
        other: float | Measure
        if isinstance(value, FeatureTerm):
            other = (value.feature, self._places(value, where))
        else:
            other = value
        key = (measure, part.operator, other)
        if key not in self._known:
            self._known[key] = len(self._known)
            row = (part.operator, other, self._known[key])
            self._comparisons.setdefault(measure, []).append(row)
        return self._known[key]

    def _types(self, rule: Rule) -> dict[str, str]:
        """Return the kind of each variable, checking every name and arity."""
        types = dict.fromkeys(rule.variables, ANY_KIND)
        for part in _with_terms(_parts(rule)):
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

    def _declared(
        self, part: Atom | FeatureComparison | FeatureTerm, rule: Rule
    ) -> tuple[str, ...]:
        if not isinstance(part, Atom):
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


def _with_terms(
    parts: Iterable[Atom | FeatureComparison],
) -> Iterator[Atom | FeatureComparison | FeatureTerm]:
    """Yield each part of a rule, and the feature that another one is compared with."""
    for part in parts:
        yield part
        if isinstance(part, FeatureComparison) and isinstance(part.value, FeatureTerm):
            yield part.value


def _name(term: str) -> str:
    return term.strip('"')


HARD_WEIGHT = 1e6
"""Cost of violating a hard rule at one frame: more than all soft rules together, yet finite."""

_BLOCK = 4096  # frames multiplied at once


@dataclass(frozen=True, eq=False)
class Grounding:
    """The instances of rules in one video.

    Attributes:
        observations: The video.
        rules: The R rules.
        facts: The F possible facts, in the order of the clauses' numbers.
        clauses: The C distinct clauses.
        fired: ``(T, I)`` whether the conditions of instance i on the observation hold.
        rule_of: ``(I,)`` the rule of each instance.
        clause_of: ``(I,)`` the clause of each instance.
        places: Per instance the numbers of the objects assigned to the rule's variables.
    """

    observations: StateObservations
    rules: tuple[Rule, ...]
    facts: tuple[Fact, ...]
    clauses: ClauseSet
    fired: NDArray[np.bool_]
    rule_of: NDArray[np.int64]
    clause_of: NDArray[np.int64]
    places: tuple[tuple[int, ...], ...]

    @cached_property
    def bindings(self) -> tuple[dict[str, str], ...]:
        """Per instance the name of the object assigned to each variable."""
        names = [thing.name for thing in self.observations.objects]
        variables = [rule.variables for rule in self.rules]
        return tuple(
            dict(zip(variables[rule], (names[k] for k in places), strict=True))
            for rule, places in zip(self.rule_of, self.places, strict=True)
        )

    def costs(self, weights: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
        """Return ``(T, C)`` the merged weight of each clause at each frame.

        Args:
            weights: ``(R,)`` weights to use instead of those of the rules.
        """
        given = np.array([rule.weight for rule in self.rules]) if weights is None else weights
        finite = np.where(np.isinf(given), HARD_WEIGHT, given)
        mix = np.zeros((len(self.rule_of), len(self.clauses)))
        mix[np.arange(len(self.rule_of)), self.clause_of] = finite[self.rule_of]
        merged = np.empty((len(self.fired), len(self.clauses)))
        for start in range(0, len(merged), _BLOCK):  # limits the memory of the converted values
            block = slice(start, start + _BLOCK)
            np.matmul(self.fired[block].astype(np.float64), mix, out=merged[block])
        return merged

    def hard_clauses(self) -> NDArray[np.bool_]:
        """Return ``(C,)`` which clauses no state may violate at any frame."""
        always = np.array([r.hard and not _compares(r) for r in self.rules], dtype=np.bool_)
        hard = np.zeros(len(self.clauses), dtype=np.bool_)
        hard[self.clause_of[always[self.rule_of]]] = True
        return hard

    def violations(self, values: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Return ``(R,)`` how often the states ``(T, F)`` violate each rule."""
        broken = self.broken(values)
        counts: NDArray[np.int64] = np.bincount(
            self.rule_of, weights=broken.sum(axis=0), minlength=len(self.rules)
        ).astype(np.int64)
        return counts

    def uses(self, values: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Return ``(R, 2)`` how often the states ``(T, F)`` violate each rule, of how many uses.

        A rule is used where its body holds; one whose body must not hold, where all of it but one
        fact does.
        """
        body = np.zeros((self.clauses.num_facts, len(self.clauses)))
        for clause, facts in enumerate(self.clauses.bodies):
            body[list(facts), clause] = 1.0
        missing = (~values).astype(np.float64) @ body
        holds = self.fired & (missing <= (self.clauses.heads < 0))[:, self.clause_of]
        applied = np.bincount(self.rule_of, holds.sum(axis=0), minlength=len(self.rules))
        return np.stack([self.violations(values), applied.astype(np.int64)], axis=1)

    def broken(self, values: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return ``(T, I)`` which instances the states ``(T, F)`` violate at which frame."""
        return self.fired & self.clauses.violated(values)[:, self.clause_of]


def places_of(types: Sequence[str], observations: StateObservations) -> list[tuple[int, ...]]:
    """Return all assignments of a video's objects to arguments of the given kinds."""
    return places_of_kinds(types, [thing.kind for thing in observations.objects])


class Grounder:
    """Grounds the same rules in many videos; videos with like objects share the plan.

    Args:
        rules: The rules.
        vocabulary: The predicates and features they use.
    """

    def __init__(self, rules: Iterable[Rule], vocabulary: StateVocabulary):
        self.rules, self.vocabulary = tuple(rules), vocabulary
        self._plans: dict[tuple[tuple[str, str], ...], GroundingPlan] = {}
        terms = {
            t
            for rule in self.rules
            for p in (*rule.body, rule.head)
            if p is not None
            for t in p.terms
        }
        self._named = {t.strip('"') for t in terms if not is_variable(t)}

    def ground(self, observations: StateObservations) -> Grounding:
        """Instantiate the rules over the objects of a video and find where they apply."""
        things = observations.objects
        key = tuple((t.kind, t.name if t.name in self._named else "") for t in things)
        if key not in self._plans:
            names, kinds = [t.name for t in things], [t.kind for t in things]
            self._plans[key] = plan_grounding(self.rules, names, kinds, self.vocabulary)
        return _applied(self._plans[key], self.rules, observations)


def ground(
    rules: Iterable[Rule], observations: StateObservations, vocabulary: StateVocabulary
) -> Grounding:
    """Instantiate rules over the objects of a video.

    Raises:
        StateError: If a rule uses a predicate, feature or kind that is not declared, or a wrong
            number of arguments.
    """
    return Grounder(rules, vocabulary).ground(observations)


def _applied(
    plan: GroundingPlan, rules: tuple[Rule, ...], observations: StateObservations
) -> Grounding:
    """Prune instances that never apply and merge equal clauses."""
    fired = _fired(plan, observations)
    alive = np.flatnonzero(fired.any(axis=0))
    clause_of = np.array([plan.instances[k].clause for k in alive], dtype=np.int64)
    used, clause_of = np.unique(clause_of, return_inverse=True)
    kept = [plan.clauses[k] for k in used]
    clauses = ClauseSet(
        len(plan.facts),
        tuple(body for body, _ in kept),
        np.array([head for _, head in kept], dtype=np.int64),
    )
    names = [thing.name for thing in observations.objects]
    facts = tuple(Fact(p, tuple(names[k] for k in places)) for p, places in plan.facts)
    chosen = [plan.instances[k] for k in alive]
    return Grounding(
        observations,
        rules,
        facts,
        clauses,
        fired[:, alive],
        np.array([row.rule for row in chosen], dtype=np.int64),
        clause_of.astype(np.int64),
        tuple(row.places for row in chosen),
    )


def _fired(plan: GroundingPlan, observations: StateObservations) -> NDArray[np.bool_]:
    """Return ``(T, I)`` whether the conditions of each instance on the observation hold."""
    frames = len(observations)
    holds = np.ones((frames, plan.num_comparisons + 1), dtype=np.bool_)  # the last is padding
    for measure, rows in plan.comparisons.items():
        values = observations.measured(*measure)
        for operator, other, number in rows:
            known = observations.measured(*other) if isinstance(other, tuple) else other
            holds[:, number] = compare(values, operator, known)
    fired = np.ones((frames, len(plan.instances)), dtype=np.bool_)
    for column in plan.conditions.T:
        fired &= holds[:, column]
    if not observations.present.all():
        for k, row in enumerate(plan.instances):
            fired[:, k] &= observations.present[:, list(row.involved)].all(axis=1)
    return fired


def _compares(rule: Rule) -> bool:
    return any(isinstance(part, FeatureComparison) for part in rule.body)
