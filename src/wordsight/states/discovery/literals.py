"""Literals of clauses, and where each holds: comparisons of features, and state atoms.

The language of a clausal search. A literal compares a feature with a threshold or with the same
feature of other objects, or is an atom of the state as labelled. Its variables are those of the
predicate to explain and, if asked for, further ones; different variables stand for different
objects, so a row is an assignment of different objects at one frame.
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from wordsight.states.discovery.samples import VARIABLES, SampleTable, quantile_thresholds
from wordsight.states.grounding.observations import StateObservations, compare
from wordsight.states.rules.facts import Fact, StateSequence
from wordsight.states.rules.rule import OPERATORS, Atom, FeatureComparison, FeatureTerm, Rule
from wordsight.states.rules.vocabulary import ANY_KIND, StateVocabulary

__all__ = ["Literal", "LiteralTable", "canonical", "extended_table", "plain_table"]

_OFTEN = 0.01  # least share of rows in which two features must be equal to be compared so


@dataclass(frozen=True)
class Literal:
    """A condition of a clause.

    Attributes:
        part: As it stands in a rule.
        group: What it bounds and from which side; two literals of one group imply one another.
        level: Of two literals of a group, the one of the higher level is the stronger.
    """

    part: Atom | FeatureComparison
    group: object
    level: float = 0.0

    def follows_from(self, other: "Literal") -> bool:
        """Return whether this literal holds wherever the other one does."""
        return self.group == other.group and self.level <= other.level


@dataclass(frozen=True, eq=False)
class LiteralTable:
    """Where literals hold.

    Attributes:
        samples: The samples of the predicate to explain, N of them.
        kinds: Kinds of the new variables, which follow those of the predicate.
        literals: The L literals.
        covers: ``(L, ceil(E / 8))`` packed bits: whether each holds in each row.
        base: ``(E,)`` the sample of each row, in increasing order; without new variables rows are
            the samples.
    """

    samples: SampleTable
    kinds: tuple[str, ...]
    literals: tuple[Literal, ...]
    covers: NDArray[np.uint8]
    base: NDArray[np.int64]

    @cached_property
    def starts(self) -> NDArray[np.int64]:
        """Where the rows of each sample that has rows begin."""
        return np.flatnonzero(np.diff(self.base, prepend=-1)).astype(np.int64)

    @cached_property
    def variables(self) -> tuple[frozenset[str], ...]:
        """The variables of each literal."""
        return tuple(frozenset(literal.part.terms) for literal in self.literals)

    @cached_property
    def new(self) -> frozenset[str]:
        """The new variables."""
        arity = self.samples.predicate.arity
        return frozenset(VARIABLES[arity : arity + len(self.kinds)])

    def samples_of(self, covers: NDArray[np.uint8]) -> NDArray[np.int64]:
        """Return ``(B,)`` in how many samples each of some covers has a row."""
        if not self.kinds:
            return np.asarray(np.bitwise_count(covers).sum(axis=1, dtype=np.int64))
        rows = np.unpackbits(covers, axis=1, count=len(self.base)).astype(np.bool_)
        return np.asarray(np.logical_or.reduceat(rows, self.starts, axis=1).sum(axis=1))

    def rule(self, body: Sequence[int], weight: float, *, positive: bool) -> Rule:
        """Return the rule that the predicate holds, or does not, under literals."""
        predicate = self.samples.predicate
        atom = Atom(predicate.name, VARIABLES[: predicate.arity])
        parts = [self.literals[k].part for k in body]
        if not positive:
            return Rule(weight, (*parts, atom), None)
        used = {term for part in parts for term in part.terms}
        kinds = zip(predicate.types, atom.arguments, strict=True)
        unbound = [Atom(kind, (name,)) for kind, name in kinds if name not in used]
        return Rule(weight, (*parts, *unbound), atom)


def plain_table(
    samples: SampleTable,
    observations: Sequence[StateObservations],
    states: Sequence[StateSequence],
    vocabulary: StateVocabulary,
    *,
    atoms: bool,
    comparisons: bool,
) -> LiteralTable:
    """Return the literals over the variables of the predicate.

    Args:
        samples: The samples of the predicate.
        observations: The videos.
        states: Their labels.
        vocabulary: Predicates and features.
        atoms: Whether atoms of the state are literals.
        comparisons: Whether features are compared with one another.
    """
    literals, covers = [], []
    for column, source in enumerate(samples.columns):
        for level in range(len(source.thresholds)):
            for above in (False, True):
                strength = float(level if above else -level)
                part = source.condition(level, above)
                literals.append(Literal(part, (part.feature, part.arguments, above), strength))
                covers.append(np.packbits(samples.holds(column, level, above)))
    rows = _Rows(samples, observations, states, np.arange(len(samples)), samples.places)
    more: list[tuple[Literal, NDArray[np.uint8]]] = []
    if comparisons:
        more += rows.comparisons(vocabulary, samples.predicate.types, frozenset())
    if atoms:
        more += rows.atoms(vocabulary, samples.predicate.types, frozenset())
    known = list(zip(literals, covers, strict=True))
    return _table(samples, (), known, more, np.arange(len(samples)))


def extended_table(
    plain: LiteralTable,
    kind: str,
    observations: Sequence[StateObservations],
    states: Sequence[StateSequence],
    vocabulary: StateVocabulary,
    *,
    comparisons: bool,
    num_thresholds: int,
) -> LiteralTable:
    """Return the literals with one new variable of a kind besides those of a plain table."""
    samples = plain.samples
    base, others = _with_further(samples, kind, observations)
    types = (*samples.predicate.types, kind)
    new = frozenset(VARIABLES[len(types) - 1 : len(types)])
    rows = _Rows(
        samples,
        observations,
        states,
        base,
        np.concatenate([samples.places[base], others[:, None]], axis=1),
    )
    known = [
        (literal, np.packbits(np.unpackbits(cover, count=len(samples))[base]))
        for literal, cover in zip(plain.literals, plain.covers, strict=True)
    ]
    more = rows.thresholds(vocabulary, types, new, num_thresholds)
    if comparisons:
        more += rows.comparisons(vocabulary, types, new)
    more += rows.atoms(vocabulary, types, new)
    return _table(samples, (kind,), known, more, base)


def _table(
    samples: SampleTable,
    kinds: tuple[str, ...],
    known: Sequence[tuple[Literal, NDArray[np.uint8]]],
    more: Sequence[tuple[Literal, NDArray[np.uint8]]],
    base: NDArray[np.int64],
) -> LiteralTable:
    """Return a table of all known literals and of those that hold in other rows than theirs."""
    seen = {cover.tobytes() for _, cover in known}
    found = list(known)
    for literal, cover in more:
        if cover.tobytes() not in seen:
            seen.add(cover.tobytes())
            found.append((literal, cover))
    width = (len(base) + 7) // 8
    covers = np.stack([c for _, c in found]) if found else np.zeros((0, width), np.uint8)
    return LiteralTable(samples, kinds, tuple(literal for literal, _ in found), covers, base)


def _with_further(
    samples: SampleTable, kind: str, observations: Sequence[StateObservations]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the sample and the further object of every extended row, by sample."""
    bases, others = [], []
    for number, video in enumerate(observations):
        mine = np.flatnonzero(samples.video == number)
        for place, thing in enumerate(video.objects):
            if kind not in (ANY_KIND, thing.kind):
                continue
            free = (samples.places[mine] != place).all(axis=1)
            rows = mine[free & video.present[samples.frame[mine], place]]
            bases.append(rows)
            others.append(np.full(len(rows), place))
    base = np.concatenate([np.zeros(0, np.int64), *bases]).astype(np.int64)
    other = np.concatenate([np.zeros(0, np.int64), *others]).astype(np.int64)
    order = np.argsort(base, kind="stable")
    return base[order], other[order]


