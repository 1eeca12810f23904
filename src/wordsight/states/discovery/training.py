r"""Learning of rule weights and transition cost by the structured perceptron; calibration of both.

For every video whose inferred sequence is wrong,
:math:`c \leftarrow [c + V(\hat S) - V(S)]_+` and :math:`K \leftarrow [K + |\hat S| - |S|]_+`,
where :math:`V` counts violations of each rule and :math:`|S|` changes of state. Labels may give the
order of states only. Violations are counted per frame and changes per video, so K learns with a
larger step. Rounds differ only in weights, so videos are grounded once.

On videos held out from the rules, the temperature of beliefs and how probable a change is are
chosen to make the truth of these videos most probable, fact by fact and moment by moment; see
:mod:`wordsight.states.beliefs`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wordsight.errors import StateError
from wordsight.progress import Progress, report
from wordsight.states.beliefs import (
    BeliefCalibration,
    BeliefSettings,
    calibration,
    candidate_states,
    posterior,
)
from wordsight.states.grounding.grounder import Grounder, Grounding
from wordsight.states.grounding.observations import StateObservations
from wordsight.states.rules.facts import StateSequence
from wordsight.states.rules.rule import Rule
from wordsight.states.rules.vocabulary import StateVocabulary
from wordsight.states.search.inference import (
    InferenceSettings,
    best_path,
    consistent_states,
    infer,
    kept,
)

__all__ = [
    "LearnedWeights",
    "PerceptronSettings",
    "TrainingVideo",
    "edit_share",
    "judge_held_out",
    "learn_weights",
    "prepare_video",
    "prepare_videos",
    "sequence_score",
    "share_right",
]

Array = NDArray[np.float64]
Values = NDArray[np.bool_]

_TEMPERATURES = tuple(np.geomspace(0.5, 64.0, 15).round(3).tolist())
_CHANGES = (1.0, 2.0, 3.0, 4.5, 6.0, 8.0, 11.0)


@dataclass(frozen=True, eq=False)
class TrainingVideo:
    """One video to learn from.

    Attributes:
        grounding: The grounded rules.
        truth: ``(T, F)`` labels of the frames, or ``(N, F)`` the states in their order if the
            labels are compressed.
        order: ``(N, F)`` the truth with one row per run of equal states.
        timed: Whether every frame is labelled.
        states: ``(S, F)`` all consistent states and those of the truth, or ``None`` if there are
            too many.
        broken: ``(C, S)`` 1 where a state violates a clause; empty without states.
        inference: How to infer states that are not enumerated.
    """

    grounding: Grounding
    truth: Values
    order: Values
    timed: bool
    states: Values | None
    broken: Array
    inference: InferenceSettings

    def predict(self, weights: Array, transition_cost: float, *, margin: float = 0.0) -> Values:
        """Return ``(T, F)`` the cheapest states under given weights ``(R,)``.

        Args:
            weights: One per rule.
            transition_cost: K.
            margin: Discount, per frame and wrong fact, for states that differ from the truth.
        """
        if self.states is None:
            return infer(self.grounding, transition_cost, self.inference, weights=weights)[1]
        table = self.grounding.costs(weights) @ self.broken
        if margin and self.timed:
            bits = self.states.astype(np.float64)
            truth = self.truth.astype(np.float64)
            table -= margin * (truth @ (1 - bits).T + (1 - truth) @ bits.T)
        path = best_path(table, transition_cost)[1]
        found = np.asarray(self.states[path], dtype=np.bool_)
        return kept(self.grounding.clauses, self.grounding.costs(weights), found, self.inference)

    def aligned(self, weights: Array) -> Values:
        """Return ``(T, F)`` the truth; if only its order is known, at the least cost."""
        from wordsight.states.kernels.loops import order_path

        if self.timed:
            return self.truth
        costs = self.grounding.costs(weights)
        steps = costs @ self.grounding.clauses.violated(self.order).T.astype(np.float64)
        path = np.zeros(len(steps), dtype=np.int64)
        order_path(np.ascontiguousarray(steps), path)
        return self.order[path]

    def is_right(self, values: Values) -> bool:
        """Return whether states ``(T, F)`` have the same sequence as the truth."""
        return np.array_equal(compressed(values), self.order)


def compressed(values: Values) -> Values:
    """Return one row per run of equal rows."""
    if not len(values):
        return values
    changed = np.any(values[1:] != values[:-1], axis=1)
    return np.asarray(values[np.concatenate([[True], changed])], dtype=np.bool_)


def sequence_score(values: NDArray[np.bool_], order: NDArray[np.bool_]) -> float:
    """Return how well states over time ``(T, F)`` agree with the true order of states.

    Half of the score is for exact agreement, half is one minus the edit distance.
    """
    predicted = compressed(values)
    right = np.array_equal(predicted, order)
    return (right + 1.0 - min(1.0, edit_share(predicted, order))) / 2


def edit_share(predicted: NDArray[np.bool_], truth: NDArray[np.bool_]) -> float:
    """Return the edit distance of two sequences of states, as a share of the true one's length."""
    rows = np.arange(len(truth) + 1)
    for state in predicted:
        step = rows.copy()
        step[0] = rows[0] + 1
        differs = (truth != state).any(axis=1)
        for k in range(1, len(rows)):
            step[k] = min(rows[k] + 1, step[k - 1] + 1, rows[k - 1] + differs[k - 1])
        rows = step
    return float(rows[-1]) / max(1, len(truth))


