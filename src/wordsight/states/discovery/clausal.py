"""Clausal discovery in the manner of Claudien: every short rule that the data support.

The search goes from general to specific. A conjunction that is accurate enough becomes a rule and
is not refined further, because longer ones would add nothing; one that covers too little is dropped
with all its refinements; the most promising of the others get one more condition. Rules implied by
a more general one are removed.
"""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wordsight.progress import Progress, report
from wordsight.states.discovery.samples import VARIABLES, SampleTable, gather_samples
from wordsight.states.errors import StateError
from wordsight.states.grounding.observations import StateObservations
from wordsight.states.rules.facts import StateSequence
from wordsight.states.rules.rule import Atom, Rule
from wordsight.states.rules.vocabulary import Predicate, StateVocabulary

__all__ = ["ClausalSettings", "discover_clauses", "valid_conjunctions"]

Condition = tuple[int, int, bool]  # column, level, above
Body = tuple[Condition, ...]
Bits = NDArray[np.uint8]


@dataclass(frozen=True)
class ClausalSettings:
    """The bias of clausal discovery.

    Attributes:
        accuracy: Least share of the covered samples in which the head must hold.
        coverage: Least share of the samples of its head's kind, for or against, to be covered.
        least_videos: Least number of videos in which a rule must apply.
        most_conditions: Most conditions of a rule.
        num_thresholds: Thresholds per feature, at quantiles.
        beam: Conjunctions refined further at each length; the rest is given up.
        most_rules: Most rules per predicate and side, those that cover most.
        most_rows: Most samples to learn from.
        around_changes: Seconds before and after a change of a fact of which all frames are learned
            from, beyond the most samples, so that rules are held to be right there too.
        workers: Threads to use.
    """

    accuracy: float = 0.98
    coverage: float = 0.05
    least_videos: int = 3
    most_conditions: int = 3
    num_thresholds: int = 8
    beam: int = 60
    most_rules: int = 60
    most_rows: int = 12_000
    around_changes: float = 0.0
    workers: int = 2

    def __post_init__(self) -> None:
        if not (0 < self.accuracy <= 1 and 0 <= self.coverage <= 1):
            raise StateError(f"accuracy and coverage must be shares, got {self}.")
        if min(self.most_conditions, self.beam, self.num_thresholds, self.workers) < 1:
            raise StateError(f"conditions, beam, thresholds, workers must be 1 or more: {self}.")


def discover_clauses(
    observations: Sequence[StateObservations],
    states: Sequence[StateSequence],
    vocabulary: StateVocabulary,
    predicates: Sequence[Predicate],
    settings: ClausalSettings | None = None,
    *,
    random_state: int = 0,
    progress: Progress | None = None,
) -> tuple[Rule, ...]:
    """Discover rules for and against each predicate, all of weight 1.

    Args:
        observations: The videos.
        states: Their truth, moment by moment.
        vocabulary: Which features rules may compare.
        predicates: The predicates to explain.
        settings: The bias.
        random_state: Not used: nothing is left to chance.
        progress: Told after each predicate and side.
    """
    chosen = settings or ClausalSettings()
    tables = [
        gather_samples(
            predicate,
            observations,
            states,
            vocabulary,
            num_thresholds=chosen.num_thresholds,
            most_rows=chosen.most_rows,
            around_changes=chosen.around_changes,
        )
        for predicate in predicates
    ]
    tasks = [(table, side) for table in tables for side in (True, False)]
    with ThreadPoolExecutor(chosen.workers) as pool:
        found = pool.map(lambda task: valid_conjunctions(task[0], task[1], chosen), tasks)
        watched = report(found, progress, "discovering rules", len(tasks))
        return tuple(
            _rule(table, body, side)
            for (table, side), bodies in zip(tasks, watched, strict=True)
            for body in bodies
        )


