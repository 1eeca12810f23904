"""From labelled videos to weighted rules: discovery, transition cost, weights.

A violated rule costs per frame and a transition per change, so the rules do not say how the two
compare, and on the videos the rules came from all costs look too certain. The transition cost is
therefore cross-fitted: chosen on videos whose rules were learned on others.
"""

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from wordsight.engine import Engine
from wordsight.errors import StateError
from wordsight.progress import Progress, report
from wordsight.states.discovery.boosting import BoostingSettings, boost_predicate
from wordsight.states.discovery.clausal import ClausalSettings, find_clauses
from wordsight.states.discovery.constraints import discover_constraints
from wordsight.states.discovery.samples import gather_samples
from wordsight.states.discovery.selection import (
    SelectionSettings,
    cross_validate_costs,
    select_for_merging,
    select_rules,
)
from wordsight.states.discovery.training import (
    PerceptronSettings,
    TrainingVideo,
    edit_share,
    judge_held_out,
    learn_weights,
    prepare_videos,
    sequence_score,
)
from wordsight.states.grounding.grounder import Grounder
from wordsight.states.grounding.observations import StateObservations
from wordsight.states.rules.facts import StateSequence
from wordsight.states.rules.rule import Rule
from wordsight.states.rules.vocabulary import Predicate, StateVocabulary
from wordsight.states.search.inference import InferenceSettings

__all__ = [
    "GRID",
    "LearnedRules",
    "StateLearningSettings",
    "choose_cost",
    "choose_transition",
    "discover_rules",
    "edit_share",
    "learn",
    "make_folds",
    "sequence_score",
    "training_vocabulary",
]

GRID = tuple(np.geomspace(0.5, 128.0, 33).round(3).tolist())
"""Transition costs to try, evenly spaced in their logarithm."""

_MOST_FOLDS = 5


def make_folds(
    count: int, groups: Sequence[object] | None, random: np.random.Generator
) -> NDArray[np.int64]:
    """Return ``(count,)`` the fold of each video, by group if there are two groups or more."""
    names = sorted(set(map(str, groups or ())))
    if len(names) >= 2:
        numbers = np.array([names.index(str(group)) for group in groups or ()])
        return np.asarray(numbers % _MOST_FOLDS, dtype=np.int64)
    return random.permutation(np.arange(count) % min(_MOST_FOLDS, max(2, count)))


def choose_transition(
    videos: Sequence[TrainingVideo],
    weights: Sequence[NDArray[np.float64]],
    grid: Sequence[float] = GRID,
) -> tuple[float, tuple[float, ...]]:
    """Choose K on videos that were held out from their rules.

    The score is the mean :func:`sequence_score`, smoothed over neighbouring costs, because a
    plateau is safer than a peak.

    Args:
        videos: Held-out videos, grounded with rules learned on others.
        weights: Per video the weights of its rules.
        grid: Costs to try, in increasing order.

    Returns:
        The chosen cost, and the score of each cost before smoothing.
    """

    def score(cost: float) -> float:
        pairs = zip(videos, weights, strict=True)
        return float(np.mean([sequence_score(v.predict(w, cost), v.order) for v, w in pairs]))

    return choose_cost(score, grid)