def prepare_video(
    grounder: Grounder,
    video: StateObservations,
    labels: StateSequence,
    inference: InferenceSettings,
) -> TrainingVideo:
    """Ground one video and enumerate its states."""
    grounding = grounder.ground(video)
    unknown = set(labels.facts) - set(grounding.facts)
    named = [fact for fact in unknown if labels.table([fact]).any()]
    if named:
        raise StateError(
            f"the labels of {labels.video_id} contain {min(named)}, which is not possible with the "
            "vocabulary and the objects of the video: "
            f"{', '.join(thing.name for thing in video.objects)}."
        )
    truth = labels.table(grounding.facts)
    timed = len(labels) == len(video) and np.array_equal(labels.times, video.times)
    order = compressed(truth)
    if not timed and len(order) > len(video):
        raise StateError(
            f"{labels.video_id} has {len(order)} states in its labels but only {len(video)} frames."
        )
    states = None
    if inference.method != "search":
        consistent = consistent_states(
            grounding.clauses, grounding.hard_clauses(), min(inference.most_states, 512)
        )
        if consistent is not None:
            states = np.unique(np.concatenate([consistent, order]), axis=0)
    broken = np.zeros((len(grounding.clauses), 0))
    if states is not None:
        broken = grounding.clauses.violated(states).T.astype(np.float64)
    return TrainingVideo(grounding, truth, order, timed, states, broken, inference)


def prepare_videos(
    rules: Sequence[Rule],
    observations: Sequence[StateObservations],
    states: Sequence[StateSequence],
    vocabulary: StateVocabulary,
    inference: InferenceSettings | None = None,
) -> list[TrainingVideo]:
    """Ground videos for learning; see :class:`TrainingVideo`."""
    chosen, grounder = inference or InferenceSettings(), Grounder(rules, vocabulary)
    return [
        prepare_video(grounder, video, labels, chosen)
        for video, labels in zip(observations, states, strict=True)
    ]


@dataclass(frozen=True)
class PerceptronSettings:
    """How weights are learned.

    Attributes:
        iterations: Passes through the videos.
        step: Size of an update of the weights.
        transition_step: Ratio of the update of K to that of the weights.
        margin: Discount per frame and wrong fact during learning, in units of cost; 0 for none.
        average: Whether the result of an iteration is the mean over all updates so far.
        held_out: Share of the videos held out to choose the best iteration; with 0 the last one is
            used.
    """

    iterations: int = 10
    step: float = 1.0
    transition_step: float = 1.0
    margin: float = 0.0
    average: bool = True
    held_out: float = 0.0

    def __post_init__(self) -> None:
        if self.iterations < 0 or not self.step > 0 or not 0 <= self.held_out < 1:
            raise StateError(
                f"iterations must be 0 or more, step positive and held_out in [0, 1), got {self}."
            )


@dataclass(frozen=True, eq=False)
class LearnedWeights:
    """Result of the perceptron.

    Attributes:
        weights: ``(R,)`` one per rule, infinite ones unchanged.
        transition_cost: K.
        iteration: The iteration chosen, 0 for the start.
        history: Share of videos whose sequence is right before the first and after each iteration,
            of those held out or else of the training videos.
        steps: ``(iterations + 1, R + 1)`` weights and K after each iteration.
    """

    weights: Array
    transition_cost: float
    iteration: int
    history: tuple[float, ...]
    steps: Array = field(repr=False)


def learn_weights(
    videos: Sequence[TrainingVideo],
    weights: Array,
    transition_cost: float,
    settings: PerceptronSettings | None = None,
    *,
    random_state: int = 0,
    progress: Progress | None = None,
) -> LearnedWeights:
    """Learn weights and K, starting from given values.

    Args:
        videos: The videos, grounded.
        weights: ``(R,)`` initial weights, infinity for hard rules.
        transition_cost: K to start from.
        settings: How to learn.
        random_state: Seed of the order of videos and of those held out.
        progress: Called after each iteration.
    """
    if not videos:
        raise StateError("there is no video to learn from; give at least one with its states.")
    chosen = settings or PerceptronSettings()
    random = np.random.default_rng(random_state)
    order = random.permutation(len(videos))
    count = round(chosen.held_out * len(videos))
    judged = [videos[k] for k in order[:count]] or list(videos)
    learner = _Learner([videos[k] for k in order[count:]], weights, transition_cost, chosen)
    steps, history = [learner.start], [share_right(judged, weights, transition_cost)]
    rounds = range(chosen.iterations)
    for _ in report(rounds, progress, "learning weights", chosen.iterations):
        mistakes = learner.iterate(random)
        steps.append(learner.result())
        history.append(share_right(judged, *learner.split(steps[-1])))
        if not mistakes:
            break
    best = int(np.argmax(history)) if count else len(history) - 1
    final, transition = learner.split(steps[best])
    return LearnedWeights(final, transition, best, tuple(history), np.stack(steps))


