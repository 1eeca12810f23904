"""From labelled videos to weighted rules: discovery, transition cost, weights.

A violated rule costs per frame and a transition per change, so the rules do not say how the two
compare, and on the videos the rules came from all costs look too certain. The transition cost is
therefore cross-fitted: chosen on videos whose rules were learned on others.
"""

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from wordsight.engine import Engine
from wordsight.progress import Progress, report
from wordsight.states.discovery.boosting import BoostingSettings, discover_boosted
from wordsight.states.discovery.clausal import ClausalSettings, discover_clauses
from wordsight.states.discovery.constraints import discover_constraints
from wordsight.states.discovery.training import (
    PerceptronSettings,
    TrainingVideo,
    compressed,
    learn_weights,
    prepare_videos,
)
from wordsight.states.errors import StateError
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
    "edit_share",
    "learn",
    "make_folds",
    "sequence_score",
    "training_vocabulary",
]


GRID = tuple(np.geomspace(0.5, 128.0, 33).round(3).tolist())
"""Costs that are tried, evenly spread by ratio."""

_MOST_FOLDS = 5


def make_folds(
    count: int, groups: Sequence[object] | None, random: np.random.Generator
) -> NDArray[np.int64]:
    """Return ``(count,)`` the fold of each video: by group where there are two or more."""
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
    """Choose K by videos that were held out from their rules.

    The score is the mean of how many sequences are exactly right and how near the others come,
    smoothed over neighbouring costs: a plateau is safer than a peak.

    Args:
        videos: Held-out videos, grounded with rules learned on others.
        weights: Per video the weights of its rules.
        grid: Costs to try, rising.

    Returns:
        The cost chosen, and the score of each cost tried before smoothing.
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


def sequence_score(values: NDArray[np.bool_], order: NDArray[np.bool_]) -> float:
    """Return how well states over time ``(T, F)`` pass through the right ones in their order.

    Half the score is for being exactly right, half for coming near.
    """
    found = compressed(values)
    right = np.array_equal(found, order)
    return (right + 1.0 - min(1.0, edit_share(found, order))) / 2


def edit_share(found: NDArray[np.bool_], truth: NDArray[np.bool_]) -> float:
    """Return the edit distance of two sequences of states, as a share of the true one's length."""
    rows = np.arange(len(truth) + 1)
    for state in found:
        step = rows.copy()
        step[0] = rows[0] + 1
        differs = (truth != state).any(axis=1)
        for k in range(1, len(rows)):
            step[k] = min(rows[k] + 1, step[k - 1] + 1, rows[k - 1] + differs[k - 1])
        rows = step
    return float(rows[-1]) / max(1, len(truth))


@dataclass(frozen=True)
class StateLearningSettings:
    """How a model learns.

    Attributes:
        discovery: Bias of boosted or of clausal discovery.
        constraints: Whether hard rules among facts are looked for too.
        transition: ``crossfit`` chooses K on videos held out from their rules, ``given`` leaves it
            as it is; the perceptron, if used, goes on from there.
        perceptron: How weights are adjusted afterwards, ``None`` for not at all.
    """

    discovery: BoostingSettings | ClausalSettings = field(default_factory=BoostingSettings)
    constraints: bool = True
    transition: Literal["crossfit", "given"] = "crossfit"
    perceptron: PerceptronSettings | None = None


@dataclass(frozen=True, eq=False)
class LearnedRules:
    """What was learned: rules with weights, K, and notes on how."""

    rules: tuple[Rule, ...]
    transition_cost: float
    notes: dict[str, Any]


@dataclass(frozen=True)
class LearningTask:
    """Labelled videos and all that is fixed while learning from them."""

    observations: tuple[StateObservations, ...]
    states: tuple[StateSequence, ...]
    vocabulary: StateVocabulary
    rules: tuple[Rule, ...] | None
    settings: StateLearningSettings
    inference: InferenceSettings
    random_state: int

    def part(self, chosen: Sequence[int]) -> "LearningTask":
        """Return the task with some of the videos only."""
        return LearningTask(
            tuple(self.observations[k] for k in chosen),
            tuple(self.states[k] for k in chosen),
            self.vocabulary,
            self.rules,
            self.settings,
            self.inference,
            self.random_state,
        )


