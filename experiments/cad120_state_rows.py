"""The methods compared on CAD-120's states: rules of ours, the published recipe, and baselines.

Each takes labelled videos to learn from and videos to judge, and returns the states it infers for
these. Everything is chosen on the former.
"""

import time
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from experiments.data.cad120_states import VOCABULARY, LabelledVideo
from wordsight.errors import WordsightError
from wordsight.states import (
    BoostingSettings,
    ClausalSettings,
    Fact,
    PerceptronSettings,
    StateLearningSettings,
    StateModel,
    StateSequence,
    StateVocabulary,
    facts_said,
    learn_weights,
    prepare_videos,
)
from wordsight.states.discovery.learning import choose_cost, make_folds, sequence_score
from wordsight.states.search.inference import best_path

__all__ = ["BOOSTING", "Rows", "believed", "causal_rows", "chained_rows", "fern_rows"]
__all__ += ["few_rows", "gradient_rows", "rule_rows", "sentence_rows", "speed_rows"]

Array = NDArray[np.float64]
Videos = Sequence[LabelledVideo]
Rows = dict[str, list[StateSequence]]

_PUBLISHED = ("direction", "speed", "elevation", "morph")
_PUBLISHED += ("distance", "distance_change", "compass", "angle")
_CLAUSES = ClausalSettings(accuracy=0.9, coverage=0.02, num_thresholds=12)
_CHAINED = ClausalSettings(
    accuracy=0.95,
    coverage=0.02,
    num_thresholds=12,
    most_conditions=2,
    most_rules=12,
    diverse=True,
    state_atoms=True,
    new_variables=True,
    linked=True,
)
BOOSTING = BoostingSettings()
MOST_RULES = 60
_PUBLISHED_LEARNING = {
    "fern": PerceptronSettings(iterations=8, average=False, held_out=0.25),
    "fern_scaled": PerceptronSettings(iterations=8, transition_step=50.0, held_out=0.25),
}
_FORESTS: tuple[dict[str, float], ...] = (
    {"max_iter": 60, "max_depth": 3},
    {"max_iter": 100, "max_depth": 4},
    {"max_iter": 200, "max_depth": 4},
)
_ADJUSTING = PerceptronSettings(
    iterations=6, step=0.001, transition_step=50.0, margin=0.5, held_out=0.25
)


def rule_rows(train: Videos, test: Videos) -> tuple[Rows, float, StateModel]:
    """Boosted rules with cross-fitted K, and the same after the averaged perceptron.

    Returns:
        Their states, how many frames a second were inferred, grounding included, and the rules.
    """
    learning = StateLearningSettings(BOOSTING)
    model = _fitted(StateModel(vocabulary=VOCABULARY, learning=learning), train)
    model.predict(test[0].observations)  # compiles
    start = time.process_time()
    rows = {"rules": [model.predict(video.observations) for video in test]}
    elapsed = time.process_time() - start
    weights = np.array([rule.weight for rule in model.rules_])
    videos = prepare_videos(
        model.rules_,
        [video.observations for video in train],
        [video.states for video in train],
        model.vocabulary_,
    )
    found = learn_weights(videos, weights, model.transition_cost_, _ADJUSTING)
    adjusted = [r.reweighted(w) for r, w in zip(model.rules_, found.weights.tolist(), strict=True)]
    other = StateModel(adjusted, found.transition_cost, model.vocabulary_)
    rows["perceptron"] = [other.predict(video.observations) for video in test]
    return rows, sum(len(video.observations) for video in test) / elapsed, model


def believed(model: StateModel, test: Videos) -> tuple[Array, NDArray[np.bool_]]:
    """Return how probable facts are at all moments of videos, and whether they hold."""
    said, true = [], []
    for video in test:
        beliefs = model.believe(video.observations)
        said.append(beliefs.probabilities.ravel())
        true.append(video.states.table(beliefs.sequence.facts).ravel())
    return np.concatenate(said), np.concatenate(true)


