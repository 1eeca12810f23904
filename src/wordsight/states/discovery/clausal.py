"""Clausal discovery in the manner of Claudien: every short rule that the data support.

The search goes from general to specific. A conjunction that is accurate enough becomes a rule and
is not refined further, because longer ones would add nothing; one that covers too little is dropped
with all its refinements; the most promising of the others get one more condition. Rules implied by
a more general one are removed.
"""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from wordsight.progress import Progress, report
from wordsight.states.discovery.samples import (
    BinCondition,
    SampleSettings,
    SampleTable,
)
from wordsight.states.errors import StateError
from wordsight.states.rules.rule import Rule

__all__ = ["ClausalSettings", "find_clauses", "valid_conjunctions"]

Body = tuple[BinCondition, ...]
Bits = NDArray[np.uint8]


@dataclass(frozen=True)
class ClausalSettings(SampleSettings):
    """Settings of clausal discovery, besides those of the samples.

    Attributes:
        accuracy: Least share of the covered samples in which the head must hold.
        coverage: Least share of the samples of its head's kind, for or against, to be covered.
        least_videos: Least number of videos in which a rule must apply.
        most_conditions: Most conditions of a rule.
        beam: Conjunctions refined further at each length; the rest is dropped.
        most_rules: Most rules per predicate and side, those that cover most.
        workers: Threads to use.
    """

    num_thresholds: int = field(default=8, kw_only=True)
    most_rows: int = field(default=12_000, kw_only=True)
    accuracy: float = 0.98
    coverage: float = 0.05
    least_videos: int = 3
    most_conditions: int = 3
    beam: int = 60
    most_rules: int = 60
    workers: int = 2

    def __post_init__(self) -> None:
        if not (0 < self.accuracy <= 1 and 0 <= self.coverage <= 1):
            raise StateError(f"accuracy and coverage must be from 0 to 1, got {self}.")
        if min(self.most_conditions, self.beam, self.num_thresholds, self.workers) < 1:
            raise StateError(f"conditions, beam, thresholds, workers must be 1 or more: {self}.")


def find_clauses(
    tables: Sequence[SampleTable], settings: ClausalSettings, progress: Progress | None = None
) -> tuple[Rule, ...]:
    """Find the rules for and against each predicate, all of weight 1.

    Args:
        tables: Samples of each predicate.
        settings: The settings.
        progress: Called after each predicate and side.
    """
    tasks = [(table, side) for table in tables for side in (True, False)]
    with ThreadPoolExecutor(settings.workers) as pool:
        results = pool.map(lambda task: valid_conjunctions(task[0], task[1], settings), tasks)
        reported = report(results, progress, "discovering rules", len(tasks))
        return tuple(
            table.rule(body, 1.0, positive=side)
            for (table, side), bodies in zip(tasks, reported, strict=True)
            for body in bodies
        )


def valid_conjunctions(samples: SampleTable, side: bool, settings: ClausalSettings) -> list[Body]:
    """Return the most general conjunctions that imply the predicate, or its absence.

    Args:
        samples: The samples of the predicate.
        side: Whether the predicate holds, or does not hold.
        settings: The settings.
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
        accepted, open_ = search.judged(more)
        valid += accepted
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
        # Promising conjunctions cover many right samples and few wrong ones.
        promise = np.where(useful, right / np.sqrt(np.maximum(covered, 1)) * share, -1.0)
        promise[valid] = -1.0
        order = np.argsort(-promise, kind="stable")[: self._settings.beam]
        return [rows[k] for k in valid], [rows[k] for k in order if promise[k] >= 0]

    def refined(
        self, rows: list[tuple[Body, Bits]], conditions: list[BinCondition], covers: Bits
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
        """Return rules that no more general one implies, by decreasing coverage."""
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
    """Return whether some valid conjunction holds wherever this one does."""
    return any(
        all(any(_follows(mine, other) for mine in body) for other in general) for general in valid
    )


def _follows(strong: BinCondition, weak: BinCondition) -> bool:
    same = strong[0] == weak[0] and strong[2] == weak[2]
    return same and (strong[1] >= weak[1] if strong[2] else strong[1] <= weak[1])
