"""Clausal discovery in the manner of Claudien: every short rule that the data support.

The search goes level by level from general to specific. A conjunction that is accurate enough
becomes a rule and is not refined further, because it subsumes all its refinements. Three prunings
lose no rule: one that covers too few right samples is dropped with all its refinements, which cover
fewer still; one with a literal that changes nothing is dropped, because it covers what a more
general one covers; and one of whose generalisations has been dropped is never made. Support is
counted in samples of the predicate, not in assignments of further variables, so that it can only
fall. With a beam only the most promising are refined, and the search is no longer complete.
"""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from wordsight.errors import StateError
from wordsight.progress import Progress, report
from wordsight.states.discovery.literals import (
    LiteralTable,
    canonical,
    extended_table,
    plain_table,
)
from wordsight.states.discovery.samples import SampleSettings, SampleTable
from wordsight.states.grounding.observations import StateObservations
from wordsight.states.rules.facts import StateSequence
from wordsight.states.rules.rule import Atom, Rule
from wordsight.states.rules.vocabulary import ANY_KIND, StateVocabulary

__all__ = ["ClausalSettings", "find_clauses", "valid_conjunctions"]

Body = tuple[int, ...]
"""Numbers of literals, in increasing order."""

Bits = NDArray[np.uint8]
_CHUNK = 2048  # conjunctions counted at once


@dataclass(frozen=True)
class ClausalSettings(SampleSettings):
    """Settings of clausal discovery, besides those of the samples.

    Attributes:
        accuracy: Least share of the covered samples in which the head must hold.
        coverage: Least share of the samples of its head's kind, for or against, to be covered.
        least_videos: Least number of videos in which a rule must apply.
        most_conditions: Most conditions of a rule.
        beam: Conjunctions refined further at each length; ``None`` for all, a complete search.
        most_rules: Most rules per predicate and side, those that cover most.
        diverse: Whether those are kept that cover most of what others do not, instead.
        state_atoms: Whether facts are conditions of rules, so that rules chain.
        new_variables: Whether conditions may mention one object besides those of the head.
        linked: Whether such an object must be one that a fact relates to those of the head.
        comparisons: Whether a feature is also compared with that of another object.
        workers: Threads to use.
    """

    num_thresholds: int = field(default=8, kw_only=True)
    most_rows: int = field(default=12_000, kw_only=True)
    accuracy: float = 0.98
    coverage: float = 0.05
    least_videos: int = 3
    most_conditions: int = 3
    beam: int | None = 60
    most_rules: int = 60
    diverse: bool = False
    state_atoms: bool = False
    new_variables: bool = False
    linked: bool = False
    comparisons: bool = False
    workers: int = 2

    def __post_init__(self) -> None:
        if not (0 < self.accuracy <= 1 and 0 <= self.coverage <= 1):
            raise StateError(f"accuracy and coverage must be from 0 to 1, got {self}.")
        beam = 1 if self.beam is None else self.beam
        if min(self.most_conditions, beam, self.num_thresholds, self.workers) < 1:
            raise StateError(f"conditions, beam, thresholds, workers must be 1 or more: {self}.")