def chained_rows(train: Videos, test: Videos) -> Rows:
    """Clauses with facts in their bodies and objects that facts relate, K cross-fitted."""
    learning = StateLearningSettings(_CHAINED)
    model = _fitted(StateModel(vocabulary=VOCABULARY, learning=learning), train)
    return {"chained": [model.predict(video.observations) for video in test]}


def few_rows(train: Videos, test: Videos) -> Rows:
    """At most :data:`MOST_RULES` boosted rules, which later rounds weigh, with cross-fitted K."""
    learning = StateLearningSettings(BOOSTING, most_rules=MOST_RULES)
    model = _fitted(StateModel(vocabulary=VOCABULARY, learning=learning), train)
    return {"few_rules": [model.predict(video.observations) for video in test]}


def sentence_rows(train: Videos, test: Videos) -> Rows:
    """Boosted rules for facts that no label gives: learned from what is said of the videos."""
    told = [video for video in train if video.sentences]
    if not told:
        return {}
    found = facts_said(
        VOCABULARY.predicates[0],
        [video.observations for video in told],
        [video.sentences for video in told],
        VOCABULARY,
    )
    vocabulary = StateVocabulary(VOCABULARY.predicates[:1], VOCABULARY.features)
    model = StateModel(vocabulary=vocabulary, learning=StateLearningSettings(BOOSTING)).fit(
        [video.observations for video in told],
        found.states,
        groups=[video.subject for video in told],
    )
    rows = []
    for video in test:
        names = [thing.name for thing in video.observations.objects[1:]]
        facts = [Fact("attached", ("person", name)) for name in names]
        rows.append(_told(video, model.predict(video.observations).table(facts)))
    return {"sentences": rows}


def causal_rows(train: Videos, test: Videos) -> Rows:
    """Boosted rules on measurements that do not look ahead; decoded at the end, and on line."""
    model = _fitted(StateModel(vocabulary=VOCABULARY), train)
    return {
        "causal": [model.predict(video.observations) for video in test],
        "online": [model.predict_online(video.observations) for video in test],
    }


def fern_rows(train: Videos, test: Videos) -> Rows:
    """The published recipe: eight features, clausal discovery, the plain perceptron, K from 0.

    And the same with averaged weights and a larger step of K.
    """
    features = tuple(f for f in VOCABULARY.features if f.name in _PUBLISHED)
    rows = {}
    for name, perceptron in _PUBLISHED_LEARNING.items():
        model = StateModel(
            transition_cost=0.0,
            vocabulary=StateVocabulary(VOCABULARY.predicates, features),
            learning=StateLearningSettings(_CLAUSES, transition="given", perceptron=perceptron),
        )
        _fitted(model, train)
        rows[name] = [model.predict(video.observations) for video in test]
    return rows


def _fitted(model: StateModel, train: Videos) -> StateModel:
    return model.fit(
        [video.observations for video in train],
        [video.states for video in train],
        groups=[video.subject for video in train],
    )


def speed_rows(train: Videos, test: Videos) -> Rows:
    """What moves is held: the object's smoothed speed against a threshold."""
    choices = [(s, t) for s in (0.2, 0.5, 1.0) for t in (5, 10, 15, 20, 30, 40, 60, 80, 120)]

    def score(choice: tuple[float, float]) -> tuple[float, float]:
        rights, facts = zip(*(_judged(_moving(v, *choice), v) for v in train), strict=True)
        return float(np.mean(rights)), float(np.mean(facts))

    best = max(choices, key=score)
    return {"speed": [_told(video, _moving(video, *best)) for video in test]}


def _moving(video: LabelledVideo, seconds: float, threshold: float) -> NDArray[np.bool_]:
    speed = video.observations.features["speed"][:, 1:]
    window = max(1, round(seconds * 30))
    kernel = np.ones(window) / window
    smooth = [np.convolve(column, kernel, mode="same") for column in speed.T]
    return np.stack(smooth, axis=1) >= threshold