def valid_conjunctions(samples: SampleTable, side: bool, settings: ClausalSettings) -> list[Body]:
    """Return the most general conjunctions that imply the predicate, or its absence.

    Args:
        samples: What is measured and what is true.
        side: Whether the predicate shall hold, or not hold.
        settings: The bias.
    """
    conditions = [
        (column, level, above)
        for column in range(len(samples.columns))
        for level in range(int(samples.levels[column]))
        for above in (False, True)
    ]
    if not len(samples) or not conditions:
        return []
    right = samples.truth == side
    search = _Search(samples, settings, np.packbits(right), int(right.sum()))
    covers = np.stack([np.packbits(samples.holds(*c)) for c in conditions])
    valid, open_ = search.judged([((c,), covers[k]) for k, c in enumerate(conditions)])
    for _ in range(settings.most_conditions - 1):
        more = search.refined(open_, conditions, covers)
        found, open_ = search.judged(more)
        valid += found
    return search.best(valid)


class _Search:
    """Counts and thresholds of one search."""

    def __init__(self, samples: SampleTable, settings: ClausalSettings, right: Bits, total: int):
        self._samples, self._settings = samples, settings
        self._right, self._least = right, max(1.0, settings.coverage * total)

    def judged(
        self, rows: list[tuple[Body, Bits]]
    ) -> tuple[list[tuple[Body, Bits]], list[tuple[Body, Bits]]]:
        """Split conjunctions into valid ones and the most promising of those to be refined."""
        if not rows:
            return [], []
        table = np.stack([cover for _, cover in rows])
        covered = np.bitwise_count(table).sum(axis=1, dtype=np.int64)
        right = np.bitwise_count(table & self._right).sum(axis=1, dtype=np.int64)
        share = right / np.maximum(covered, 1)
        useful = right >= self._least
        valid = np.flatnonzero(useful & (share >= self._settings.accuracy))
        # Most promising: what covers many right samples for few wrong ones.
        promise = np.where(useful, right / np.sqrt(np.maximum(covered, 1)) * share, -1.0)
        promise[valid] = -1.0
        order = np.argsort(-promise, kind="stable")[: self._settings.beam]
        return [rows[k] for k in valid], [rows[k] for k in order if promise[k] >= 0]

    def refined(
        self, rows: list[tuple[Body, Bits]], conditions: list[Condition], covers: Bits
    ) -> list[tuple[Body, Bits]]:
        """Return all conjunctions with one condition more, each once."""
        more: dict[Body, Bits] = {}
        for body, cover in rows:
            used = {(column, above) for column, _, above in body}
            joined = covers & cover
            enough = np.bitwise_count(joined & self._right).sum(axis=1, dtype=np.int64)
            for k in np.flatnonzero(enough >= self._least):
                column, _, above = conditions[k]
                if (column, above) not in used:
                    more.setdefault(tuple(sorted((*body, conditions[k]))), joined[k])
        return list(more.items())

    def best(self, valid: list[tuple[Body, Bits]]) -> list[Body]:
        """Return rules that no more general one implies, the most covering first."""
        if not valid:
            return []
        covered = np.bitwise_count(np.stack([cover for _, cover in valid])).sum(axis=1, dtype=int)
        kept: list[Body] = []
        for k in np.argsort(-covered, kind="stable"):
            body, cover = valid[k]
            if len(kept) == self._settings.most_rules:
                break
            if not _implied(body, kept) and self._videos(cover) >= self._settings.least_videos:
                kept.append(body)
        return kept

    def _videos(self, cover: Bits) -> int:
        rows = np.unpackbits(cover, count=len(self._samples)).astype(np.bool_)
        return len(np.unique(self._samples.video[rows]))


def _implied(body: Body, valid: Sequence[Body]) -> bool:
    """Whether some valid conjunction holds wherever this one does."""
    return any(
        all(any(_follows(mine, other) for mine in body) for other in general) for general in valid
    )


def _follows(strong: Condition, weak: Condition) -> bool:
    same = strong[0] == weak[0] and strong[2] == weak[2]
    return same and (strong[1] >= weak[1] if strong[2] else strong[1] <= weak[1])


def _rule(samples: SampleTable, body: Body, side: bool) -> Rule:
    atom = Atom(samples.predicate.name, VARIABLES[: samples.predicate.arity])
    conditions = [samples.columns[c].condition(level, above) for c, level, above in body]
    if not side:
        return Rule(1.0, (*conditions, atom), None)
    used = {term for condition in conditions for term in condition.arguments}
    kinds = zip(samples.predicate.types, atom.arguments, strict=True)
    loose = [Atom(kind, (name,)) for kind, name in kinds if name not in used]
    return Rule(1.0, (*conditions, *loose), atom)
