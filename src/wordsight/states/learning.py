"""From labelled videos to weighted rules: discover, choose the transition cost, adjust weights."""

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from wordsight.engine import Engine
from wordsight.progress import Progress, report
from wordsight.states.boosting import BoostingSettings, discover_boosted
from wordsight.states.clausal import ClausalSettings, discover_clauses
from wordsight.states.constraints import discover_constraints
from wordsight.states.errors import StateError
from wordsight.states.facts import StateSequence
from wordsight.states.inference import Inference
from wordsight.states.observations import Observations
from wordsight.states.perceptron import PerceptronSettings, learn_weights
from wordsight.states.rules import Rule
from wordsight.states.training import TrainingVideo, prepare_videos
from wordsight.states.transition import choose_transition, make_folds
from wordsight.states.vocabulary import Predicate, Vocabulary

__all__ = ["Learning", "Outcome", "learn", "learned_vocabulary"]


@dataclass(frozen=True)
class Learning:
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
class Outcome:
    """What was learned: rules with weights, K, and notes on how."""

    rules: tuple[Rule, ...]
    transition_cost: float
    notes: dict[str, Any]


@dataclass(frozen=True)
class Task:
    """Labelled videos and all that is fixed while learning from them."""

    observations: tuple[Observations, ...]
    states: tuple[StateSequence, ...]
    vocabulary: Vocabulary
    rules: tuple[Rule, ...] | None
    settings: Learning
    inference: Inference
    random_state: int

    def part(self, chosen: Sequence[int]) -> "Task":
        """Return the task with some of the videos only."""
        return Task(
            tuple(self.observations[k] for k in chosen),
            tuple(self.states[k] for k in chosen),
            self.vocabulary,
            self.rules,
            self.settings,
            self.inference,
            self.random_state,
        )


def learned_vocabulary(
    observations: Sequence[Observations],
    states: Sequence[StateSequence],
    vocabulary: Vocabulary | None,
) -> Vocabulary:
    """Return the vocabulary to learn with: predicates of the labels, features all videos have."""
    base = vocabulary or Vocabulary()
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
    return Vocabulary(base.predicates, features).with_predicates(more)


def learn(
    task: Task,
    transition_cost: float,
    *,
    groups: Sequence[object] | None = None,
    progress: Progress | None = None,
    engine: Engine | None = None,
) -> Outcome:
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
    return Outcome(rules, transition_cost, notes | {"transition_cost": transition_cost})


def _rules(task: Task, progress: Progress | None) -> tuple[Rule, ...]:
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
    tasks: Sequence[Task], progress: Progress | None, engine: Engine | None
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


def _rules_alone(task: Task) -> tuple[Rule, ...]:
    return _rules(task, None)


def _folds(task: Task, groups: Sequence[object] | None) -> list[tuple[list[int], list[int]]]:
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
    task: Task,
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


def _prepared(task: Task, rules: tuple[Rule, ...]) -> list[TrainingVideo]:
    return prepare_videos(rules, task.observations, task.states, task.vocabulary, task.inference)


def _weights(rules: Sequence[Rule]) -> np.ndarray[Any, np.dtype[np.float64]]:
    return np.array([rule.weight for rule in rules], dtype=np.float64)