def find_clauses(
    tables: Sequence[SampleTable],
    observations: Sequence[StateObservations],
    states: Sequence[StateSequence],
    vocabulary: StateVocabulary,
    settings: ClausalSettings,
    progress: Progress | None = None,
) -> tuple[Rule, ...]:
    """Find the rules for and against each predicate, all of weight 1.

    Args:
        tables: Samples of each predicate.
        observations: The videos they come from.
        states: Their labels.
        vocabulary: Predicates and features that conditions may use.
        settings: The settings.
        progress: Called after each predicate and side.
    """
    plains = [
        plain_table(
            table,
            observations,
            states,
            vocabulary,
            atoms=settings.state_atoms,
            comparisons=settings.comparisons,
        )
        for table in tables
    ]

    def found(task: tuple[LiteralTable, bool]) -> list[Rule]:
        plain, side = task
        general = valid_conjunctions(plain, side, settings)
        rules = [plain.rule(body, 1.0, positive=side) for body in general]
        for kind in _new_kinds(observations, vocabulary) if settings.new_variables else ():
            wider = extended_table(
                plain,
                kind,
                observations,
                states,
                vocabulary,
                comparisons=settings.comparisons,
                num_thresholds=settings.num_thresholds,
            )
            # Literals of the plain table keep their numbers in the extended one.
            bodies = valid_conjunctions(wider, side, settings, general)
            rules += [wider.rule(body, 1.0, positive=side) for body in bodies]
        return rules

    tasks = [(plain, side) for plain in plains for side in (True, False)]
    unique: dict[tuple[str, ...], Rule] = {}
    with ThreadPoolExecutor(settings.workers) as pool:
        for rules in report(pool.map(found, tasks), progress, "discovering rules", len(tasks)):
            for rule in rules:
                unique.setdefault(canonical(rule), rule)
    return tuple(unique.values())


def _new_kinds(
    observations: Sequence[StateObservations], vocabulary: StateVocabulary
) -> tuple[str, ...]:
    """Return the kinds of new variables: those of the objects that predicates are about."""
    seen = {thing.kind for video in observations for thing in video.objects}
    spoken = {kind for predicate in vocabulary.predicates for kind in predicate.types}
    return tuple(sorted(seen if ANY_KIND in spoken else seen & spoken))


def valid_conjunctions(
    table: LiteralTable, side: bool, settings: ClausalSettings, general: Sequence[Body] = ()
) -> list[Body]:
    """Return the most general conjunctions that imply the predicate, or its absence.

    Args:
        table: Where literals hold; with a new variable, each conjunction mentions it.
        side: Whether the predicate holds, or does not hold.
        settings: The settings.
        general: Valid conjunctions already known, of literals with the same numbers.
    """
    if not len(table.base) or not table.literals:
        return []
    search = _Search(table, side, settings, general)
    valid, open_ = search.judged([((k,), table.covers[k]) for k in search.first()])
    for _ in range(settings.most_conditions - 1):
        more = search.refined(open_)
        accepted, open_ = search.judged(more)
        valid += accepted
    return search.best(valid)