def training_vocabulary(
    observations: Sequence[StateObservations],
    states: Sequence[StateSequence],
    vocabulary: StateVocabulary | None,
) -> StateVocabulary:
    """Return the vocabulary to learn with: predicates of the labels, features all videos have."""
    base = vocabulary or StateVocabulary()
    kinds: dict[str, list[set[str]]] = {}
    for seen, told in zip(observations, states, strict=True):
        of = {thing.name: thing.kind for thing in seen.objects}
        for fact in told.facts:
            places = kinds.setdefault(fact.predicate, [set() for _ in fact.arguments])
            if len(places) != len(fact.arguments):
                raise StateError(f"{fact} has another number of arguments than facts before it.")
            for place, name in zip(places, fact.arguments, strict=True):
                if name not in of:
                    raise StateError(
                        f"the labels of {told.video_id} speak of {name!r}, which is none of its "
                        f"objects: {', '.join(of)}."
                    )
                place.add(of[name])
    more = [
        Predicate(name, tuple(p.pop() if len(p) == 1 else "thing" for p in places))
        for name, places in sorted(kinds.items())
    ]
    measured = set.intersection(*(set(seen.features) for seen in observations))
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
        task: What to learn from and how; rules given are kept and only weighed.
        transition_cost: K to start from.
        groups: Which videos belong together (one subject, one place), for cross-fitting.
        progress: Told how far the work has come.
        engine: Who discovers rules, from all videos and from those of every fold at once; this
            process if left out. The rules are the same.
    """
    folds = _folds(task, groups)
    found_rules = _all_rules([task, *(task.part(train) for train, _ in folds)], progress, engine)
    rules = found_rules[0]
    if not rules:
        raise StateError(
            f"nothing could be learned from {len(task.observations)} videos: no rule says when a "
            "fact holds. Their labels must tell of facts, and things must differ where they hold."
        )
    notes: dict[str, Any] = {"videos": len(task.observations), "rules": len(rules)}
    if folds:
        transition_cost, scores = _crossfitted(task, folds, found_rules[1:])
        notes["crossfit_scores"] = [round(score, 4) for score in scores]
    if task.settings.perceptron is not None:
        found = learn_weights(
            _prepared(task, rules),
            _weights(rules),
            transition_cost,
            task.settings.perceptron,
            random_state=task.random_state,
            progress=progress,
        )
        kept = [(r, w) for r, w in zip(rules, found.weights.tolist(), strict=True) if w > 0]
        rules = tuple(rule.reweighted(weight) for rule, weight in kept)
        transition_cost = found.transition_cost
        notes["perceptron_history"] = list(found.history)
        notes["perceptron_iteration"] = found.iteration
    return LearnedRules(rules, transition_cost, notes | {"transition_cost": transition_cost})


def _rules(task: LearningTask, progress: Progress | None) -> tuple[Rule, ...]:
    """Return the rules given, or discover some."""
    if task.rules is not None:
        return task.rules
    fixed: tuple[Rule, ...] = ()
    explained: tuple[str, ...] = ()
    if task.settings.constraints:
        found = discover_constraints(task.observations, task.states, task.vocabulary)
        fixed, explained = found.rules + found.defaults, found.explained
    predicates = [p for p in task.vocabulary.predicates if p.name not in explained]
    bias = task.settings.discovery
    discover: Any = discover_boosted if isinstance(bias, BoostingSettings) else discover_clauses
    rules = discover(
        task.observations,
        task.states,
        task.vocabulary,
        predicates,
        bias,
        random_state=task.random_state,
        progress=progress,
    )
    return fixed + tuple(rules)


def _all_rules(
    tasks: Sequence[LearningTask], progress: Progress | None, engine: Engine | None
) -> list[tuple[Rule, ...]]:
    """Return the rules of several tasks, each independent of the others."""
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
    """Return which videos to learn rules from and which to try them on; none without folds."""
    if task.settings.transition != "crossfit" or len(task.observations) < 2:
        return []
    random = np.random.default_rng(task.random_state)
    folds = make_folds(len(task.observations), groups, random)
    return [
        (np.flatnonzero(folds != fold).tolist(), np.flatnonzero(folds == fold).tolist())
        for fold in np.unique(folds)
    ]


def _crossfitted(
    task: LearningTask,
    folds: Sequence[tuple[list[int], list[int]]],
    found: Sequence[tuple[Rule, ...]],
) -> tuple[float, tuple[float, ...]]:
    videos: list[TrainingVideo] = []
    weights = []
    for (_, tried), rules in zip(folds, found, strict=True):
        held = _prepared(task.part(tried), rules)
        videos += held
        weights += [_weights(rules)] * len(held)
    return choose_transition(videos, weights)


def _prepared(task: LearningTask, rules: tuple[Rule, ...]) -> list[TrainingVideo]:
    return prepare_videos(rules, task.observations, task.states, task.vocabulary, task.inference)


def _weights(rules: Sequence[Rule]) -> np.ndarray[Any, np.dtype[np.float64]]:
    return np.array([rule.weight for rule in rules], dtype=np.float64)