def _judged(held: NDArray[np.bool_], video: LabelledVideo) -> tuple[bool, float]:
    told = _told(video, held)
    right = told.states() == video.states.states()
    return right, float((told.values == video.states.table(told.facts)).mean())


def gradient_rows(train: Videos, test: Videos) -> Rows:
    """Gradient boosting per frame and object, then the same dynamic program.

    K and the size of the forest are cross-fitted, as K is for the rules.
    """
    found = [_crossfitted(train, forest) for forest in _FORESTS]
    best = int(np.argmax([score for _, score in found]))
    judge = _classifier(train, _FORESTS[best])
    return {"gradient_boosting": [_told(v, _decoded(judge(v), found[best][0])) for v in test]}


def _crossfitted(train: Videos, forest: dict[str, float]) -> tuple[float, float]:
    """Return the best K for a size of forest, and the score on videos held out."""
    folds = make_folds(len(train), [v.subject for v in train], np.random.default_rng(0))
    held: list[tuple[LabelledVideo, Array]] = []
    for fold in np.unique(folds):
        others = [v for v, f in zip(train, folds, strict=True) if f != fold]
        judge = _classifier(others, forest)
        held += [(v, judge(v)) for v, f in zip(train, folds, strict=True) if f == fold]

    def score(cost: float) -> float:
        pairs = ((_decoded(odds, cost), _order(video)) for video, odds in held)
        return float(np.mean([sequence_score(*pair) for pair in pairs]))

    cost, scores = choose_cost(score)
    return cost, max(scores)


def _classifier(train: Videos, forest: dict[str, float]) -> Callable[[LabelledVideo], Array]:
    """Return a function from a video to ``(T, n)`` log-odds of its objects being held."""
    try:
        from sklearn.ensemble import HistGradientBoostingClassifier
    except ImportError as error:
        raise WordsightError("gradient boosting needs scikit-learn; install it.") from error
    values = np.concatenate([_columns(video) for video in train])
    truth = np.concatenate([_held(video).T.ravel() for video in train])
    model = HistGradientBoostingClassifier(
        min_samples_leaf=200, l2_regularization=5.0, random_state=0, **forest
    )
    model.fit(values, truth)

    def judge(video: LabelledVideo) -> Array:
        odds: Array = model.decision_function(_columns(video))
        return odds.reshape(-1, len(video.observations)).T

    return judge


def _columns(video: LabelledVideo) -> Array:
    """Return ``(n T, D)`` features of each object and the person."""
    blocks = []
    for place in range(1, len(video.observations.objects)):
        columns = []
        for values in video.observations.features.values():
            columns += (
                [values[:, place], values[:, 0]] if values.ndim == 2 else [values[:, 0, place]]
            )
        blocks.append(np.stack(columns, axis=1))
    return np.concatenate(blocks)


def _decoded(odds: Array, cost: float) -> NDArray[np.bool_]:
    """Return ``(T, n)`` what is held: at most one thing at a time."""
    frames, count = odds.shape
    table = np.concatenate([np.zeros((frames, 1)), -odds], axis=1)
    path = best_path(table, cost)[1]
    held: NDArray[np.bool_] = path[:, None] == np.arange(1, count + 1)
    return held


def _held(video: LabelledVideo) -> NDArray[np.bool_]:
    names = [thing.name for thing in video.observations.objects[1:]]
    return video.states.table([Fact("attached", ("person", name)) for name in names])


def _order(video: LabelledVideo) -> NDArray[np.bool_]:
    held = _held(video)
    return held[np.concatenate([[True], (held[1:] != held[:-1]).any(axis=1)])]


def _told(video: LabelledVideo, held: NDArray[np.bool_]) -> StateSequence:
    """Return what is held as facts; everything else rests."""
    seen = video.observations
    names = [thing.name for thing in seen.objects[1:]]
    facts = [Fact("attached", ("person", name)) for name in names]
    facts += [Fact("grounded", (name,)) for name in names]
    return StateSequence(
        seen.video_id, seen.times, tuple(facts), np.concatenate([held, ~held], axis=1)
    )
