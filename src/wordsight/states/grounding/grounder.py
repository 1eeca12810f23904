"""Grounding: rules turned into propositional clauses for all frames of a video at once.

Every rule is instantiated for every assignment of distinct objects to its variables. Its conditions
on the observation become an array over time, its conditions on the state a ground clause. Instances
that never apply are pruned and equal clauses merged, so the search sees each clause once with the
sum of its weights. Nothing here depends on weights: one grounding serves all rounds of learning.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wordsight.states.errors import StateError
from wordsight.states.grounding.clauses import ClauseSet
from wordsight.states.grounding.observations import StateObservations
from wordsight.states.grounding.plan import GroundingPlan, places_of_kinds, plan_grounding
from wordsight.states.rules.facts import Fact
from wordsight.states.rules.rule import FeatureComparison, Rule, is_variable
from wordsight.states.rules.vocabulary import StateVocabulary

__all__ = ["HARD_WEIGHT", "Grounder", "Grounding", "ground", "places_of", "possible_facts"]

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

    def broken(self, values: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return ``(T, I)`` which instances the states ``(T, F)`` violate at which frame."""
        return self.fired & self.clauses.violated(values)[:, self.clause_of]


def possible_facts(
    vocabulary: StateVocabulary, observations: StateObservations
) -> tuple[Fact, ...]:
    """Return every possible fact about the objects, in their order."""
    return tuple(
        Fact(predicate.name, tuple(observations.objects[k].name for k in places))
        for predicate in vocabulary.predicates
        for places in places_of(predicate.types, observations)
    )


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
            for t in p.arguments
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
    for (feature, places), rows in plan.comparisons.items():
        if feature not in observations.features:
            raise StateError(
                f"{observations.video_id} has no feature {feature!r}; measure it with the "
                "vocabulary that declares it, or learn without features of later frames."
            )
        where: tuple[Any, ...] = (slice(None), *places)
        values = observations.features[feature][where]
        # NaN compares false either way: a rule does not apply where a value is missing.
        for operator, threshold, number in rows:
            holds[:, number] = values <= threshold if operator == "<=" else values >= threshold
    fired = np.ones((frames, len(plan.instances)), dtype=np.bool_)
    for column in plan.conditions.T:
        fired &= holds[:, column]
    if not observations.present.all():
        for k, row in enumerate(plan.instances):
            fired[:, k] &= observations.present[:, list(row.involved)].all(axis=1)
    return fired


def _compares(rule: Rule) -> bool:
    return any(isinstance(part, FeatureComparison) for part in rule.body)