class _Rows:
    """Assignments of objects at frames, and the values of features and facts there."""

    def __init__(
        self,
        samples: SampleTable,
        observations: Sequence[StateObservations],
        states: Sequence[StateSequence],
        base: NDArray[np.int64],
        places: NDArray[np.int64],
    ):
        self._observations, self._states, self._places = observations, states, places
        self._frame, self._video = samples.frame[base], samples.video[base]
        self._target = Atom(samples.predicate.name, VARIABLES[: samples.predicate.arity])
        self._of = [np.flatnonzero(self._video == k) for k in range(len(observations))]

    def values(self, feature: str, arguments: tuple[int, ...]) -> NDArray[np.float64]:
        """Return ``(E,)`` a feature of some of the variables."""
        out = np.full(len(self._video), np.nan)
        for rows, video in zip(self._of, self._observations, strict=True):
            columns = (self._places[rows, k] for k in arguments)
            out[rows] = video.features[feature][(self._frame[rows], *columns)]
        return out

    def thresholds(
        self, vocabulary: StateVocabulary, types: Sequence[str], new: frozenset[str], count: int
    ) -> list[tuple[Literal, NDArray[np.uint8]]]:
        """Return comparisons with thresholds in which new variables occur."""
        found = []
        for feature, arguments in _sources(vocabulary, types):
            names = tuple(VARIABLES[k] for k in arguments)
            if not new & set(names):
                continue
            values = self.values(feature, arguments)
            for threshold in quantile_thresholds(values, count):
                for operator, sign in zip(OPERATORS[:2], (-1.0, 1.0), strict=True):
                    part = FeatureComparison(feature, names, operator, threshold)
                    literal = Literal(part, (feature, names, operator), sign * threshold)
                    found.append((literal, np.packbits(compare(values, operator, threshold))))
        return found

    def comparisons(
        self, vocabulary: StateVocabulary, types: Sequence[str], new: frozenset[str]
    ) -> list[tuple[Literal, NDArray[np.uint8]]]:
        """Return comparisons of one feature of different objects, with new variables if any."""
        found = []
        by_feature = itertools.groupby(_sources(vocabulary, types), key=lambda source: source[0])
        for feature, sources in by_feature:
            choices = [arguments for _, arguments in sources]
            for one, other in itertools.combinations(choices, 2):
                names, others = (tuple(VARIABLES[k] for k in a) for a in (one, other))
                if new and not new & {*names, *others}:
                    continue
                mine, theirs = self.values(feature, one), self.values(feature, other)
                equal = compare(mine, "=", theirs)
                known = ~(np.isnan(mine) | np.isnan(theirs))
                if equal.sum() == known.sum():
                    continue  # a symmetric feature
                for operator in OPERATORS:
                    if operator == "=" and equal.sum() < _OFTEN * known.sum():
                        continue
                    part = FeatureComparison(feature, names, operator, FeatureTerm(feature, others))
                    cover = np.packbits(compare(mine, operator, theirs))
                    found.append((Literal(part, part), cover))
        return found

    def atoms(
        self, vocabulary: StateVocabulary, types: Sequence[str], new: frozenset[str]
    ) -> list[tuple[Literal, NDArray[np.uint8]]]:
        """Return atoms of the state, with new variables if there are any."""
        found = []
        for predicate in vocabulary.predicates:
            for arguments in itertools.permutations(range(len(types)), predicate.arity):
                names = tuple(VARIABLES[k] for k in arguments)
                atom = Atom(predicate.name, names)
                fits = all(
                    kind in (ANY_KIND, types[k]) or types[k] == ANY_KIND
                    for kind, k in zip(predicate.types, arguments, strict=True)
                )
                if fits and atom != self._target and (not new or new & set(names)):
                    cover = np.packbits(self._holding(predicate.name, arguments))
                    found.append((Literal(atom, atom), cover))
        return found

    def _holding(self, name: str, arguments: tuple[int, ...]) -> NDArray[np.bool_]:
        out = np.zeros(len(self._video), dtype=np.bool_)
        for rows, video, labels in zip(self._of, self._observations, self._states, strict=True):
            which = self._places[rows][:, list(arguments)]
            for places in np.unique(which, axis=0):
                fact = Fact(name, tuple(video.objects[k].name for k in places))
                if fact in labels.facts:
                    mine = rows[(which == places).all(axis=1)]
                    out[mine] = labels.table([fact])[self._frame[mine], 0]
        return out