def choose_cost(
    score: Callable[[float], float], grid: Sequence[float] = GRID
) -> tuple[float, tuple[float, ...]]:
    """Return the cost in the middle of the best plateau of a score, and all scores."""
    scores = np.array([score(cost) for cost in grid])
    padded = np.pad(scores, 2, mode="edge")
    smooth = np.convolve(padded, np.array([1, 2, 3, 2, 1]) / 9, mode="valid")
    top = np.flatnonzero(smooth >= smooth.max() - 1e-9)
    return float(grid[int(top[len(top) // 2])]), tuple(scores.tolist())


@dataclass(frozen=True)
class StateLearningSettings:
    """How a model learns.

    Attributes:
        discovery: Settings of boosted or of clausal discovery.
        constraints: Whether to discover hard rules among facts as well.
        transition: ``crossfit`` chooses K on videos held out from their rules, ``given`` keeps it;
            the perceptron, if used, continues from there.
        perceptron: How weights are adjusted afterwards, ``None`` for no adjustment.
        selection: How few of the rules are selected, and K with them; ``None`` keeps all.
        most_rules: Most boosted rules in all, those among facts included; ``None`` for any number.
    """

    discovery: BoostingSettings | ClausalSettings = field(default_factory=BoostingSettings)
    constraints: bool = True
    transition: Literal["crossfit", "given"] = "crossfit"
    perceptron: PerceptronSettings | None = None
    selection: SelectionSettings | None = None
    most_rules: int | None = None


@dataclass(frozen=True, eq=False)
class LearnedRules:
    """Learned rules with weights, K, notes on how they were learned, and how to infer with them."""

    rules: tuple[Rule, ...]
    transition_cost: float
    notes: dict[str, Any]
    inference: InferenceSettings


@dataclass(frozen=True)
class LearningTask:
    """Labelled videos and everything that is fixed while learning from them."""

    observations: tuple[StateObservations, ...]
    states: tuple[StateSequence, ...]
    vocabulary: StateVocabulary
    rules: tuple[Rule, ...] | None
    settings: StateLearningSettings
    inference: InferenceSettings
    random_state: int

    def part(self, chosen: Sequence[int]) -> "LearningTask":
        """Return the task with some of the videos only."""
        return replace(
            self,
            observations=tuple(self.observations[k] for k in chosen),
            states=tuple(self.states[k] for k in chosen),
        )


def training_vocabulary(
    observations: Sequence[StateObservations],
    states: Sequence[StateSequence],
    vocabulary: StateVocabulary | None,
) -> StateVocabulary:
    """Return the predicates of the labels and the features that all videos have."""
    base = vocabulary or StateVocabulary()
    kinds: dict[str, list[set[str]]] = {}
    for video, labels in zip(observations, states, strict=True):
        kind_of = {thing.name: thing.kind for thing in video.objects}
        for fact in labels.facts:
            places = kinds.setdefault(fact.predicate, [set() for _ in fact.arguments])
            if len(places) != len(fact.arguments):
                raise StateError(f"{fact} has another number of arguments than facts before it.")
            for place, name in zip(places, fact.arguments, strict=True):
                if name not in kind_of:
                    raise StateError(
                        f"the labels of {labels.video_id} mention {name!r}, which is not among its "
                        f"objects: {', '.join(kind_of)}."
                    )
                place.add(kind_of[name])
    more = [
        Predicate(name, tuple(p.pop() if len(p) == 1 else "thing" for p in places))
        for name, places in sorted(kinds.items())
    ]
    measured = set.intersection(*(set(video.features) for video in observations))
    features = tuple(feature for feature in base.features if feature.name in measured)
    return StateVocabulary(base.predicates, features).with_predicates(more)


def learn(
    task: LearningTask,
    transition_cost: float,
    *,
    groups: Sequence[object] | None = None,
    progress: Progress | None = None,
    engine: Engine | None = None,
) -> LearnedRules:
    """Learn rules, weights and K.

    Args:
        task: What to learn from and how; given rules are kept, and only their weights are learned.
        transition_cost: K to start from.
        groups: Which videos belong together (one subject, one place), for cross-fitting.
        progress: Called with the amount done.
        engine: Engine that discovers the rules of all videos and of every fold in parallel; by
            default this process. The result is the same.
    """
    folds = _folds(task, groups)
    rules, *fold_rules = _all_rules(
        [task, *(task.part(train) for train, _ in folds)], progress, engine
    )
    if not rules:
        raise StateError(
            f"nothing could be learned from {len(task.observations)} videos: no rule says when a "
            "fact holds. Their labels must contain facts, and features must differ where they hold."
        )
    notes: dict[str, Any] = {"videos": len(task.observations), "rules": len(rules)}
    if task.inference.method == "merge":
        rules, patience = select_for_merging(rules, task.observations, task.states, task.vocabulary)
        notes |= {"rules": len(rules), "violations": _violations(task, rules)}
        return LearnedRules(rules, 0.0, notes, replace(task.inference, patience=patience))
    if task.settings.selection is not None:
        rules, transition_cost, more = _selected(
            task, transition_cost, rules, folds, fold_rules, progress
        )
        notes |= more | {"rules": len(rules)}
    elif folds:
        held_out = _held_out(task, folds, fold_rules)
        transition_cost, scores = choose_transition(*held_out)
        notes["crossfit_scores"] = [round(score, 4) for score in scores]
        notes |= judge_held_out(*held_out, transition_cost)
    if task.settings.perceptron is not None:
        learned = learn_weights(
            _prepared(task, rules),
            _weights(rules),
            transition_cost,
            task.settings.perceptron,
            random_state=task.random_state,
            progress=progress,
        )
        kept = [(r, w) for r, w in zip(rules, learned.weights.tolist(), strict=True) if w > 0]
        rules = tuple(rule.reweighted(weight) for rule, weight in kept)
        transition_cost = learned.transition_cost
        notes["perceptron_history"] = list(learned.history)
        notes["perceptron_iteration"] = learned.iteration
    notes["violations"] = _violations(task, rules)
    notes["transition_cost"] = transition_cost
    return LearnedRules(rules, transition_cost, notes, task.inference)


def _violations(task: LearningTask, rules: tuple[Rule, ...]) -> list[tuple[int, int]]:
    """Return per rule how often labels violate it, and how often it applies: how sound it is.

    Videos whose labels give only the order of states are left out.
    """
    grounder, counts = Grounder(rules, task.vocabulary), np.zeros((len(rules), 2), dtype=np.int64)
    for video, labels in zip(task.observations, task.states, strict=True):
        if not np.array_equal(video.times, labels.times):
            continue
        grounding = grounder.ground(video)
        counts += grounding.uses(labels.table(grounding.facts))
    return [(violated, applied) for violated, applied in counts.tolist()]


def discover_rules(
    observations: Sequence[StateObservations],
    states: Sequence[StateSequence],
    vocabulary: StateVocabulary,
    predicates: Sequence[Predicate],
    settings: BoostingSettings | ClausalSettings | None = None,
    *,
    random_state: int = 0,
    progress: Progress | None = None,
) -> tuple[Rule, ...]:
    """Discover rules for and against each predicate.

    Args:
        observations: The videos.
        states: Their labels, frame by frame.
        vocabulary: Which features rules may compare.
        predicates: The predicates to explain.
        settings: Settings of boosted or of clausal discovery; by default boosted.
        random_state: Seed of the bags of boosted discovery.
        progress: Called after each predicate, or each predicate and side.
    """
    chosen = settings or BoostingSettings()
    tables = (gather_samples(p, observations, states, vocabulary, chosen) for p in predicates)
    if isinstance(chosen, ClausalSettings):
        return find_clauses(list(tables), observations, states, vocabulary, chosen, progress)
    rules: list[Rule] = []
    for table in report(tables, progress, "discovering rules", len(predicates)):
        rules += boost_predicate(table, chosen, np.random.default_rng(random_state))
    return tuple(rules)


def _rules(task: LearningTask, progress: Progress | None) -> tuple[Rule, ...]:
    """Return the given rules, or discover some."""
    if task.rules is not None:
        return task.rules
    fixed: tuple[Rule, ...] = ()
    explained: tuple[str, ...] = ()
    if task.settings.constraints:
        constraints = discover_constraints(task.observations, task.states, task.vocabulary)
        fixed, explained = constraints.rules + constraints.defaults, constraints.explained
    predicates = [p for p in task.vocabulary.predicates if p.name not in explained]
    discovery = task.settings.discovery
    if task.settings.most_rules is not None and isinstance(discovery, BoostingSettings):
        left = (task.settings.most_rules - len(fixed)) // max(1, len(predicates))
        discovery = replace(discovery, most_rules=max(2, left))
    rules = discover_rules(
        task.observations,
        task.states,
        task.vocabulary,
        predicates,
        discovery,
        random_state=task.random_state,
        progress=progress,
    )
    return fixed + rules


def _all_rules(
    tasks: Sequence[LearningTask], progress: Progress | None, engine: Engine | None
) -> list[tuple[Rule, ...]]:
    """Return the rules of several independent tasks."""
    if engine is None:
        return [_rules(task, progress) for task in tasks]
    rules = []
    with closing(engine.map(_rules_alone, tasks, ordered=True)) as outcomes:
        for outcome in report(outcomes, progress, "discovering rules", len(tasks)):
            if outcome.result is None:
                raise StateError(f"rules could not be discovered: {outcome.error}")
            rules.append(outcome.result)
    return rules


def _rules_alone(task: LearningTask) -> tuple[Rule, ...]:
    return _rules(task, None)


def _folds(
    task: LearningTask, groups: Sequence[object] | None
) -> list[tuple[list[int], list[int]]]:
    """Return per fold the videos to learn rules from and those to try them on."""
    if task.settings.transition != "crossfit" or len(task.observations) < 2:
        return []
    random = np.random.default_rng(task.random_state)
    folds = make_folds(len(task.observations), groups, random)
    return [
        (np.flatnonzero(folds != fold).tolist(), np.flatnonzero(folds == fold).tolist())
        for fold in np.unique(folds)
    ]


def _selected(
    task: LearningTask,
    transition_cost: float,
    rules: tuple[Rule, ...],
    folds: Sequence[tuple[list[int], list[int]]],
    fold_rules: Sequence[tuple[Rule, ...]],
    progress: Progress | None,
) -> tuple[tuple[Rule, ...], float, dict[str, Any]]:
    """Select few rules, with K cross-validated if there are folds."""
    settings = task.settings.selection or SelectionSettings()
    notes: dict[str, Any] = {"candidates": len(rules)}
    if folds:
        parts = [
            (_prepared(task.part(train), found), _prepared(task.part(tried), found), found)
            for (train, tried), found in zip(folds, fold_rules, strict=True)
        ]
        validated = cross_validate_costs(parts, settings, progress)
        transition_cost = validated.cost
        notes["crossfit_scores"] = [round(score, 4) for score in validated.scores]
        notes |= judge_held_out(validated.videos, validated.weights, transition_cost)
    selected = select_rules(_prepared(task, rules), rules, transition_cost, settings, progress)
    return selected.rules, transition_cost, notes | {"training_score": round(selected.score, 4)}


def _held_out(
    task: LearningTask,
    folds: Sequence[tuple[list[int], list[int]]],
    fold_rules: Sequence[tuple[Rule, ...]],
) -> tuple[list[TrainingVideo], list[NDArray[np.float64]]]:
    """Return every video, grounded with rules learned on others, and the weights of those."""
    videos: list[TrainingVideo] = []
    weights: list[NDArray[np.float64]] = []
    for (_, tried), rules in zip(folds, fold_rules, strict=True):
        held_out = _prepared(task.part(tried), rules)
        videos += held_out
        weights += [_weights(rules)] * len(held_out)
    return videos, weights


def _prepared(task: LearningTask, rules: tuple[Rule, ...]) -> list[TrainingVideo]:
    return prepare_videos(rules, task.observations, task.states, task.vocabulary, task.inference)


def _weights(rules: Sequence[Rule]) -> np.ndarray[Any, np.dtype[np.float64]]:
    return np.array([rule.weight for rule in rules], dtype=np.float64)