class _Search:
    """Counts and thresholds of one search."""

    def __init__(
        self, table: LiteralTable, side: bool, settings: ClausalSettings, general: Sequence[Body]
    ):
        self._table, self._settings, self._general = table, settings, list(general)
        right = table.samples.truth == side
        self._least = max(1.0, settings.coverage * float(right.sum()))
        self._right = np.packbits(right[table.base])

    def first(self) -> list[int]:
        """Return the literals to begin with: those that link the new variable, if there is one."""
        table = self._table
        return [
            k
            for k, names in enumerate(table.variables)
            if not table.kinds or (names & table.new and names - table.new and self._may_link(k))
        ]

    def _may_link(self, literal: int) -> bool:
        part = self._table.literals[literal].part
        return not self._settings.linked or isinstance(part, Atom)

    def judged(
        self, rows: list[tuple[Body, Bits]]
    ) -> tuple[list[tuple[Body, Bits]], list[tuple[Body, Bits]]]:
        """Split conjunctions into valid ones and the most promising of those to be refined."""
        if not rows:
            return [], []
        counts = [self._counted(rows[k : k + _CHUNK]) for k in range(0, len(rows), _CHUNK)]
        covered, right, support = np.concatenate(counts, axis=1)
        share = right / np.maximum(covered, 1)
        useful = support >= self._least
        valid = np.flatnonzero(useful & (share >= self._settings.accuracy))
        # Promising conjunctions cover many right samples and few wrong ones.
        promise = np.where(useful, right / np.sqrt(np.maximum(covered, 1)) * share, -1.0)
        promise[valid] = -1.0
        order = np.argsort(-promise, kind="stable")[: self._settings.beam]
        return [rows[k] for k in valid], [rows[k] for k in order if promise[k] >= 0]

    def _counted(self, rows: list[tuple[Body, Bits]]) -> NDArray[np.int64]:
        """Return covered rows, right ones, and right samples, ``(3, B)``."""
        covers = np.stack([cover for _, cover in rows])
        covered = np.bitwise_count(covers).sum(axis=1, dtype=np.int64)
        rightly = covers & self._right
        right = np.bitwise_count(rightly).sum(axis=1, dtype=np.int64)
        support = right.copy()
        enough = np.flatnonzero(right >= self._least)
        if self._table.kinds and len(enough):
            support[enough] = self._table.samples_of(rightly[enough])
        return np.stack([covered, right, support])

    def refined(self, rows: list[tuple[Body, Bits]]) -> list[tuple[Body, Bits]]:
        """Return all conjunctions with one literal more that may be valid, each once."""
        literals, covers = self._table.literals, self._table.covers
        complete = self._settings.beam is None
        known = {body for body, _ in rows}
        more: dict[Body, Bits] = {}
        for body, cover in rows:
            groups = {literals[k].group for k in body}
            joined = covers & cover
            size = int(np.bitwise_count(cover).sum(dtype=np.int64))
            sizes = np.bitwise_count(joined).sum(axis=1, dtype=np.int64)
            enough = np.bitwise_count(joined & self._right).sum(axis=1, dtype=np.int64)
            for k in np.flatnonzero((enough >= self._least) & (sizes < size)).tolist():
                longer = tuple(sorted((*body, k)))
                if literals[k].group in groups or longer in more:
                    continue
                if complete and not self._possible(longer, known):
                    continue
                if not any(set(short) <= set(longer) for short in self._general):
                    more[longer] = joined[k]
        return list(more.items())

    def _possible(self, body: Body, known: set[Body]) -> bool:
        """Return whether every generalisation that the search reaches is still open."""
        shorter = (body[:k] + body[k + 1 :] for k in range(len(body)))
        return all(one in known for one in shorter if self._linked(one))

    def _linked(self, body: Body) -> bool:
        table = self._table
        return not table.kinds or any(
            table.variables[k] & table.new and table.variables[k] - table.new and self._may_link(k)
            for k in body
        )

    def best(self, valid: list[tuple[Body, Bits]]) -> list[Body]:
        """Return rules that no more general one implies, by decreasing coverage."""
        if not valid:
            return []
        kept: list[Body] = []
        seen: set[bytes] = set()
        for k in self._ranked([cover for _, cover in valid]):
            body, cover = valid[k]
            if len(kept) == self._settings.most_rules:
                break
            implied = cover.tobytes() in seen or self._implied(body, [*self._general, *kept])
            if not implied and self._videos(cover) >= self._settings.least_videos:
                kept.append(body)
                seen.add(cover.tobytes())
        return kept

    def _ranked(self, covers: list[Bits]) -> Iterator[int]:
        """Yield conjunctions by what they cover, or by what they cover besides those before."""
        table = np.stack(covers)
        covered = np.bitwise_count(table).sum(axis=1, dtype=int)
        if not self._settings.diverse:
            yield from np.argsort(-covered, kind="stable").tolist()
            return
        left, open_ = np.full(table.shape[1], 255, dtype=np.uint8), covered > 0
        for _ in range(len(table)):
            gain = np.bitwise_count(table & left & self._right).sum(axis=1, dtype=int)
            best = int(np.lexsort((-covered, -np.where(open_, gain, -1)))[0])
            open_[best] = False
            left &= ~table[best]
            yield best

    def _implied(self, body: Body, valid: Sequence[Body]) -> bool:
        """Return whether some valid conjunction subsumes this one: holds wherever it does."""
        literals = self._table.literals
        return any(
            all(any(literals[k].follows_from(literals[mine]) for mine in body) for k in general)
            for general in valid
        )

    def _videos(self, cover: Bits) -> int:
        rows = np.unpackbits(cover, count=len(self._table.base)).astype(np.bool_)
        samples = self._table.samples
        return len(np.unique(samples.video[self._table.base[rows]]))