def _sources(
    vocabulary: StateVocabulary, types: Sequence[str]
) -> list[tuple[str, tuple[int, ...]]]:
    """Return every feature with every choice of variables of its kinds."""
    return [
        (feature.name, arguments)
        for feature in vocabulary.features
        for arguments in itertools.permutations(range(len(types)), feature.arity)
        if all(t in (ANY_KIND, types[k]) for t, k in zip(feature.types, arguments, strict=True))
    ]


def canonical(rule: Rule) -> tuple[str, ...]:
    """Return a form that rules share exactly if they differ in names of variables only."""
    names = rule.variables

    def renamed(order: Sequence[str]) -> tuple[str, ...]:
        new = dict(zip(names, order, strict=True))
        head = "" if rule.head is None else str(_renamed(rule.head, new))
        return (head, *sorted(str(_renamed(part, new)) for part in rule.body))

    return min(renamed(order) for order in itertools.permutations(VARIABLES[: len(names)]))


def _renamed(part: Atom | FeatureComparison, names: dict[str, str]) -> Atom | FeatureComparison:
    arguments = tuple(names.get(term, term) for term in part.arguments)
    if isinstance(part, Atom):
        return Atom(part.predicate, arguments)
    value = part.value
    if isinstance(value, FeatureTerm):
        others = tuple(names.get(term, term) for term in value.arguments)
        value = FeatureTerm(value.feature, others)
    return FeatureComparison(part.feature, arguments, part.operator, value)