def share_right(videos: Sequence[TrainingVideo], weights: Array, transition_cost: float) -> float:
    """Return the share of videos whose inferred sequence of states is exactly right."""
    right = [video.is_right(video.predict(weights, transition_cost)) for video in videos]
    return float(np.mean(right))


class _Learner:
    """Weights and K as one vector, K last."""

    def __init__(
        self,
        videos: Sequence[TrainingVideo],
        weights: Array,
        transition_cost: float,
        settings: PerceptronSettings,
    ):
        self._videos, self._settings = videos, settings
        self._hard = np.isinf(weights)
        self.start = np.append(np.where(self._hard, 0.0, weights), transition_cost)
        self._now, self._sum, self._count = self.start.copy(), np.zeros(len(self.start)), 0

    def split(self, vector: Array) -> tuple[Array, float]:
        """Return weights and K of a vector."""
        return np.where(self._hard, np.inf, vector[:-1]), float(vector[-1])

    def result(self) -> Array:
        """Return the current vector, or the mean of all so far."""
        return self._sum / self._count if self._settings.average else self._now.copy()

    def iterate(self, random: np.random.Generator) -> int:
        """Process all videos once; return how many were wrong."""
        mistakes = 0
        for k in random.permutation(len(self._videos)):
            mistakes += self._learn(self._videos[k])
            self._sum += self._now
            self._count += 1
        return mistakes

    def _learn(self, video: TrainingVideo) -> bool:
        weights, transition = self.split(self._now)
        predicted = video.predict(weights, transition, margin=self._settings.margin)
        if video.is_right(predicted) and not self._settings.margin:
            return False
        truth = video.aligned(weights)
        change = _counts(video, predicted) - _counts(video, truth)
        change[:-1][self._hard] = 0.0
        change[-1] *= self._settings.transition_step
        self._now = np.maximum(self._now + self._settings.step * change, 0.0)
        return bool(change.any())


def judge_held_out(
    videos: Sequence[TrainingVideo], weights: Sequence[Array], transition_cost: float
) -> dict[str, Any]:
    """Return notes on videos that were held out from their rules.

    Args:
        videos: The videos.
        weights: Per video the weights of its rules.
        transition_cost: K, as chosen on these videos.

    Returns:
        ``held_out``: the share of their sequences that is right, and of their facts; ``beliefs``:
        temperature, change and calibration, unless labels give only the order of states.
    """
    right, facts = [], []
    for video, own in zip(videos, weights, strict=True):
        values = video.predict(own, transition_cost)
        right.append(video.is_right(values))
        if video.timed and values.size:
            facts.append(float((values == video.truth).mean()))
    notes: dict[str, Any] = {
        "held_out": {
            "sequences": round(float(np.mean(right)), 4),
            "facts": round(float(np.mean(facts)), 4) if facts else None,
        }
    }
    timed = [(v, w) for v, w in zip(videos, weights, strict=True) if v.timed and v.truth.size]
    if timed:
        notes["beliefs"] = _fitted(timed, transition_cost)
    return notes


def _counts(video: TrainingVideo, values: NDArray[np.bool_]) -> Array:
    """Return violations of each rule and, last, changes of state."""
    changes = (values[1:] != values[:-1]).any(axis=1).sum()
    return np.append(video.grounding.violations(values), changes).astype(np.float64)


def _fitted(pairs: Sequence[tuple[TrainingVideo, Array]], transition_cost: float) -> dict[str, Any]:
    states = [
        video.states
        if video.states is not None
        else candidate_states(
            video.grounding, video.grounding.costs(own), transition_cost, BeliefSettings()
        )
        for video, own in pairs
    ]
    truth = np.concatenate([video.truth.ravel() for video, _ in pairs])

    def measured(settings: BeliefSettings) -> BeliefCalibration:
        said = [
            posterior(video.grounding, transition_cost, settings, weights=own, states=known)
            for (video, own), known in zip(pairs, states, strict=True)
        ]
        return calibration(np.concatenate([one.facts().ravel() for one in said]), truth)

    tried = [
        (measured(settings), settings)
        for settings in (BeliefSettings(t, c) for t in _TEMPERATURES for c in _CHANGES)
    ]
    best, settings = min(tried, key=lambda row: row[0].log_loss)
    return {
        "temperature": settings.temperature,
        "change": settings.change,
        "error": round(best.error, 4),
        "log_loss": round(best.log_loss, 4),
    }
