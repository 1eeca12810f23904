"""Named methods of learning rules, as users choose them."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Literal, get_args

import numpy as np

from wordsight.engine import Engine
from wordsight.errors import StateError
from wordsight.progress import Progress, report
from wordsight.states.discovery.clausal import ClausalSettings
from wordsight.states.discovery.learning import StateLearningSettings, make_folds
from wordsight.states.discovery.selection import SelectionSettings
from wordsight.states.discovery.training import PerceptronSettings
from wordsight.states.grounding.observations import StateObservations
from wordsight.states.model import StateModel
from wordsight.states.rules.facts import StateSequence
from wordsight.states.rules.rule import Rule
from wordsight.states.rules.vocabulary import StateVocabulary
from wordsight.states.search.inference import InferenceSettings
from wordsight.states.search.segments import SegmentSearchSettings

__all__ = [
    "FEW",
    "PUBLISHED_FEATURES",
    "LearningMethod",
    "judge_by_folds",
    "state_model",
    "with_bound",
]

LearningMethod = Literal["boosted", "few", "published", "fgm"]
"""``boosted``: many rules whose weights are log-odds; ``few``: clauses, few of them selected;
``published``: A. Fern's recipe; ``fgm``: rules that are always right, merged greedily."""

PUBLISHED_FEATURES = (
    "direction",
    "speed",
    "elevation",
    "morph",
    "distance",
    "distance_change",
    "compass",
    "angle",
)

PUBLISHED = StateLearningSettings(
    ClausalSettings(accuracy=0.95, coverage=0.02, num_thresholds=12, state_atoms=True),
    constraints=False,
    transition="given",
    perceptron=PerceptronSettings(iterations=8, average=False, held_out=0.25),
)
"""Clauses of any kind, all of them soft, weights and K by the plain perceptron."""

FEW = StateLearningSettings(
    ClausalSettings(
        accuracy=0.9,
        coverage=0.03,
        least_videos=2,
        num_thresholds=24,
        most_rows=30_000,
        around_changes=0.5,
    ),
    selection=SelectionSettings(criterion="frames"),
)
MERGING = StateLearningSettings(
    ClausalSettings(
        accuracy=1.0,
        coverage=0.02,
        least_videos=2,
        num_thresholds=12,
        most_rules=80,
        around_changes=0.5,
    ),
    transition="given",
)
"""FGM believes every rule, so those that any labelled moment contradicts are of no use."""


def state_model(
    method: LearningMethod = "boosted",
    *,
    rules: Sequence[Rule] | None = None,
    vocabulary: StateVocabulary | None = None,
    bound: int | None = None,
    most_rules: int | None = None,
    random_state: int = 0,
) -> StateModel:
    """Return a model that learns in one of the ways.

    Args:
        method: The way.
        rules: Rules of which only the weights are learned, with ``boosted`` or ``published``.
        vocabulary: Predicates and features; ``published`` uses its eight features only.
        bound: Most nodes that the search for a state expands, tau in the paper; by default states
            are enumerated where they are few, and 100 for ``published``.
        most_rules: Most rules in all, with ``boosted`` that discovers them; ``None`` for any.
        random_state: Seed of the random number generator.
    """
    if method not in get_args(LearningMethod):
        raise StateError(f"the method must be one of {get_args(LearningMethod)}, got {method!r}.")
    if rules is not None and method in ("few", "fgm"):
        raise StateError(
            f"the method {method} selects rules and learns no weights; leave out the rules, or use "
            "boosted or published."
        )
    if most_rules is not None and (method != "boosted" or rules is not None):
        raise StateError(
            "most_rules limits the rules that the method boosted discovers; leave it out with "
            "other methods and with rules that are given."
        )
    if method == "boosted":
        model = StateModel(
            rules,
            vocabulary=vocabulary,
            learning=None if most_rules is None else StateLearningSettings(most_rules=most_rules),
            random_state=random_state,
        )
        return model if bound is None else with_bound(model, bound)
    base, cost, inference = vocabulary, 10.0, InferenceSettings()
    learning = {"few": FEW, "published": PUBLISHED, "fgm": MERGING}[method]
    if method == "published":
        known = vocabulary or StateVocabulary()
        kept = tuple(f for f in known.features if f.name in PUBLISHED_FEATURES)
        base, cost = StateVocabulary(known.predicates, kept), 0.0
        search = SegmentSearchSettings(bound=100 if bound is None else bound, reduce=False)
        inference = InferenceSettings(method="search", search=search)
    elif method == "fgm":
        inference = InferenceSettings(method="merge")
    model = StateModel(
        rules,
        cost,
        base,
        learning=learning,
        inference=inference,
        random_state=random_state,
    )
    return with_bound(model, bound) if method == "few" and bound is not None else model


def with_bound(model: StateModel, bound: int) -> StateModel:
    """Return the model itself, set to infer by the search with a bound."""
    search = SegmentSearchSettings(bound=bound, reduce=False)
    model.inference = replace(model.inference, method="search", search=search)
    return model


def judge_by_folds(
    make: Callable[[], StateModel],
    observations: Sequence[StateObservations],
    states: Sequence[StateSequence],
    *,
    random_state: int = 0,
    progress: Progress | None = None,
    engine: Engine | None = None,
) -> dict[str, float]:
    """Judge each video by a model that was learned from the others.

    Methods that choose K by cross-fitting do so themselves; this is for the others. A fold from
    whose other videos nothing can be learned counts as wrong.

    Args:
        make: Returns a model to be learned.
        observations: The videos.
        states: Their labels, frame by frame.
        random_state: Seed of the folds.
        progress: Called after each fold.
        engine: Engine that discovers rules.

    Returns:
        ``sequences``: the share of sequences that are exactly right, and ``facts``: that of facts
        at all moments; empty from fewer than two videos.
    """
    count = len(observations)
    if count < 2:
        return {}
    folds = make_folds(count, None, np.random.default_rng(random_state))
    right, facts = np.zeros(count, dtype=np.bool_), np.zeros(count)
    for fold in report(np.unique(folds), progress, "judging by other videos"):
        model = make()
        others = np.flatnonzero(folds != fold).tolist()
        try:
            model.fit([observations[k] for k in others], [states[k] for k in others], engine=engine)
        except StateError:
            continue
        for k in np.flatnonzero(folds == fold).tolist():
            found, truth = model.predict(observations[k]), states[k]
            every = tuple(sorted({*found.facts, *truth.facts}))
            right[k] = found.states() == truth.states()
            facts[k] = float((found.table(every) == truth.table(every)).mean()) if every else 1.0
    return {
        "sequences": round(float(right.mean()), 4),
        "facts": round(float(facts.mean()), 4),
    }
