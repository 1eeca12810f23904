"""Selection of few rules: from many discovered clauses, those that infer the right states together.

A clause that is nearly always right need not be worth having: others may say the same, or the cost
of a change may. Clauses are therefore added one by one, each time the one whose addition makes the
states inferred for the training videos most right, until none helps. The cost of a change is chosen
by cross-validation of the whole procedure: the greatest one, which means the fewest changes, that
is hardly worse than the best. A standard error would say how much that is, but those of the few
groups that videos come in are as uncertain as the scores.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from wordsight.errors import StateError
from wordsight.progress import Progress, report
from wordsight.states.discovery.training import TrainingVideo, sequence_score
from wordsight.states.rules.rule import Rule

__all__ = [
    "Selected",
    "SelectionSettings",
    "ValidatedCost",
    "cross_validate_costs",
    "select_rules",
]

Counts = NDArray[np.float64]
_TIE = 1e-9


@dataclass(frozen=True)
class SelectionSettings:
    """How few rules are selected.

    Attributes:
        most_rules: Most rules besides hard ones.
        criterion: What is made right: ``frames``, F1 over moments and facts; or ``sequences``, the
            mean of exact sequences and of one minus their edit distance.
        least_gain: A rule must raise the criterion by this much.
        timeless: Whether the criterion also counts what is inferred frame by frame, without a cost
            of a change. A high cost lets a few frames decide a whole film; rules that are right
            frame by frame too hold in other films.
        costs: Costs of a change to choose from.
        tolerance: How much worse than the best the criterion of the chosen cost may be.
        units_first: Whether all rules that conclude a single fact from what is measured are kept,
            and only rules that chain are selected.
    """

    most_rules: int = 20
    criterion: Literal["frames", "sequences"] = "sequences"
    least_gain: float = 0.005
    timeless: bool = False
    costs: tuple[float, ...] = (3.0, 10.0, 30.0, 100.0, 300.0)
    tolerance: float = 0.02
    units_first: bool = False

    def __post_init__(self) -> None:
        if self.criterion not in ("frames", "sequences") or not self.costs or self.most_rules < 1:
            raise StateError(
                "the criterion must be frames or sequences, with at least one cost and one rule, "
                f"got {self}."
            )


@dataclass(frozen=True, eq=False)
class Selected:
    """Selected rules, and the criterion on the videos they were selected on."""

    rules: tuple[Rule, ...]
    score: float


def select_rules(
    videos: Sequence[TrainingVideo],
    rules: Sequence[Rule],
    transition_cost: float,
    settings: SelectionSettings,
    progress: Progress | None = None,
) -> Selected:
    """Select rules greedily; hard ones are always kept.

    Args:
        videos: The videos, grounded with all rules.
        rules: Those rules with their weights.
        transition_cost: K.
        settings: How to select.
        progress: Called after each rule.
    """
    costs = [transition_cost] * len(videos)
    if settings.timeless:
        videos, costs = [*videos, *videos], [*costs, *[0.0] * len(videos)]
    search = _Selection(videos, rules, costs, settings)
    rounds = range(min(settings.most_rules, int((search.weights == 0).sum())))
    for _ in report(rounds, progress, "selecting rules", len(rounds)):
        if not search.add_best(settings.least_gain):
            break
    return Selected(search.rules(rules), search.score())


class _Selection:
    """The rules selected so far and what they infer."""

    def __init__(
        self,
        videos: Sequence[TrainingVideo],
        rules: Sequence[Rule],
        costs: Sequence[float],
        settings: SelectionSettings,
    ):
        self._videos, self._costs, self._criterion = videos, costs, settings.criterion
        self._given = np.array([rule.weight for rule in rules])
        start = np.where(_units(videos, len(rules)) & settings.units_first, self._given, 0.0)
        self.weights = np.where(np.isinf(self._given), np.inf, start)
        # Of prohibitions that help as much, the one that forbids least: what else they would
        # forbid, the training videos do not tell.
        applied = np.sum([_applied(video, len(rules)) for video in videos], axis=0)
        places = np.flatnonzero([rule.head is None for rule in rules])
        self._order = np.arange(len(rules))
        self._order[places] = places[np.argsort(applied[places], kind="stable")]
        pairs = zip(videos, costs, strict=True)
        states = [video.predict(self.weights, cost) for video, cost in pairs]
        self._counts = np.array([_counted(v, s) for v, s in zip(videos, states, strict=True)])
        self._broken = np.array(
            [v.grounding.violations(s) for v, s in zip(videos, states, strict=True)]
        )

    def score(self) -> float:
        """Return the criterion of what is inferred now."""
        return criterion_score(self._counts.sum(axis=0), self._criterion)

    def rules(self, rules: Sequence[Rule]) -> tuple[Rule, ...]:
        """Return the rules that are selected now."""
        return tuple(rules[k] for k in np.flatnonzero(self.weights > 0).tolist())

    def add_best(self, least_gain: float) -> bool:
        """Add the rule that helps most; return whether there is one."""
        total, best, top = self._counts.sum(axis=0), None, self.score() + least_gain
        for rule in self._order[self.weights[self._order] == 0].tolist():
            # A rule that the cheapest states do not break leaves them the cheapest.
            affected = np.flatnonzero(self._broken[:, rule]).tolist()
            if not affected:
                continue
            weights = self.weights.copy()
            weights[rule] = self._given[rule]
            states = [self._videos[k].predict(weights, self._costs[k]) for k in affected]
            counts = np.array(
                [_counted(self._videos[k], s) for k, s in zip(affected, states, strict=True)]
            )
            changed = total + counts.sum(axis=0) - self._counts[affected].sum(axis=0)
            score = criterion_score(changed, self._criterion)
            if score > top + _TIE:
                best, top = (rule, affected, states, counts), score
        if best is None:
            return False
        rule, affected, states, counts = best
        self.weights[rule] = self._given[rule]
        self._counts[affected] = counts
        for k, one in zip(affected, states, strict=True):
            self._broken[k] = self._videos[k].grounding.violations(one)
        return True


def _units(videos: Sequence[TrainingVideo], count: int) -> NDArray[np.bool_]:
    """Return ``(R,)`` which rules speak of a single fact wherever they apply."""
    units = np.ones(count, dtype=np.bool_)
    for video in videos:
        clauses = video.grounding.clauses
        wide = np.array(
            [len(b) + (h >= 0) > 1 for b, h in zip(clauses.bodies, clauses.heads, strict=True)],
            dtype=np.bool_,
        )
        units[video.grounding.rule_of[wide[video.grounding.clause_of]]] = False
    return units


def _applied(video: TrainingVideo, count: int) -> Counts:
    """Return ``(R,)`` how often each rule applies, over moments and assignments."""
    fired = video.grounding.fired.sum(axis=0)
    return np.bincount(video.grounding.rule_of, fired, minlength=count).astype(np.float64)


def _counted(video: TrainingVideo, values: NDArray[np.bool_]) -> Counts:
    """Return true, false and missing facts over frames, the sequence score, and 1."""
    sequence = sequence_score(values, video.order)
    if not video.timed:
        return np.array([0.0, 0.0, 0.0, sequence, 1.0])
    hits = float((values & video.truth).sum())
    return np.array([hits, values.sum() - hits, video.truth.sum() - hits, sequence, 1.0])


def criterion_score(counts: Counts, criterion: str) -> float:
    """Return F1 over frames, or the mean sequence score, of summed counts."""
    hits, wrong, missed, sequence, videos = counts.tolist()
    if criterion == "frames":
        return float(2 * hits / max(1.0, 2 * hits + wrong + missed))
    return float(sequence / max(1.0, videos))


@dataclass(frozen=True, eq=False)
class ValidatedCost:
    """A cost of a change that was chosen by cross-validation.

    Attributes:
        cost: The cost.
        scores: The score of each cost tried.
        videos: All videos, grounded with rules discovered on others.
        weights: Per video the weights of its rules, 0 for those not selected on others.
    """

    cost: float
    scores: tuple[float, ...]
    videos: list[TrainingVideo]
    weights: list[Counts]


def cross_validate_costs(
    folds: Sequence[tuple[Sequence[TrainingVideo], Sequence[TrainingVideo], Sequence[Rule]]],
    settings: SelectionSettings,
    progress: Progress | None = None,
) -> ValidatedCost:
    """Choose K: select rules on some videos of every fold, judge them on the others.

    Args:
        folds: Per fold the videos to select on and those to judge, and the rules of both.
        settings: How to select.
        progress: Called after each cost and fold.

    Returns:
        The greatest cost that is hardly worse than the best, with what it was judged on.
    """
    tasks = [(c, f) for c in range(len(settings.costs)) for f in range(len(folds))]
    counted = np.zeros((len(settings.costs), len(folds), 5))
    kept_weights: dict[tuple[int, int], Counts] = {}
    for c, f in report(tasks, progress, "choosing a cost", len(tasks)):
        (chosen, judged, rules), cost = folds[f], settings.costs[c]
        kept = set(select_rules(chosen, rules, cost, settings).rules)
        weights = np.array([rule.weight if rule in kept else 0.0 for rule in rules])
        kept_weights[c, f] = weights
        for video in judged:
            counted[c, f] += _counted(video, video.predict(weights, cost))
    scores = [criterion_score(row.sum(axis=0), settings.criterion) for row in counted]
    least = max(scores) - settings.tolerance - _TIE
    good = [c for c, score in enumerate(scores) if score >= least]
    greatest = max(good, key=lambda c: settings.costs[c])
    pairs = [
        (video, kept_weights[greatest, f])
        for f, (_, tried, _) in enumerate(folds)
        for video in tried
    ]
    return ValidatedCost(
        settings.costs[greatest], tuple(scores), [v for v, _ in pairs], [w for _, w in pairs]
    )
