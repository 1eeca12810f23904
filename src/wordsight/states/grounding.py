"""Grounding: rules turned into propositional clauses, for all moments of a video at once.

Every rule is written out for every assignment of different objects to its variables; what it says
of the observation becomes an array over time, what it says of the state a ground clause. Instances
that never apply are pruned, and equal clauses merged, so the search sees each clause once with the
sum of its weights. Nothing here depends on weights: one grounding serves all rounds of learning.
"""

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wordsight.states.clauses import ClauseSet
from wordsight.states.errors import StateError
from wordsight.states.facts import Fact
from wordsight.states.observations import Observations
from wordsight.states.rules import Atom, Comparison, Rule, is_variable
from wordsight.states.vocabulary import ANY_KIND, Vocabulary

__all__ = ["HARD_WEIGHT", "Grounding", "ground", "places_of", "possible_facts"]

HARD_WEIGHT = 1e6
"""What breaking a hard rule costs at one moment: more than any soft rules together, yet finite."""


@dataclass(frozen=True, eq=False)
class Grounding:
    """The instances of rules in one video.

    Attributes:
        observations: The video.
        rules: The R rules.
        facts: The F facts that a state may hold, in the order of the clauses' numbers.
        clauses: The C different clauses.
        fired: ``(T, I)`` whether what instance i says of the observation holds.
        rule_of: ``(I,)`` the rule of each instance.
        clause_of: ``(I,)`` the clause of each instance.
        bindings: Per instance the object that each variable stands for.
    """

    observations: Observations
    rules: tuple[Rule, ...]
    facts: tuple[Fact, ...]
    clauses: ClauseSet
    fired: NDArray[np.bool_]
    rule_of: NDArray[np.int64]
    clause_of: NDArray[np.int64]
    bindings: tuple[dict[str, str], ...]

    def costs(self, weights: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
        """Return ``(T, C)`` the merged weight of each clause at each moment.

        Args:
            weights: ``(R,)`` other weights than those of the rules.
        """
        given = np.array([rule.weight for rule in self.rules]) if weights is None else weights
        finite = np.where(np.isinf(given), HARD_WEIGHT, given)
        mix = np.zeros((len(self.rule_of), len(self.clauses)))
        mix[np.arange(len(self.rule_of)), self.clause_of] = finite[self.rule_of]
        merged: NDArray[np.float64] = self.fired @ mix
        return merged

    def hard_clauses(self) -> NDArray[np.bool_]:
        """Return ``(C,)`` which clauses no state may break at any moment."""
        always = np.array([r.hard and not _compares(r) for r in self.rules], dtype=np.bool_)
        found = np.zeros(len(self.clauses), dtype=np.bool_)
        found[self.clause_of[always[self.rule_of]]] = True
        return found

    def violations(self, values: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Return ``(R,)`` how often each rule is violated by the states ``(T, F)`` over time."""
        broken = self.broken(values)
        counts: NDArray[np.int64] = np.bincount(
            self.rule_of, weights=broken.sum(axis=0), minlength=len(self.rules)
        ).astype(np.int64)
        return counts

    def broken(self, values: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return ``(T, I)`` which instances the states ``(T, F)`` violate at which moment."""
        return self.fired & self.clauses.violated(values)[:, self.clause_of]


def possible_facts(vocabulary: Vocabulary, observations: Observations) -> tuple[Fact, ...]:
    """Return every fact the predicates allow about the objects, in the objects' order."""
    return tuple(
        Fact(predicate.name, tuple(observations.objects[k].name for k in places))
        for predicate in vocabulary.predicates
        for places in places_of(predicate.types, observations)
    )


def ground(rules: Iterable[Rule], observations: Observations, vocabulary: Vocabulary) -> Grounding:
    """Write rules out over the objects of a video.

    Raises:
        StateError: If a rule speaks of a predicate, feature or kind that is not declared, or with
            the wrong number of arguments.
    """
    chosen = tuple(rules)
    facts = possible_facts(vocabulary, observations)
    builder = _Builder(observations, vocabulary, facts)
    for number, rule in enumerate(chosen):
        builder.add(number, rule)
    return builder.grounding(chosen)


def places_of(types: Sequence[str], observations: Observations) -> list[tuple[int, ...]]:
    """Return all assignments of different objects to arguments of the given kinds."""
    choices = [
        [k for k, thing in enumerate(observations.objects) if kind in (ANY_KIND, thing.kind)]
        for kind in types
    ]
    return [p for p in itertools.product(*choices) if len(set(p)) == len(p)]


class _Builder:
    """Gathers the instances of rules in one video."""

    def __init__(self, observations: Observations, vocabulary: Vocabulary, facts: tuple[Fact, ...]):
        self._seen, self._vocabulary, self._facts = observations, vocabulary, facts
        self._number = {fact: k for k, fact in enumerate(facts)}
        self._kinds = {ANY_KIND, *(thing.kind for thing in observations.objects)}
        self._places = {thing.name: k for k, thing in enumerate(observations.objects)}
        self._predicates = {item.name: item for item in vocabulary.predicates}
        self._compared: dict[tuple[str, str, float], NDArray[np.bool_]] = {}
        self._clauses: dict[tuple[tuple[int, ...], int], int] = {}
        self._fired: list[NDArray[np.bool_]] = []
        self._bindings: list[dict[str, str]] = []
        self._rule_of: list[int] = []
        self._clause_of: list[int] = []

    def add(self, number: int, rule: Rule) -> None:
        """Add all instances of a rule."""
        variables = rule.variables
        types = self._types(rule)
        named = {_name(t) for part in _parts(rule) for t in part.arguments if not is_variable(t)}
        if not named <= self._places.keys():
            return  # it speaks of an object that is not in this video
        rows = np.array(places_of([types[v] for v in variables], self._seen), dtype=np.intp)
        rows = rows.reshape(-1, len(variables))
        taken = [self._places[name] for name in named]
        rows = rows[~np.isin(rows, taken).any(axis=1)] if taken and len(variables) else rows
        if not len(rows):
            return
        where = {v: rows[:, k] for k, v in enumerate(variables)}
        fired = self._observed(rule, where, len(rows))
        for row in np.flatnonzero(fired.any(axis=0)).tolist():
            places = {v: int(w[row]) for v, w in where.items()}
            self._instance(number, rule, places, fired[:, row])

    def _instance(
        self, number: int, rule: Rule, places: dict[str, int], fired: NDArray[np.bool_]
    ) -> None:
        body = tuple(
            sorted(
                {
                    self._fact(part, places)
                    for part in rule.body
                    if isinstance(part, Atom) and part.predicate in self._predicates
                }
            )
        )
        head = -1 if rule.head is None else self._fact(rule.head, places)
        if head in body or -2 in body or (head == -2):
            return  # it says nothing, or of a fact that cannot be
        clause = self._clauses.setdefault((body, head), len(self._clauses))
        self._fired.append(fired)
        self._bindings.append({v: self._seen.objects[k].name for v, k in places.items()})
        self._rule_of.append(number)
        self._clause_of.append(clause)

    def _fact(self, atom: Atom, places: dict[str, int]) -> int:
        """Return the number of a fact, -2 if the kinds of its objects do not allow it."""
        names = tuple(
            self._seen.objects[places[t]].name if is_variable(t) else _name(t)
            for t in atom.arguments
        )
        return self._number.get(Fact(atom.predicate, names), -2)

    def _types(self, rule: Rule) -> dict[str, str]:
        """Return the kind each variable must be of, checking every name and arity."""
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
                    if types[term] not in (ANY_KIND, kind):
                        types[term] = "(none)"  # two kinds at once: no object fits
                    else:
                        types[term] = kind
        return types

    def _declared(self, part: Atom | Comparison, rule: Rule) -> tuple[str, ...]:
        if isinstance(part, Comparison):
            return self._vocabulary.feature(part.feature).types
        if part.predicate in self._predicates:
            return self._predicates[part.predicate].types
        if part is not rule.head and len(part.arguments) == 1:
            return (part.predicate,)
        raise StateError(
            f"{part.predicate!r} is no predicate; known: "
            f"{', '.join(self._predicates) or 'none'}. Declare it in the vocabulary; rule: {rule}."
        )

    def _observed(
        self, rule: Rule, where: dict[str, NDArray[np.intp]], count: int
    ) -> NDArray[np.bool_]:
        """Return ``(T, count)`` whether what the rule says of the observation holds."""
        holds = np.ones((len(self._seen), count), dtype=np.bool_)
        involved = dict(where)
        for part in _parts(rule):
            places = [self._axis(t, where, count) for t in part.arguments]
            involved |= dict(zip(part.arguments, places, strict=True))
            if isinstance(part, Comparison):
                index: tuple[Any, ...] = (slice(None), *places)
                holds &= self._comparison(part)[index]
        if not self._seen.present.all():
            for place in involved.values():
                holds &= self._seen.present[:, place]
        return holds

    def _axis(self, term: str, where: dict[str, NDArray[np.intp]], count: int) -> NDArray[np.intp]:
        if is_variable(term):
            return where[term]
        return np.full(count, self._places[_name(term)], dtype=np.intp)

    def _comparison(self, part: Comparison) -> NDArray[np.bool_]:
        key = (part.feature, part.operator, part.value)
        if key not in self._compared:
            if part.feature not in self._seen.features:
                raise StateError(
                    f"{self._seen.video_id} has no feature {part.feature!r}; measure it with the "
                    "vocabulary that declares it, or learn without features that look ahead."
                )
            values = self._seen.features[part.feature]
            # NaN compares false either way: what is not known makes no rule apply.
            table = values <= part.value if part.operator == "<=" else values >= part.value
            self._compared[key] = table
        return self._compared[key]

    def grounding(self, rules: tuple[Rule, ...]) -> Grounding:
        """Put everything together."""
        frames = len(self._seen)
        fired = np.stack(self._fired, axis=1) if self._fired else np.zeros((frames, 0), np.bool_)
        heads = np.array([head for _, head in self._clauses], dtype=np.int64)
        clauses = ClauseSet(len(self._facts), tuple(body for body, _ in self._clauses), heads)
        return Grounding(
            self._seen,
            rules,
            self._facts,
            clauses,
            fired,
            np.array(self._rule_of, dtype=np.int64),
            np.array(self._clause_of, dtype=np.int64),
            tuple(self._bindings),
        )


def _parts(rule: Rule) -> list[Atom | Comparison]:
    return [*rule.body, *([rule.head] if rule.head is not None else [])]


def _compares(rule: Rule) -> bool:
    return any(isinstance(part, Comparison) for part in rule.body)


def _name(term: str) -> str:
    return term.strip('"')
