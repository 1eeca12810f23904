"""Selection of few rules: from many discovered clauses, those that infer the right states together.

A clause that is nearly always right need not be worth having: others may say the same, or the cost
of a change may. Clauses are therefore added one by one, each time the one whose addition makes the
states inferred for the training videos most right, until none helps. The cost of a change is chosen
by cross-validation of the whole procedure: the greatest one, which means the fewest changes, that
is hardly worse than the best. A standard error would say how much that is, but those of the few
groups that videos come in are as uncertain as the scores.

Forward greedy merge (FGM) assumes that rules are always right. Frames are read from left to right
and pooled while their constraints are consistent; the state of a pool is the least model of its
constraints. One wrong constraint splits a pool, so rules are pruned to few sound ones, and frames
that contradict themselves or their neighbours can be removed first.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from wordsight.errors import StateError
from wordsight.progress import Progress, report
from wordsight.states.discovery.training import TrainingVideo, sequence_score
from wordsight.states.grounding.clauses import pack_bits
from wordsight.states.grounding.grounder import Grounding, ground
from wordsight.states.grounding.observations import StateObservations
from wordsight.states.rules.facts import StateSequence
from wordsight.states.rules.rule import Rule
from wordsight.states.rules.vocabulary import StateVocabulary
from wordsight.states.search.inference import greedy_merge

__all__ = [
    "MergeSettings",
    "Selected",
    "SelectionSettings",
    "ValidatedCost",
    "cross_validate_costs",
    "select_for_merging",
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
    """Return ``(R,)`` which rules have a single fact wherever they apply."""
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


@dataclass(frozen=True)
class MergeSettings:
    """How rules for merging are chosen.

    Attributes:
        soundness: Least share of its applications in which a rule must be right.
        prune: Whether to keep few rules; otherwise all sound ones are kept.
        patiences: How many frames in a row cleaning may skip; the best on the labelled videos is
            chosen, 0 for no cleaning.
    """

    soundness: float = 1.0
    prune: bool = True
    patiences: tuple[int, ...] = (0, 1, 2, 4, 8)


def select_for_merging(
    rules: Sequence[Rule],
    observations: Sequence[StateObservations],
    states: Sequence[StateSequence],
    vocabulary: StateVocabulary,
    settings: MergeSettings | None = None,
) -> tuple[tuple[Rule, ...], int]:
    """Select a small set of sound rules that still predicts labelled videos.

    Rules are added one by one, the one that corrects most frames first, as long as one does; then
    rules are dropped without which as many videos and frames are right.

    Args:
        rules: Rules to choose from.
        observations: The videos.
        states: Their labels.
        vocabulary: Predicates and features of the rules.
        settings: How to choose.

    Returns:
        The rules, and how many frames in a row cleaning may skip.
    """
    chosen = settings or MergeSettings()
    videos = [
        _LabelledVideo(ground(rules, video, vocabulary), labels)
        for video, labels in zip(observations, states, strict=True)
    ]
    kept = _sound(videos, len(rules), chosen.soundness)
    if chosen.prune:
        kept = _thinned(videos, _chosen(videos, kept))
    patience = max(chosen.patiences, key=lambda p: (_score(videos, kept, p), -p))
    return tuple(rules[k] for k in kept), patience


def _sound(videos: list["_LabelledVideo"], count: int, soundness: float) -> list[int]:
    applied = sum((video.applied(count) for video in videos), np.zeros(count))
    broken = sum((video.broken(count) for video in videos), np.zeros(count))
    share = 1.0 - broken / np.maximum(applied, 1.0)
    return np.flatnonzero((share >= soundness) & (applied > 0)).tolist()


def _thinned(videos: list["_LabelledVideo"], chosen: list[int]) -> list[int]:
    best = _score(videos, chosen, 0)
    for rule in list(chosen):
        rest = [k for k in chosen if k != rule]
        score = _score(videos, rest, 0)
        if score >= best:
            best, chosen = score, rest
    return chosen


def _score(videos: list["_LabelledVideo"], chosen: list[int], patience: int) -> tuple[int, int]:
    """Return the numbers of videos and of frames that are right."""
    each = [video.score(chosen, patience) for video in videos]
    return sum(right for right, _ in each), sum(frames for _, frames in each)


class _LabelledVideo:
    """One video with all rules and its labels."""

    def __init__(self, grounding: Grounding, truth: StateSequence):
        self._grounding = grounding
        self._truth = truth.table(grounding.facts)
        self._broken = grounding.broken(self._truth)
        self.heads = grounding.clauses.heads[grounding.clause_of]

    def applied(self, count: int) -> NDArray[np.float64]:
        """Return ``(R,)`` how often each rule applies."""
        g = self._grounding
        counts = np.bincount(g.rule_of, weights=g.fired.sum(axis=0), minlength=count)
        return counts.astype(np.float64)

    def broken(self, count: int) -> NDArray[np.float64]:
        """Return ``(R,)`` how often each rule is wrong."""
        wrong = self._broken.sum(axis=0)
        counts = np.bincount(self._grounding.rule_of, weights=wrong, minlength=count)
        return counts.astype(np.float64)

    def gain(self, rule: int, asserted: NDArray[np.bool_]) -> int:
        """Return how many true facts a rule asserts that are not asserted yet."""
        g = self._grounding
        gained = np.zeros_like(asserted)
        for instance in np.flatnonzero((g.rule_of == rule) & (self.heads >= 0)):
            gained[:, self.heads[instance]] |= g.fired[:, instance] & ~self._broken[:, instance]
        return int((gained & self._truth & ~asserted).sum())

    def add(self, rule: int, asserted: NDArray[np.bool_]) -> None:
        """Add the facts that a rule asserts."""
        g = self._grounding
        for instance in np.flatnonzero((g.rule_of == rule) & (self.heads >= 0)):
            asserted[:, self.heads[instance]] |= g.fired[:, instance]

    def asserts(self, rule: int) -> bool:
        """Return whether the head of a rule is a fact here, rather than *false*."""
        return bool((self.heads[self._grounding.rule_of == rule] >= 0).any())

    def none_asserted(self) -> NDArray[np.bool_]:
        """Return ``(T, F)`` false values to start from."""
        return np.zeros_like(self._truth)

    def score(self, chosen: list[int], patience: int) -> tuple[bool, int]:
        """Return whether the sequence of states is right, and how many frames are."""
        g = self._grounding
        kept = np.isin(g.rule_of, chosen)
        part = Grounding(
            g.observations, g.rules, g.facts, g.clauses, g.fired[:, kept], g.rule_of[kept],
            g.clause_of[kept], (),
        )  # fmt: skip
        states = greedy_merge(part, patience=patience)
        frames = int((states == self._truth).all(axis=1).sum())
        return _runs(states) == _runs(self._truth), frames


def _runs(values: NDArray[np.bool_]) -> bytes:
    words = pack_bits(values)
    changed = np.concatenate([[True], (words[1:] != words[:-1]).any(axis=1)])
    return bytes(words[changed].tobytes())


def _chosen(videos: list[_LabelledVideo], sound: list[int]) -> list[int]:
    """Choose all sound constraints, and greedily those rules that assert facts."""
    asserted = [video.none_asserted() for video in videos]
    asserting = [k for k in sound if any(video.asserts(k) for video in videos)]
    chosen = [k for k in sound if k not in set(asserting)]

    def gain(rule: int) -> int:
        return sum(v.gain(rule, table) for v, table in zip(videos, asserted, strict=True))

    gains = {k: gain(k) for k in asserting}
    while gains:
        # Lazy greedy selection: a gain never grows, so only the best candidate is counted again.
        best = max(gains, key=lambda k: (gains[k], -k))
        if gains[best] == 0:
            break
        now = gain(best)
        if now < gains[best]:
            gains[best] = now
            continue
        chosen.append(best)
        for video, table in zip(videos, asserted, strict=True):
            video.add(best, table)
        del gains[best]
    return chosen
