"""Constraints among facts: exclusions, implications, and facts that hold by default.

Every clause of two state atoms that share a variable is tried on the labelled states. Those never
violated become hard rules: one hand holds one object, what is held does not rest. A predicate that
fails only where something that excludes it holds needs no rules of its own.
"""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wordsight.states.discovery.samples import VARIABLES
from wordsight.states.grounding.grounder import ground
from wordsight.states.grounding.observations import StateObservations
from wordsight.states.rules.facts import Fact, StateSequence
from wordsight.states.rules.rule import Atom, Rule
from wordsight.states.rules.vocabulary import ANY_KIND, Predicate, StateVocabulary

__all__ = ["FactConstraints", "discover_constraints"]

_DEFAULT_WEIGHT = 0.01  # enough to decide where no other rule applies
_DEFAULT_SHARE = 0.999  # least share of the frames without a default that is explained


@dataclass(frozen=True)
class FactConstraints:
    """Constraints among facts.

    Attributes:
        rules: Hard rules that no labelled state violates.
        defaults: Rules of small weight for predicates that hold unless excluded.
        explained: Names of those predicates.
    """

    rules: tuple[Rule, ...]
    defaults: tuple[Rule, ...]
    explained: tuple[str, ...]


def discover_constraints(
    observations: Sequence[StateObservations],
    states: Sequence[StateSequence],
    vocabulary: StateVocabulary,
    *,
    least_videos: int = 5,
) -> FactConstraints:
    """Find the clauses of two state atoms that all labelled states satisfy.

    Args:
        observations: The videos, for their objects.
        states: Their labels.
        vocabulary: The predicates.
        least_videos: Least number of videos in which a clause could have been violated: its first
            atom holds and there are objects for the second.
    """
    candidates = tuple(_candidates(vocabulary))
    broken = np.zeros(len(candidates), dtype=np.int64)
    chances = np.zeros(len(candidates), dtype=np.int64)
    for video, labels in zip(observations, states, strict=True):
        violated, possible = _tried(candidates, video, labels, vocabulary)
        broken += violated
        chances += possible
    kept = [k for k in range(len(candidates)) if not broken[k] and chances[k] >= least_videos]
    rules = tuple(candidates[k] for k in kept)
    defaults = [p for p in vocabulary.predicates if _is_default(p, rules, observations, states)]
    return FactConstraints(rules, tuple(map(_default, defaults)), tuple(p.name for p in defaults))


def _candidates(vocabulary: StateVocabulary) -> Iterator[Rule]:
    """Yield exclusions and implications, each once up to renaming of variables."""
    for one, other in itertools.product(vocabulary.predicates, repeat=2):
        first = Atom(one.name, VARIABLES[: one.arity])
        for arguments in _linked(one.arity, other.arity):
            second = Atom(other.name, arguments)
            if second == first or not _kinds_fit(one, other, arguments):
                continue
            if set(arguments) <= set(first.arguments):
                yield Rule(np.inf, (first,), second)
            if one.name <= other.name:
                yield Rule(np.inf, (first, second), None)


def _linked(arity: int, other: int) -> list[tuple[str, ...]]:
    """Return arguments for a second atom that share a variable with the first."""
    names = VARIABLES[: arity + other]
    choices = []
    for arguments in itertools.permutations(names, other):
        new = [name for name in arguments if name not in VARIABLES[:arity]]
        in_order = new == list(names[arity : arity + len(new)])
        if in_order and len(new) < len(arguments):
            choices.append(arguments)
    return choices


def _kinds_fit(one: Predicate, other: Predicate, arguments: tuple[str, ...]) -> bool:
    kinds = dict(zip(VARIABLES, one.types, strict=False))
    return all(
        kinds.get(name, kind) == kind or ANY_KIND in (kind, kinds[name])
        for name, kind in zip(arguments, other.types, strict=True)
    )


def _tried(
    candidates: tuple[Rule, ...],
    video: StateObservations,
    labels: StateSequence,
    vocabulary: StateVocabulary,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return how often each candidate is violated in a video, and whether it could have been."""
    rows = labels.compress()
    still = StateObservations(
        video.video_id,
        rows.times,
        video.objects,
        {},
        np.ones((len(rows), len(video.objects)), dtype=np.bool_),
    )
    grounding = ground(candidates, still, vocabulary)
    values = rows.table(grounding.facts)
    broken = grounding.violations(values)
    ever = {fact for fact, column in zip(grounding.facts, values.T, strict=True) if column.any()}
    chances = np.zeros(len(candidates), dtype=np.int64)
    for number, binding in zip(grounding.rule_of, grounding.bindings, strict=True):
        atom = candidates[number].body[0]
        assert isinstance(atom, Atom)  # candidates consist of atoms only
        if Fact(atom.predicate, tuple(binding[name] for name in atom.arguments)) in ever:
            chances[number] = 1
    return broken, chances


def _is_default(
    predicate: Predicate,
    rules: tuple[Rule, ...],
    observations: Sequence[StateObservations],
    states: Sequence[StateSequence],
) -> bool:
    """Return whether a predicate fails only where a fact that excludes it holds."""
    if predicate.arity != 1:
        return False
    others = _excluders(predicate, rules)
    absent = explained = 0
    for video, labels in zip(observations, states, strict=True):
        for thing in video.objects:
            if predicate.types[0] in (ANY_KIND, thing.kind):
                missing = ~_holding(labels, {(predicate.name, 0)}, thing.name)
                absent += int(missing.sum())
                explained += int((missing & _holding(labels, others, thing.name)).sum())
    return bool(others) and absent > 0 and explained >= _DEFAULT_SHARE * absent


def _excluders(predicate: Predicate, rules: tuple[Rule, ...]) -> set[tuple[str, int]]:
    """Return the predicates, and which of their arguments, that exclude a predicate."""
    excluders = set()
    for rule in rules:
        atoms = [part for part in rule.body if isinstance(part, Atom)]
        if rule.head is None and len(atoms) == 2:
            for mine, other in (atoms, atoms[::-1]):
                if mine.predicate == predicate.name and other.predicate != predicate.name:
                    excluders.add((other.predicate, other.arguments.index(mine.arguments[0])))
    return excluders


def _holding(labels: StateSequence, wanted: set[tuple[str, int]], name: str) -> NDArray[np.bool_]:
    """Return ``(T,)`` whether one of the predicates holds with the object in that place."""
    columns = [
        k
        for k, fact in enumerate(labels.facts)
        if any(fact.predicate == p and fact.arguments[place] == name for p, place in wanted)
    ]
    held: NDArray[np.bool_] = labels.values[:, columns].sum(axis=1) > 0
    return held


def _default(predicate: Predicate) -> Rule:
    variable = VARIABLES[0]
    kind = Atom(predicate.types[0], (variable,))
    return Rule(_DEFAULT_WEIGHT, (kind,), Atom(predicate.name, (variable,)))
